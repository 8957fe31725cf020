/** The folder of an agent: it lasts across runs, the prompt names it, and one run works in it at a time. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { fakeTool } from './support/fake-tools.ts'
import { freshFolder, openApp, runTaskIn } from './support/open-app.ts'

const YAML = `kernel:
  agents:
    - agent_id: writer
      prompt: Write a report.
`
const write = (path: string) => ({ calls: [{ tool: 'create_file', args: { path, content: 'x' } }] })
const list = { calls: [{ tool: 'list_files', args: {} }] }
const done = { text: 'Done.\n\n## Execution Summary\n- see the files' }

test('E17: an agent without `workspace` finds the files of its last run, where its prompt says', async (t) => {
  const model = scriptedModel(({ messages }, turn) => {
    const next = JSON.stringify(messages).includes('report-1.md') ? 'report-2.md' : 'report-1.md'
    return [list, write(next), done][turn] ?? done
  })
  const home = freshFolder(t)
  const app = await openApp(t, { home, model, yaml: YAML })
  const folder = join(home, 'workspaces', 'writer')
  const first = await app.run('agent run', { id: 'writer' })
  const second = await app.run('agent run', { id: 'writer' })
  assert.deepEqual([first.workspace, second.workspace], [folder, folder])
  assert.ok(JSON.stringify(model.requests[0]?.messages).includes(`- Your workspace is ${folder}, `))
  assert.deepEqual([first.status, second.status, second.error], ['done', 'done', null])
  assert.ok(existsSync(join(folder, 'report-2.md')))
  assert.equal((await app.run('agent show', { id: 'writer' })).workspace, 'workspaces/writer')
})

test('E17: `workspace: null` and a task without an agent get a new folder for each run', async (t) => {
  const model = scriptedModel([write('a.md'), done])
  const app = await openApp(t, { model, yaml: `${YAML}      workspace: null\n` })
  const runs = [await app.run('agent run', { id: 'writer' }), await app.run('agent run', { id: 'writer' })]
  runs.push(await runTaskIn(app), await runTaskIn(app))
  assert.equal(new Set(runs.map(({ workspace }) => workspace)).size, 4)
})

test('E17: agent edit --workspace none chooses a new folder for each run, and a name the shared one', async (t) => {
  const app = await openApp(t, { model: scriptedModel([]), yaml: YAML })
  const shown = async () => (await app.run('agent show', { id: 'writer' })).workspace
  await app.run('agent edit', { id: 'writer', workspace: 'none' })
  assert.equal(await shown(), null)
  await app.run('agent edit', { id: 'writer', workspace: 'workspaces/letters' })
  assert.equal(await shown(), 'workspaces/letters')
})

test('O7, case 74: two tasks for one agent at the same time run one after the other, both to the end', async (t) => {
  let inside = 0
  let most = 0
  const visit = fakeTool({
    name: 'visit',
    async run() {
      inside += 1
      most = Math.max(most, inside)
      await new Promise((resolve) => setImmediate(resolve))
      inside -= 1
      return 'seen'
    },
  })
  const steps = [{ calls: [{ tool: 'visit', args: {} }] }, done]
  const app = await openApp(t, { model: scriptedModel(steps), yaml: YAML, tools: [visit] })
  const ended = await Promise.all(['a', 'b', 'c', 'd'].map((task) => app.run('run', { task, agent: 'writer' })))
  assert.deepEqual(
    ended.map(({ status }) => status),
    ['done', 'done', 'done', 'done'],
  )
  assert.equal(most, 1)
})
