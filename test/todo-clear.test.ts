/** `todo clear`: the open todos of one session go, and their codes are not used again. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTodoSession } from './support/todo-session.ts'

test('case 88: todo clear asks first, refuses while a run is at work, and no code is used again', async (t) => {
  const { app, session_id, add, ok, todos } = await openTodoSession(t)
  await add({ title: 'one' })
  await add({ title: 'two' })
  await assert.rejects(app.run('todo clear', { session: session_id, yes: true }), { code: 'conflict' })
  await app.run('queue cancel', { id: session_id.replace('default-', '') })
  await assert.rejects(app.run('todo clear', { session: session_id }), {
    code: 'confirmation_needed',
    message: /2 todos of .* will be removed; what is done stays/,
  })
  const { cleared, kept } = await app.run('todo clear', { session: session_id, yes: true })
  assert.deepEqual([cleared, kept, await todos()], [['T001', 'T002'], [], []])
  await add({ title: 'three' })
  assert.deepEqual(
    (await todos()).map(({ code }) => code),
    ['T003'],
  )
  assert.match(await ok('plan', 'todo_list', {}), /T003/)
  await assert.rejects(app.run('todo clear', { session: 'none', yes: true }), { code: 'not_found' })
})
