import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { freshFolder, openApp, runTaskIn } from '../support/open-app.ts'

test('case 113: the input of a behaviour reads no file, no variable and no command, and is filled once', async (t) => {
  const home = freshFolder(t)
  const folder = join(home, 'agents', 'assistant', 'behaviours')
  mkdirSync(folder, { recursive: true })
  const strange =
    '$' + '{HOME} {../../../../etc/passwd} {/etc/passwd} $(id) `id` {{messages}} {messages.length} {MESSAGES}'
  const template = `${strange}\n{messages}`
  writeFileSync(join(folder, 'odd.md'), `---\ntools: []\n---\n## process_rules\nAnswer.\n## input\n${template}\n`)
  const model = scriptedModel([{ text: 'done' }])
  const app = await openApp(t, { home, model })
  await runTaskIn(app, 'my task {feedback} {todo} {messages}', { behaviour: 'odd' })
  const asked = model.requests[0]?.messages.map((message) => ('text' in message ? message.text : '')).join('\n') ?? ''
  assert.ok(asked.includes(strange.replace('{{messages}}', '{my task {feedback} {todo} {messages}}')), asked)
  assert.ok(asked.endsWith('my task {feedback} {todo} {messages}'), asked)
  assert.doesNotMatch(asked, /root:|uid=/)
})
