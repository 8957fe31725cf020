import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineBehaviour, defineEvent, runTask, startTask } from 'tireless'
import { scriptedModel } from 'tireless/testing'
import { z } from 'zod'
import { freshFolder, openApp, replayIn } from '../support/open-app.ts'

const approved = defineEvent('approved', z.object({ by: z.string(), amount: z.number() }))

/** Waits for the event, then says who sent it. */
const waiter = defineBehaviour({
  name: 'waiter',
  decide(_, observation) {
    const found = approved.read(observation)
    return found ? { kind: 'final', answer: `${found.by}: ${found.amount + 1}` } : approved.wait({ reason: 'the boss' })
  },
})
const TASK = { objective: 'ask the boss', behaviour: 'waiter' }

describe('named events', () => {
  test('a behaviour waits for one, a program sends it, the behaviour reads it typed', async (t) => {
    const options = { home: freshFolder(t), behaviours: [waiter] }
    const task = await startTask(TASK, options)
    const wait = await task.waiting()
    assert.deepEqual([wait?.kind, wait?.reason], ['event', 'approved'])
    await task.send('hello')
    assert.equal((await task.status()).status, 'waiting')
    await task.send(approved, { by: 'Ada', amount: 41 })
    assert.equal((await task.result()).answer, 'Ada: 42')
    await assert.rejects(task.send(approved, { by: 'Ada', amount: 41 }), { code: 'conflict', message: /has ended/ })
    assert.equal((await replayIn(await openApp(t, options), task.id)).identical, true)
  })

  test('runTask returns at the wait, or goes on if onWait sends the event', async (t) => {
    const options = { home: freshFolder(t), behaviours: [waiter] }
    assert.equal((await runTask(TASK, options)).status, 'waiting')
    const onWait: Parameters<typeof runTask>[1] = {
      ...options,
      onWait: (_, task) => task.send(approved, { by: 'Bo', amount: 0 }),
    }
    assert.equal((await runTask(TASK, onWait)).answer, 'Bo: 1')
  })

  test('a payload that does not match is refused, and wakes nothing', async (t) => {
    const task = await startTask(TASK, { home: freshFolder(t), behaviours: [waiter] })
    await task.waiting()
    for (const payload of [undefined, 42, { by: 'Ada' }, { by: 'Ada', amount: Number.NaN }])
      await assert.rejects(task.send(approved, payload as never), {
        code: 'usage',
        message: /payload of event approved/,
      })
    assert.equal((await task.status()).status, 'waiting')
    await task.cancel()
  })

  test('a model waits for it by name, and reads its payload', async (t) => {
    const model = scriptedModel([{ calls: [{ tool: 'wait', args: { for: 'event:approved' } }] }, { text: 'thanks' }])
    const task = await startTask({ objective: 'ask', behaviour: 'solo' }, { home: freshFolder(t), model })
    assert.equal((await task.waiting())?.reason, 'approved')
    await task.send(approved, { by: 'Ada', amount: 41 })
    assert.equal((await task.result()).answer, 'thanks')
    assert.match(JSON.stringify(model.requests[1]?.messages), /approved.*Ada/)
  })

  test('names of the runtime, names that no wait can have, and missing schemas are refused', () => {
    for (const name of ['approval', 'agent_result', 'deadline', '', 'two words', 42 as never])
      assert.throws(() => defineEvent(name, z.string()), { code: 'usage', message: /invalid name of an event/ })
    assert.throws(() => defineEvent('a', undefined as never), { code: 'usage', message: /event a has no schema/ })
  })

  test('an event of another name, or with another payload, is not read', () => {
    const event = (name: string, payload: object) => ({ type: 'system_event', name, payload }) as never
    const good = event('approved', { by: 'Ada', amount: 1 })
    assert.deepEqual(approved.read([event('approved', { by: 'Bo', amount: 2 }), good]), { by: 'Ada', amount: 1 })
    for (const from of [null, 'text', [], [null], event('other', { by: 'Ada', amount: 1 }), [event('approved', {})]])
      assert.equal(approved.read(from), undefined)
  })
})
