/** A message that arrives at any moment of a step is read by the next one, or wakes the session again. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { awaitPoints } from '../support/await-points.ts'
import { openTalkApp, routing, work } from '../support/conversations.ts'
import { openApp } from '../support/open-app.ts'
import { call, finish, pdcaModel } from '../support/pdca-script.ts'

const MAX_POINTS = 400

/** The index of the first request that shows the text; -1: none does. */
const firstShowing = (requests: readonly { readonly messages: unknown }[], text: string): number =>
  requests.findIndex(({ messages }) => JSON.stringify(messages).includes(text))

describe('O12: a message at every await point', () => {
  test('of a run through plan, do and check is read by the next step, and never lost', async (t) => {
    const points = awaitPoints()
    const model = pdcaModel(({ behaviour, turn }) => {
      const steps = {
        plan: [call('todo_list'), call('todo_add', { title: 'work' }), finish('planned')],
        do: [call('look'), call('todo_done', { todo: 'T001', reason: 'x' }), finish('done')],
        check: [call('todo_pass', { todo: 'T001', reason: 'x' }), finish('all done')],
        router: [finish('understood', 'end')],
      } as const
      return steps[behaviour as keyof typeof steps]?.[turn] ?? finish('over')
    })
    const app = await openApp(t, { model: points.watch(model), plugins: [points.plugin], tools: [points.tool] })
    const passed = new Set<string>()
    let woken = 0
    for (let n = 0; n < MAX_POINTS; n += 1) {
      const text = `message ${n}!`
      let [session, asked] = ['', 0]
      const send = async (): Promise<void> => {
        const { items } = await app.run('queue list', { limit: 1 })
        session = items[0]?.session_id ?? ''
        asked = model.requests.length
        await app.run('send', { session, text })
      }
      const { dispatch_id } = await app.run('enqueue', { task: `task ${n}`, behaviour: 'plan' })
      const point = await points.during(n, send, () => app.run('start', { until_idle: true }))
      if (point === undefined) break
      passed.add(point)
      await app.run('start', { until_idle: true })
      const seen = firstShowing(model.requests, text)
      // The request of the step that had already read its input, then that of the next step.
      assert.ok(seen >= asked && seen <= asked + 1, `${point} (${n}): asked ${asked}, seen ${seen}`)
      const { unread, runs } = await app.run('sessions show', { id: session })
      assert.deepEqual(unread, [], point)
      assert.ok(
        runs.every(({ status }) => status === 'done'),
        point,
      )
      assert.equal(runs[0]?.dispatch_id, dispatch_id)
      woken += runs.length - 1
    }
    assert.ok(passed.size > 15, [...passed].join('\n'))
    assert.ok(woken > 0, 'a message in the moment of finishing wakes the session again')
  })

  test('of a session in front of a chat is read by it, and never lost', async (t) => {
    const points = awaitPoints()
    const front = () => routing({ none: true, reply: 'Hello.' })
    const model = scriptedModel(front)
    const talk = await openTalkApp(t, { front }, { model: points.watch(model), plugins: [points.plugin] })
    const passed = new Set<string>()
    for (let n = 0; n < MAX_POINTS; n += 1) {
      const text = `message ${n}!`
      let asked = 0
      const send = async (): Promise<void> => {
        asked = model.requests.length
        await talk.app.run('send', { text })
      }
      await talk.app.run('send', { text: `first ${n}` })
      const point = await points.during(n, send, () => work(talk))
      if (point === undefined) break
      passed.add(point)
      await work(talk)
      const seen = firstShowing(model.requests, text)
      assert.ok(seen >= asked && seen <= asked + 1, `${point} (${n}): asked ${asked}, seen ${seen}`)
      assert.deepEqual((await talk.app.run('sessions show', { id: 'chat-terminal' })).unread, [], point)
    }
    assert.ok(passed.size > 8, [...passed].join('\n'))
  })
})
