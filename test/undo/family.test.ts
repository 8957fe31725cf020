/** Undo of a run whose sub-agents worked for it, and undo over HTTP. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { UndoOutput } from '../../src/commands/undo.ts'
import { calling, finishing, openFamily, spawning, WAIT_FOR_AGENTS, workspaceOf } from '../support/agent-family.ts'
import { fakeTool, untilAborted } from '../support/fake-tools.ts'
import { openHttpApp, postJson } from '../support/http-app.ts'
import { dispatchOf, waitUntil } from '../support/open-app.ts'
import { scriptedWork, WORK_YAML } from '../support/scripted-work.ts'

test('O7: undo takes back what a run and its sub-agents wrote, though one was cancelled; redo too', async (t) => {
  const family = await openFamily(
    t,
    {
      lead: [
        calling('create_file', { path: 'own.txt', content: 'own' }),
        spawning('good: write', 'slow: write and wait'),
        WAIT_FOR_AGENTS,
        WAIT_FOR_AGENTS,
        finishing('led'),
      ],
      'good:': [calling('create_file', { path: 'part.txt', content: 'part' })],
      'slow:': [calling('create_file', { path: 'slow.txt', content: 'slow' }), calling('poke')],
    },
    {
      toolsToAdd: [fakeTool({ run: untilAborted })],
      tools: ['spawn_agent', 'create_file', 'poke', 'wait', 'finish'],
    },
  )
  const led = family.run()
  await waitUntil(async () => (await family.children()).map(({ status }) => status).join(' ') === 'done running')
  const [, slow] = await family.children()
  await waitUntil(async () => (await dispatchOf(family.app, slow?.dispatch_id ?? '')).files.length > 0)
  await family.app.run('queue cancel', { id: slow?.dispatch_id ?? '', how: 'immediate' })
  const { session_id, dispatch_id, status } = await led
  assert.equal(status, 'done')
  const names = ['own.txt', 'part.txt', 'slow.txt']
  const paths = await Promise.all(names.map((name) => workspaceOf(family.app, session_id, name)))
  const there = (): string[] => names.filter((_, i) => existsSync(paths[i] ?? ''))
  assert.deepEqual(there(), ['own.txt', 'part.txt'])
  const undone = await family.app.run('undo', { target: dispatch_id, yes: true })
  assert.deepEqual([undone.status, there()], ['done', []])
  await family.app.run('undo', { target: undone.id ?? '', yes: true })
  assert.deepEqual(there(), ['own.txt', 'part.txt'])
  assert.equal(readFileSync(paths[1] ?? '', 'utf8'), 'part')
})

test('O7: undo over HTTP shows its plan, asks for a yes, and does it; a refusal has its status', async (t) => {
  const work = scriptedWork()
  const http = await openHttpApp(t, {
    yaml: `server: { port: 0 }\n${WORK_YAML}`,
    model: work.model,
    tools: [work.tool],
  })
  const { dispatch_id, workspace } = await work.run(http.app, [
    { tool: 'create_file', args: { path: 'a.txt', content: 'one' } },
  ])
  const file = `${workspace}/a.txt`
  const undo = (body: object) => postJson(http, '/api/v1/undo', { target: dispatch_id, ...body })
  const planned = await undo({ plan: true })
  const plan = planned.json<UndoOutput>()
  assert.deepEqual(
    [planned.status, plan.status, plan.id, plan.workspaces.map(({ removed }) => removed)],
    [200, 'planned', null, [['a.txt']]],
  )
  const unconfirmed = await undo({})
  assert.deepEqual([unconfirmed.status, unconfirmed.code], [409, 'confirmation_needed'])
  assert.ok(existsSync(file))
  const done = (await undo({ yes: true })).json<UndoOutput>()
  assert.deepEqual([done.status, existsSync(file)], ['done', false])
  const again = (await undo({ target: done.id ?? '', yes: true })).json<UndoOutput>()
  assert.deepEqual([again.undoes, readFileSync(file, 'utf8')], [done.id, 'one'])
  assert.equal((await undo({ target: 'nothing like it' })).code, 'not_found')
  assert.equal((await postJson(http, '/api/v1/undo', { target: dispatch_id, yes: true }, {})).status, 401)
})
