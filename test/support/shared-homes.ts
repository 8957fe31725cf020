/** Homes that share one database, each with a process of its own. */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startTireless, tirelessJson } from './command-line.ts'
import type { HttpAddress } from './http-app.ts'
import { freshFolder, waitUntil } from './open-app.ts'

export const LEASE_MS = 3000

export interface SharedHome {
  readonly home: string
  readonly process: ReturnType<typeof startTireless>
}

export interface WorkerStatus {
  readonly epoch: number
  readonly name: string
  readonly role: string | null
  readonly running: number
  readonly leads: boolean
  readonly late: boolean
  readonly slots: number | null
  readonly here: boolean
  readonly version: string | null
  readonly since: string
}

/** `more`: lines of the configuration. The model is the offline one, which runs the commands that a task names. */
export function createSharedHome(
  t: TestContext,
  database: string,
  name: string,
  more = '',
  leaseMs = LEASE_MS,
): string {
  const home = freshFolder(t, name)
  const kernel = `kernel:\n  lease: ${leaseMs}ms\n  max_concurrent: 2\n${more}`
  writeFileSync(join(home, 'tireless.yaml'), `sandbox: off\nserver: { port: 0 }\nstore: ${database}\n${kernel}`)
  return home
}

/** Contract: the process has joined when this resolves. */
export async function startRole(t: TestContext, home: string, role: string): Promise<SharedHome> {
  // Of a process that was killed.
  rmSync(join(home, 'socket'), { force: true })
  const process = startTireless(t, home, 'start', '--role', role)
  await waitUntil(() => {
    if (process.exitCode !== null) throw new Error(`start --role ${role} ended: ${process.output()}`)
    return existsSync(join(home, 'socket'))
  })
  await waitUntil(async () => (await workersIn(home)).some(({ name }) => name.startsWith(`process ${process.pid} `)))
  return { home, process }
}

export const workersIn = async (home: string): Promise<readonly WorkerStatus[]> =>
  (await tirelessJson<{ workers: readonly WorkerStatus[] }>(home, 'status')).workers

/** Contract: the worker of the process in the status of a home; undefined if that lists it no longer. */
export const workerOf = async (home: string, { process }: SharedHome): Promise<WorkerStatus | undefined> =>
  (await workersIn(home)).find(({ name }) => name.startsWith(`process ${process.pid} `))

/** Contract: where the process of the home serves its page. */
export async function addressOf(home: string): Promise<HttpAddress> {
  const { page } = await tirelessJson<{ page: string }>(home, 'status')
  const token = readFileSync(join(home, 'token'), 'utf8').trim()
  return { port: Number(new URL(page).port), bearer: { authorization: `Bearer ${token}` } }
}
