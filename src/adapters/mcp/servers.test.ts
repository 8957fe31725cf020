/** Races that only a unit test can show: calls while the pins are being read, during the start, and after the end. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Json } from '../../domain/json.ts'
import type { Store } from '../../ports/store.ts'
import { systemClock } from '../system/clock.ts'
import type { ServerOptions } from './server-options.ts'
import { McpServerPool } from './servers.ts'

const SERVER = join(import.meta.dirname, '../../../test/mcp/handshake-server-main.ts')
const KNOWN = {
  description: 'Another description.',
  schema: {},
  digest: 'another',
  seen_at: '2026-01-01T00:00:00.000Z',
}

type PoolOptions = ConstructorParameters<typeof McpServerPool>[0]

const startFor: PoolOptions['startFor'] = async (_, { command = [], cwd }) => ({
  ...{ argv: command, cwd, env: { PATH: String(process.env.PATH) } },
})

/** `pids`: the processes that were started. */
function openPool(t: TestContext, setting: Promise<Json>, prepare: PoolOptions['startFor'] = startFor) {
  const pids: number[] = []
  const servers = new McpServerPool({
    clock: systemClock,
    startFor: prepare,
    groupFor: () => ({ env: {}, track: (pid) => void pids.push(pid), async end() {} }),
    insertSecrets: (text) => text,
    log() {},
    open: () => Promise.reject(new Error('no HTTP expected')),
    store: { setting: () => setting, commit: async () => [{ ok: true, results: [null] }] } as unknown as Store,
    configured: () => CONFIGURED,
    registerTool() {},
    redact: (text) => text,
  })
  t.after(() => servers.close())
  return { servers, pids }
}

test('a server whose pins are still being read does not count as new', async (t) => {
  const { promise, resolve } = Promise.withResolvers<Json>()
  const { servers } = openPool(t, promise)
  const tested = [servers.test('p'), servers.test('p')]
  resolve({ count: { approved: KNOWN, offered: null } })
  for (const { tools } of await Promise.all(tested))
    assert.deepEqual(
      tools.map(({ tool, status }) => ({ tool, status })),
      [{ tool: 'count', status: 'changed' }],
    )
})

test('after the end no server is started, because nothing would end it', async (t) => {
  const { servers, pids } = openPool(t, Promise.resolve(null))
  await servers.list()
  await servers.close()
  await assert.rejects(servers.readResource('p', 'note://today', new AbortController().signal), { code: 'tool_failed' })
  assert.deepEqual(pids, [])
})

test('a server whose start is being prepared at the end is not started any more', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const preparing = Promise.withResolvers<void>()
  const { servers, pids } = openPool(t, Promise.resolve(null), async (...given) => {
    preparing.resolve()
    await promise
    return startFor(...given)
  })
  const tested = servers.test('p')
  await preparing.promise
  const closed = servers.close()
  resolve()
  await Promise.all([tested, closed])
  assert.deepEqual(pids, [])
})

const CONFIGURED: Readonly<Record<string, ServerOptions>> = {
  p: {
    ...{ command: [process.execPath, '--disable-warning=ExperimentalWarning', SERVER], env: {}, headers: {} },
    ...{ sandbox: 'off', network: 'none', folders: [], reads: [] },
    ...{ timeout: 60_000, start_timeout: 60_000, trust: 'untrusted', effects: {} },
  },
}
