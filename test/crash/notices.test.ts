import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { OutboxMessage } from '../../src/domain/message.ts'
import { startTireless, tireless, tirelessJson, waitForExit } from '../support/command-line.ts'
import { deliveryIds, respondWith, startHookServer } from '../support/hook-server.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'

test('E12: killed with -9 while a notice is sent: it is sent again under the same id', async (t) => {
  const server = await startHookServer(t)
  const home = freshFolder(t)
  writeFileSync(
    join(home, 'tireless.yaml'),
    `kernel:
  channel: webhook
  schedule: "@yearly"
  agents: [{ agent_id: writer, prompt: Create report.md with the content hello }]
channels: { webhook: { url: "${server.url}", secret: secret-of-the-hook } }
`,
  )
  // No answer: the delivery is neither accepted nor refused.
  server.answer = () => {}
  for (const [kill, command] of [['once'], ['start', '--until-idle']].entries()) {
    const child = startTireless(t, home, ...command)
    await waitUntil(() => server.received.length === kill + 1)
    child.kill('SIGKILL')
    await waitForExit(child)
  }
  const { items: left } = await tirelessJson<{ items: OutboxMessage[] }>(home, 'notices', 'list')
  assert.deepEqual(
    left.map(({ kind, status, attempts }) => ({ kind, status, attempts })),
    [{ kind: 'notice', status: 'pending', attempts: 0 }],
  )
  server.answer = respondWith(200)
  for (let i = 0; i < 2; i++) assert.equal((await tireless(home, 'start', '--until-idle')).exit, 0)
  const [only] = left
  assert.deepEqual(deliveryIds(server), [only?.id, only?.id, only?.id])
  const { items: over } = await tirelessJson<{ items: OutboxMessage[] }>(home, 'notices', 'list')
  assert.deepEqual(
    over.map(({ id, status }) => ({ id, status })),
    [{ id: only?.id, status: 'sent' }],
  )
})
