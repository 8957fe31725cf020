import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { tireless, tirelessJson } from './support/command-line.ts'
import { respondWith, startHookServer } from './support/hook-server.ts'
import { freshFolder } from './support/open-app.ts'

test('E12: channels list, test and pair, and notices on the console, on the command line', async (t) => {
  const server = await startHookServer(t)
  const home = freshFolder(t)
  writeFileSync(
    join(home, 'tireless.yaml'),
    `kernel: { agents: [{ agent_id: writer, prompt: Create report.md with the content hello }] }
channels: { webhook: { url: "${server.url}", secret: secret-of-the-hook } }
`,
  )
  type ChannelList = { items: { name: string; trouble: string | null }[]; target: unknown }
  const listed = await tirelessJson<ChannelList>(home, 'channels', 'list')
  const troubles = new Map(listed.items.map(({ name, trouble }) => [name, trouble]))
  assert.deepEqual([...troubles.keys()], ['console', 'desktop', 'webhook', 'lark'])
  assert.deepEqual(
    { console: troubles.get('console'), webhook: troubles.get('webhook'), target: listed.target },
    { console: null, webhook: null, target: null },
  )
  assert.match(
    (await tireless(home, 'channels', 'list')).stdout,
    /notices are not sent; to send them: tireless channels pair/,
  )

  const good = await tirelessJson(home, 'channels', 'test', 'webhook')
  assert.deepEqual(good, { channel: 'webhook', delivered: true, error: null, exit: 0 })
  server.answer = respondWith(500)
  const bad = await tirelessJson(home, 'channels', 'test', 'webhook')
  assert.deepEqual(
    { delivered: bad.delivered, error: bad.error, exit: bad.exit },
    { delivered: false, error: 'the address answered with status 500', exit: 1 },
  )
  assert.equal((await tireless(home, 'channels', 'test', 'telegraph')).exit, 1)

  assert.equal((await tireless(home, 'channels', 'pair', 'console')).exit, 0)
  const cycle = await tireless(home, 'once')
  assert.equal(cycle.exit, 0)
  assert.match(cycle.stderr, /Kernel\[default\] cycle summary/)
  assert.match((await tireless(home, 'notices', 'list')).stdout, /notice +console +sent +1 /)
  assert.match((await tireless(home, 'logs')).stdout, /message shown.*Kernel\[default\] cycle summary/)
})
