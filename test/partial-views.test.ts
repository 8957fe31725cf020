/** What an agent has viewed only in part, it cannot replace as a whole. */

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { freshFolder, journalOf, openApp, runTaskIn } from './support/open-app.ts'

test('E6: an agent that viewed one part of a large file cannot replace it, but can change that part', async (t) => {
  const home = freshFolder(t)
  const folder = join(home, 'workspaces/writer')
  mkdirSync(folder, { recursive: true })
  const lines = Array.from({ length: 30_000 }, (_, n) => `line ${n + 1}\n`)
  writeFileSync(join(folder, 'large.txt'), lines.join(''))
  const calls = [
    { tool: 'view_file', args: { path: 'large.txt', from: 10, to: 12 } },
    { tool: 'create_file', args: { path: 'large.txt', content: 'all that I know' } },
    { tool: 'edit_file', args: { path: 'large.txt', old: 'line 11\n', new: 'changed\n' } },
    { tool: 'create_file', args: { path: 'large.txt', content: 'all that I know' } },
  ]
  const model = scriptedModel((_, turn) => {
    const call = calls[turn]
    return call ? { calls: [call] } : { text: 'done' }
  })
  const yaml = `kernel:
  agents:
    - agent_id: writer
      prompt: work
      enabled: false
      workspace: workspaces/writer
      tools: [view_file, create_file, edit_file]
`
  const app = await openApp(t, { home, yaml, model })
  const { session_id } = await runTaskIn(app, 'work', { agent: 'writer' })
  const results = (await journalOf(app, session_id)).flatMap((record) =>
    record.kind === 'call_settled' ? [`${record.result.status} ${record.result.content.split(';')[0]}`] : [],
  )
  assert.deepEqual(results.slice(1), [
    'error nothing was written: of large.txt you have viewed only lines 10-12 of 30000',
    'ok edited large.txt at line 11',
    'error nothing was written: of large.txt you have viewed only a part of its 30000 lines',
  ])
  assert.equal(readFileSync(join(folder, 'large.txt'), 'utf8'), lines.with(10, 'changed\n').join(''))
})
