import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { NODE_FLAGS } from '../crash/kills.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { openSourceApp, payloadsOf, type SourceApp, waitForEvents } from '../support/source-app.ts'

const MAIN = join(import.meta.dirname, 'resource-server-main.ts')
const URI = 'note://today'

async function openNotes(
  t: TestContext,
  file: string,
  poll: string,
  how: { readonly server?: 'silent' | 'restless'; readonly before?: SourceApp } = {},
): Promise<SourceApp> {
  const command = [process.execPath, ...NODE_FLAGS, MAIN, file, ...(how.server ? [how.server] : [])]
  const more = { mcp_servers: { notes: { command, sandbox: 'off' } } }
  const sources = { today: { type: 'mcp_resource', server: 'notes', uri: URI, poll, max_chars: 20 } }
  const app = await openSourceApp(t, sources, { more, ...(how.before ? { before: how.before } : {}) })
  await waitUntil(async () => (await app.app.service('store').setting('source:today')) !== null)
  return app
}

test('K7: a change that an MCP server reports is an event with the clipped text', async (t) => {
  const file = join(freshFolder(t), 'note.txt')
  writeFileSync(file, 'first')
  const app = await openNotes(t, file, '1h')
  writeFileSync(file, `second ${'x'.repeat(50)}`)
  await waitForEvents(app, 1)
  const [payload] = payloadsOf(app) as { server: string; uri: string; text: string }[]
  assert.deepEqual([payload?.server, payload?.uri], ['notes', URI])
  assert.match(payload?.text ?? '', /^second x+/)
  assert.ok((payload?.text.length ?? 99) <= 21)
})

test('K7: a server that cannot report is polled; a change while no process ran is found at the start', async (t) => {
  const file = join(freshFolder(t), 'note.txt')
  writeFileSync(file, 'first')
  const first = await openNotes(t, file, '50ms', { server: 'silent' })
  writeFileSync(file, 'second')
  await waitForEvents(first, 1)
  await first.stop()
  writeFileSync(file, 'third')
  const second = await openNotes(t, file, '1h', { server: 'silent', before: first })
  await waitForEvents(second, 2)
  assert.deepEqual(
    payloadsOf(second).map((payload) => (payload as { text: string }).text),
    ['second', 'third'],
  )
})

test('K7: a server that reports a change at each read is not read without a pause', async (t) => {
  const file = join(freshFolder(t), 'note.txt')
  const app = await openNotes(t, file, '1h', { server: 'restless' })
  await waitForEvents(app, 4)
  const times = payloadsOf(app).map((payload) => Number((payload as { text: string }).text))
  const took = (times[3] ?? 0) - (times[0] ?? 0)
  assert.ok(took >= 3 * 250 - 1, `4 reads in ${took} ms`)
})
