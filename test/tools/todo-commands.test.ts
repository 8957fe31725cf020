/** `todo list` and `todo show`, as people and programs see them. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { render } from '../../src/cli/views/views.ts'
import { openTodoSession } from '../support/todo-session.ts'

test('O8: todo list shows status, proof and dependencies; todo show also evidence and receipts', async (t) => {
  const { app, session_id, workspace, ok, error, add } = await openTodoSession(t)
  await add({ title: 'Write out', checks: [{ kind: 'file', path: 'out' }] })
  await add({ title: 'Use it', deps: ['T001'] })
  await add({ title: 'Report' })
  await ok('do', 'todo_start', { todo: 'T001' })
  writeFileSync(join(workspace, 'out'), 'x')
  await ok('do', 'todo_done', { todo: 'T001', reason: 'wrote it' })
  await ok('check', 'todo_verify', {})
  await ok('check', 'todo_pass', { todo: 'T001' })
  await ok('do', 'todo_fail', { todo: 'T003', reason: 'no paper' })
  await error('check', 'todo_pass', { todo: 'T003' })
  await ok('do', 'todo_done', { todo: 'T002', reason: 'used' })
  await ok('check', 'todo_verify', {})
  await ok('check', 'todo_pass', { todo: 'T002' })
  await add({ title: 'Last', deps: ['T003'] })

  const listed = await app.run('todo list', { session: session_id })
  assert.deepEqual(
    listed.items.map(({ code, shown, proof, waits_for, attempts }) => [code, shown, proof, waits_for, attempts]),
    [
      ['T001', 'DONE', 'proved', [], 0],
      ['T002', 'DONE (asserted)', 'asserted', [], 0],
      ['T003', 'FAILED', null, [], 1],
      ['T004', 'WAIT', null, ['T003'], 0],
    ],
  )
  const table = render('todo list', listed)
  assert.match(table, /^code +status +proof +failed +waits for +title\n/)
  assert.match(table, /T002 +DONE \(asserted\) +asserted .*Use it\n.*T003 +FAILED .*1 .*\n.*T004 +WAIT .*T003 +Last/s)

  const shown = await app.run('todo show', { code: 't001' })
  assert.deepEqual([shown.baseline?.[0]?.ok, shown.evidence?.[0]?.ok], [false, true])
  const text = render('todo show', shown)
  assert.match(text, /^T001 {2}DONE \(proved\) {2}Write out\n/)
  assert.match(text, /before the work: failed: no such file \(.*sha256 [0-9a-f]{12}\)\n.*after the work: passed/)
  assert.match(text, /root done: wrote it\n/)
  assert.match(
    text,
    /receipts:\n.*add: T001\n.*baseline T001, start T001: T001\n.*done T001.*evidence T001.*pass T001/s,
  )
  const failed = render('todo show', await app.run('todo show', { code: 'T003', session: session_id }))
  assert.match(failed, /last error: no paper\n.*pass T003: refused \(illegal_move\)/s)

  assert.equal((await app.run('todo list', { workspace })).items.length, 4)
  assert.deepEqual((await app.run('todo list', { workspace: '/nowhere' })).items, [])
  await assert.rejects(app.run('todo show', { code: 'T009' }), {
    code: 'not_found',
    message: /do this: run tireless todo/,
  })
})
