/** Lists of work, part by part: the queue with why each run is in it, sessions and their threads, todos. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { render } from '../src/cli/views/views.ts'
import { TirelessError } from '../src/domain/error.ts'
import { commitOne } from '../src/ports/store.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { call } from './support/approval-fixtures.ts'
import { freshFolder, openApp } from './support/open-app.ts'

/** The task says what comes of it. */
const model = scriptedModel(({ messages }) => {
  const text = messages.map((message) => message.text).join('\n')
  if (text.includes('fail')) throw new TirelessError('model_refused', 'refused')
  if (text.includes('ask me') && !messages.some(({ role }) => role === 'tool'))
    return { calls: [call('ask_user', { question: 'Which city?' })] }
  return {
    text: `answered ${messages.findLast(({ role }) => role === 'user')?.text.includes('more') ? 'again' : 'once'}`,
  }
})

test('queue list is read part by part, filtered, and says why a run does not run', async (t) => {
  const app = await openApp(t, { model })
  const ids: string[] = []
  for (const prompt of ['alpha', 'beta', 'fail', 'gamma']) ids.push((await app.run('enqueue', { prompt })).dispatch_id)
  const [alpha = '', , fail = ''] = ids
  await app.run('queue pause', { id: alpha })
  const part = await app.run('queue list', { offset: 1, limit: 2 })
  assert.deepEqual([part.total, part.items.map(({ prompt }) => prompt)], [4, ['fail', 'beta']])
  const held = async () =>
    (await app.run('queue list', { open: true })).items.map(({ prompt, held_by }) => `${prompt}: ${held_by?.kind}`)
  assert.deepEqual(await held(), ['gamma: no_kernel', 'fail: no_kernel', 'beta: no_kernel', 'alpha: paused'])
  assert.match(render('queue list', await app.run('queue list', { search: 'alpha' })), /paused: tireless queue resume/)
  await app.run('start', { until_idle: true })
  assert.deepEqual(await held(), ['alpha: paused'])
  const failed = await app.run('queue list', { status: 'failed' })
  assert.deepEqual([failed.total, failed.items[0]?.dispatch_id, failed.items[0]?.held_by], [1, fail, null])
  const found = await app.run('queue list', { search: 'GAMMA' })
  assert.deepEqual([found.total, found.items[0]?.status], [1, 'done'])
})

test('queue prioritize lets a dispatch run before all that wait for their turn', async (t) => {
  const app = await openApp(t, { model })
  // In one folder, one runs after the other.
  const workspace = freshFolder(t, 'shared')
  const ids: string[] = []
  for (const [prompt, priority] of [
    ['alpha', 3],
    ['beta', 0],
    ['gamma', 0],
  ] as const)
    ids.push((await app.run('enqueue', { prompt, priority, workspace })).dispatch_id)
  const [, beta = '', gamma = ''] = ids
  const raised = await app.run('queue prioritize', { id: gamma })
  assert.deepEqual(raised, { dispatch_id: gamma, was: 0, priority: 4 })
  await app.run('queue prioritize', { id: beta, priority: -1 })
  await app.run('start', { until_idle: true })
  const ended = (await app.run('queue list', {})).items.toSorted((a, b) => (a.updated_at < b.updated_at ? -1 : 1))
  assert.deepEqual(
    ended.map(({ prompt }) => prompt),
    ['gamma', 'alpha', 'beta'],
  )
  await assert.rejects(app.run('queue prioritize', { id: gamma }), /is done/)
})

test('queue dismiss puts failures aside for every page and channel; a new failure of the task is not', async (t) => {
  const app = await openApp(t, { model })
  const fail = async (prompt: string): Promise<string> => {
    const { dispatch_id } = await app.run('enqueue', { prompt })
    await app.run('start', { until_idle: true })
    return dispatch_id
  }
  const [first, second, other] = [await fail('fail'), await fail('fail'), await fail('fail elsewhere')]
  const open = async () =>
    (await app.run('queue list', { status: 'failed' })).items
      .filter(({ dismissed }) => !dismissed)
      .map(({ dispatch_id }) => dispatch_id)
  await app.run('queue dismiss', { id: other })
  assert.deepEqual(await open(), [second, first])
  const { items } = await app.run('queue dismiss', { id: first, same: true })
  assert.deepEqual(new Set(items.map(({ dispatch_id }) => dispatch_id)), new Set([first, second]))
  const third = await fail('fail')
  assert.deepEqual(await open(), [third])
  const { dispatch_id: done } = await app.run('enqueue', { prompt: 'alpha' })
  await assert.rejects(app.run('queue dismiss', { id: done }), /has not failed; got pending; expected failed or dead/)
})

test('sessions list and log: what each is about, what was said to it, and what its runs answered', async (t) => {
  const app = await openApp(t, { model })
  const { session_id: id } = await app.run('enqueue', { prompt: 'ask me first' })
  const { session_id: other } = await app.run('enqueue', { prompt: 'weigh the anchor' })
  await app.run('start', { until_idle: true })
  const waiting = await app.run('sessions list', { status: 'waiting' })
  assert.deepEqual(
    waiting.items.map(({ session_id, title, runs }) => [session_id, title, runs]),
    [[id, 'ask me first', 1]],
  )
  const asked = await app.run('sessions log', { id })
  assert.deepEqual([asked.items[0]?.question, asked.items[0]?.text, asked.total], ['Which city?', null, 1])
  await app.run('send', { text: 'Paris', session: id })
  await app.run('start', { until_idle: true })
  await app.run('send', { text: 'more', session: id })
  const unread = await app.run('sessions log', { id })
  assert.deepEqual(
    unread.unread.map(({ kind, text }) => [kind, text]),
    [['message', 'more']],
  )
  await app.run('start', { until_idle: true })
  const log = await app.run('sessions log', { id })
  assert.deepEqual(
    log.items.map(({ task, received, text, status }) => [task, received.map((one) => one.text), text, status]),
    [
      [null, ['more'], 'answered again', 'done'],
      ['ask me first', ['Paris'], 'answered once', 'done'],
    ],
  )
  const part = await app.run('sessions log', { id, offset: 1, limit: 1 })
  assert.deepEqual([part.total, part.items.length, part.items[0]?.task], [2, 1, 'ask me first'])
  assert.match(render('sessions log', log), /> more\n {2}answered again[\s\S]*> Paris/)
  const found = await app.run('sessions list', { search: 'ANCHOR' })
  assert.deepEqual([found.total, found.items[0]?.session_id], [1, other])
  await app.run('sessions archive', { id: other })
  assert.equal((await app.run('sessions list', { search: 'anchor' })).total, 0)
  assert.equal((await app.run('sessions list', { status: 'archived' })).total, 1)
  await assert.rejects(app.run('sessions log', { id: 'nobody' }), /no such session|nobody/)
})

test('todo list is filtered by status and says how many checks passed', async (t) => {
  const app = await openApp(t)
  const { session_id } = await app.run('enqueue', { prompt: 'plan', at: '1h' })
  const { store, clock } = app.context
  const todo = { type: 'Task', deps: [], assignee: null, parallel: false, skills: [] } as const
  const check = { kind: 'file', path: 'a.md' } as const
  const by = { kind: 'root', behaviour: 'plan' } as const
  const result = { check, observed: 'no file', output: '', at: '2030-01-01T00:00:00.000Z', digest: '' }
  await commitOne(store, [
    {
      ...{ op: 'todos', op_id: 'a', session_id, now: clock.now() },
      actions: [
        { kind: 'add', by, todo: { ...todo, title: 'one', checks: [check, check] } },
        { kind: 'add', by, todo: { ...todo, title: 'two', checks: [] } },
        {
          ...{ kind: 'baseline', by: { kind: 'system' }, code: 'T001' },
          results: [
            { ...result, ok: true },
            { ...result, ok: false },
          ],
        },
        { kind: 'change', by: { kind: 'root', behaviour: 'do' }, code: 'T002', verb: 'start', reason: '' },
      ],
    },
  ])
  const waiting = await app.run('todo list', { status: 'WAIT' })
  assert.deepEqual(
    [waiting.total, waiting.items.map(({ code, checks_passed }) => [code, checks_passed])],
    [1, [['T001', 1]]],
  )
  const second = await app.run('todo list', { session: session_id, offset: 1 })
  assert.deepEqual(
    [second.total, second.items.map(({ code, checks_passed }) => [code, checks_passed])],
    [2, [['T002', null]]],
  )
})
