/** A race that only a unit test can show: calls while the pins are still being read. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
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

test('a server whose pins are still being read does not count as new', async (t) => {
  const { promise, resolve } = Promise.withResolvers<Json>()
  const servers = new McpServerPool({
    clock: systemClock,
    startFor: async (_, { command = [], cwd }) => ({ argv: command, cwd, env: { PATH: String(process.env.PATH) } }),
    groupFor: () => ({ env: {}, track() {}, async end() {} }),
    insertSecrets: (text) => text,
    log() {},
    open: () => Promise.reject(new Error('no HTTP expected')),
    store: { setting: () => promise, commit: async () => [{ ok: true, results: [null] }] } as unknown as Store,
    configured: () => CONFIGURED,
    registerTool() {},
    redact: (text) => text,
  })
  t.after(() => servers.close())
  const tested = [servers.test('p'), servers.test('p')]
  resolve({ count: { approved: KNOWN, offered: null } })
  for (const { tools } of await Promise.all(tested))
    assert.deepEqual(
      tools.map(({ tool, status }) => ({ tool, status })),
      [{ tool: 'count', status: 'changed' }],
    )
})

const CONFIGURED: Readonly<Record<string, ServerOptions>> = {
  p: {
    ...{ command: [process.execPath, '--disable-warning=ExperimentalWarning', SERVER], env: {}, headers: {} },
    ...{ sandbox: 'off', network: 'none', folders: [], reads: [] },
    ...{ timeout: 60_000, start_timeout: 60_000, trust: 'untrusted', effects: {} },
  },
}
