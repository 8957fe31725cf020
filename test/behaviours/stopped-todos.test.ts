/** A todo is worked on by a run: after the end of the run, it is open again, and the next run can take it up. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { ScriptedAnswer } from '../../src/testing/scripted-model.ts'
import { dispatchOf, openApp, replayIn, runTaskIn } from '../support/open-app.ts'
import { call, finish, pdcaModel } from '../support/pdca-script.ts'

/** Plans one todo, and works on it as `work` says. */
const modelThat = (work: (turn: number) => ScriptedAnswer) =>
  pdcaModel(({ behaviour, turn }) => {
    if (behaviour === 'plan') return turn === 0 ? call('todo_add', { title: 'count the words' }) : finish('planned')
    return behaviour === 'do' ? work(turn) : finish('it cannot be done', 'end')
  })

const todosOf = async (app: App, session: string) =>
  (await app.run('todo list', { session })).items.map(({ code, status, notes }) => ({
    ...{ code, status },
    notes: notes.map(({ by, text }) => `${by}: ${text}`),
  }))
const OPEN_AGAIN = {
  ...{ code: 'T001', status: 'WAIT' },
  notes: ['system: The run that worked on it ended before it was finished.'],
}

describe('O8: a todo whose run has ended is not in progress', () => {
  test('O8: a run that is stopped leaves its todo open, with a note, and a replay agrees', async (t) => {
    const app = await openApp(t, { model: modelThat(() => call('wait', { for: 'user_message' })) })
    const { dispatch_id, session_id, status } = await runTaskIn(app, 'Count the words', { behaviour: 'plan' })
    assert.equal(status, 'waiting')
    assert.equal((await todosOf(app, session_id))[0]?.status, 'IN_PROGRESS')
    await app.run('queue cancel', { id: dispatch_id })
    assert.deepEqual(await todosOf(app, session_id), [OPEN_AGAIN])
    assert.equal((await replayIn(app, dispatch_id)).identical, true)
  })

  test('O8: a run that reaches its limit does so too; when it is tried again, it takes its todo up', async (t) => {
    let isRetried = false
    const work = (): ScriptedAnswer =>
      isRetried ? call('todo_fail', { todo: 'T001', reason: 'no words' }) : call('list_files', { path: '.' })
    const app = await openApp(t, { model: modelThat(work) })
    const task = { behaviour: 'plan', max_steps: 5 }
    const { dispatch_id, session_id, status } = await runTaskIn(app, '数一数字数', task)
    assert.equal(status, 'failed')
    const notes = ['system: 处理它的运行在完成之前就结束了。']
    assert.deepEqual(await todosOf(app, session_id), [{ ...OPEN_AGAIN, notes }], 'in the language of the owner')
    isRetried = true
    await app.run('queue retry', { id: dispatch_id })
    await app.context.drain({ untilIdle: true })
    const { receipts } = await app.run('todo show', { code: 'T001', session: session_id })
    const done = receipts.flatMap(({ actions }) => actions).reverse()
    assert.deepEqual(done.filter((action) => /start|release|fail/.test(action)).slice(0, 4), [
      ...['start T001', 'release', 'start T001', 'fail T001'],
    ])
    assert.ok((await dispatchOf(app, dispatch_id)).status === 'failed')
    assert.equal((await replayIn(app, dispatch_id)).identical, true)
  })
})
