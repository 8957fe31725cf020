/** Apps in this process, each in a home of its own, that work on one database as several processes do. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import type { ProcessRole } from '../../src/domain/process-role.ts'
import type { HttpAddress } from './http-app.ts'
import { openApp, waitUntil } from './open-app.ts'
import { createSharedHome } from './shared-homes.ts'

export interface StartedApp {
  readonly app: App
  readonly home: string
  /** Where it serves its page. */
  readonly to: HttpAddress
  /** As SIGTERM does. Contract: the app has ended its work and has left. */
  stop(): Promise<void>
}

interface StartOptions extends AppOptions {
  readonly role?: ProcessRole
  /** Lines of the configuration. */
  readonly more?: string
  readonly leaseMs?: number
}

/** A busy machine must not cost a lease, except where a test is about that. */
const LONG_LEASE_MS = 30_000

/** Runs `start`. Contract: the app has joined, and serves its page if its role does. */
export async function startApp(
  t: TestContext,
  database: string,
  name: string,
  { role = 'all', more = '', leaseMs = LONG_LEASE_MS, ...options }: StartOptions = {},
): Promise<StartedApp> {
  const [drain, abort] = [new AbortController(), new AbortController()]
  let running: Promise<unknown> = Promise.resolve()
  const stop = async (): Promise<void> => {
    drain.abort()
    await running
  }
  t.after(async () => {
    abort.abort()
    await stop().catch(() => {})
  })
  const home = createSharedHome(t, database, name, more, leaseMs)
  const app = await openApp(t, { ...options, home, signals: { drain: drain.signal, abort: abort.signal } })
  running = app.run('start', { role })
  running.catch(() => {})
  const serves = role === 'all' || role === 'server'
  await Promise.race([
    running,
    waitUntil(() => app.context.epoch() !== undefined && (!serves || app.context.pageAddress() !== undefined)),
  ])
  return {
    ...{ app, home },
    get to() {
      const token = readFileSync(join(home, 'token'), 'utf8').trim()
      return {
        port: Number(new URL(app.context.pageAddress() ?? '').port),
        bearer: { authorization: `Bearer ${token}` },
      }
    },
    async stop() {
      await stop()
      await app.close()
    },
  }
}

export const leads = ({ app }: StartedApp): boolean => app.service('leadership').isLeading
