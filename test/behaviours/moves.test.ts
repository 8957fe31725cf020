import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AfterBehaviour, Behaviour, BehaviourEnd } from '../../src/ports/behaviour.ts'
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { recordsOf } from '../support/fake-tools.ts'
import { journalOf, openApp, replayIn, runTaskIn } from '../support/open-app.ts'
import { calls, countingTool } from '../support/replays.ts'

const moving = (
  name: string,
  next: (end: BehaviourEnd) => AfterBehaviour,
  more: Partial<Behaviour> = {},
): Behaviour => ({
  name,
  tools: ['finish'],
  buildSystemPrompt: () => `You are in ${name}.`,
  initState: () => ({ in: name }),
  next: (_, end) => next(end),
  ...more,
})

/** Answers in order, whatever the conversation: it starts anew with each behaviour. */
function inOrder(answers: readonly ScriptedAnswer[]): ScriptedModel {
  let next = 0
  return scriptedModel(() => answers[next++] ?? assert.fail('the script is over'))
}

const to = (behaviour: string, params: Record<string, string> = {}): AfterBehaviour => ({
  ...{ kind: 'become', behaviour, params, why: `to ${behaviour}` },
})
const ending = ({ answer }: BehaviourEnd): AfterBehaviour => ({ kind: 'end', answer })

describe('O1, case 103: a run goes on with another behaviour', () => {
  test('its conversation starts anew, its system prompt is its own, and the run replays', async (t) => {
    const model = inOrder([calls(1), { text: 'planned' }, calls(2), { text: 'all done' }])
    const behaviours = [
      moving('first', () => to('second', { todo: 'T001' }), { tools: ['count'] }),
      moving('second', ending, {
        tools: ['count'],
        observe: (_, { session, input }) => ({
          params: session.params,
          worklog: session.worklog.length,
          input: [...input] as never,
        }),
        prepare: (_, observation) => JSON.stringify(observation),
      }),
    ]
    const app = await openApp(t, { model, tools: [countingTool()], behaviours })
    const result = await runTaskIn(app, 'the task', { behaviour: 'first' })
    assert.deepEqual({ status: result.status, answer: result.answer }, { status: 'done', answer: 'all done' })
    const systems = model.requests.map(({ system }) => system)
    assert.deepEqual([...new Set(systems)].length, 2)
    assert.equal(systems[0], systems[1])
    assert.equal(systems[2], systems[3])
    const entered = model.requests[2]?.messages ?? []
    assert.equal(entered.length, 1, 'the conversation of the first behaviour is not shown again')
    assert.match(String(entered[0]?.text), /"todo":"T001".*"worklog":2/)
    const { identical, first_divergence } = await replayIn(app, result.dispatch_id)
    assert.deepEqual({ identical, first_divergence }, { identical: true, first_divergence: null })
  })

  test('case 79: at its step limit a behaviour moves on, and the budget of the run is not reset', async (t) => {
    const model = inOrder(Array.from({ length: 9 }, (_, n) => calls(n)))
    const ends: BehaviourEnd[] = []
    const again = (end: BehaviourEnd): AfterBehaviour => {
      ends.push(end)
      return to('limited')
    }
    const app = await openApp(t, {
      model,
      tools: [countingTool()],
      behaviours: [moving('limited', again, { stepLimit: 2, tools: ['count'] })],
    })
    const { status, stop_reason, steps } = await runTaskIn(app, 'the task', { behaviour: 'limited', max_steps: 7 })
    assert.deepEqual({ status, stop_reason, steps }, { status: 'failed', stop_reason: 'budget_steps', steps: 7 })
    assert.deepEqual(
      ends.map(({ why, moves }) => `${why} ${moves}`),
      ['step_limit 0', 'step_limit 1', 'step_limit 2'],
    )
  })

  test('case 79: moving back and forth ends; a behaviour that may not end reads why', async (t) => {
    const model = inOrder(Array.from({ length: 80 }, () => ({ text: 'next' })))
    const app = await openApp(t, {
      model,
      behaviours: [moving('ping', () => to('pong')), moving('pong', () => to('ping'))],
    })
    const moved = await runTaskIn(app, 'the task', { behaviour: 'ping', max_steps: 500 })
    assert.deepEqual({ reason: moved.stop_reason, steps: moved.steps }, { reason: 'stagnation', steps: 61 })
    const stubborn = inOrder(Array.from({ length: 9 }, () => ({ text: 'finished' })))
    const other = await openApp(t, {
      model: stubborn,
      behaviours: [moving('strict', () => ({ kind: 'stay', feedback: 'T001 is still open' }))],
    })
    const stayed = await runTaskIn(other, 'the task', { behaviour: 'strict' })
    assert.deepEqual(
      { reason: stayed.stop_reason, error: stayed.error, steps: stayed.steps },
      { reason: 'stagnation', error: 'T001 is still open', steps: 5 },
    )
    assert.match(JSON.stringify(stubborn.requests[1]?.messages), /T001 is still open/)
  })

  test('case 81: a move to an unknown behaviour is fed back with the known ones', async (t) => {
    const model = inOrder([{ text: 'on' }, { text: 'here' }])
    const lost = moving('lost', ({ answer }) => (answer === 'on' ? to('nowhere') : { kind: 'end', answer }))
    const app = await openApp(t, { model, behaviours: [lost] })
    const result = await runTaskIn(app, 'the task', { behaviour: 'lost' })
    assert.deepEqual({ status: result.status, answer: result.answer }, { status: 'done', answer: 'here' })
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /nowhere.*one of .*lost/)
  })
})

test('case 80: an end that comes with other calls is no end: nothing of the step runs', async (t) => {
  const tool = countingTool()
  const both = { calls: [...(calls(1).calls ?? []), { tool: 'finish', args: { answer: 'over', next: 'second' } }] }
  const model = inOrder([both, calls(2), { text: 'planned' }, { text: 'all done' }])
  const behaviours = [
    moving('first', () => to('second'), { tools: ['count', 'finish'] }),
    moving('second', ending, { tools: [] }),
  ]
  const app = await openApp(t, { model, tools: [tool], behaviours })
  const { answer, session_id } = await runTaskIn(app, 'the task', { behaviour: 'first' })
  assert.equal(answer, 'all done')
  assert.equal((await recordsOf(app, session_id, 'call_intended')).length, 1, 'only the second step ran a call')
  const [ignored] = await recordsOf(app, session_id, 'step_committed')
  assert.equal(ignored?.next.kind, 'continue')
  assert.match(JSON.stringify(model.requests[1]?.messages), /finish/)
})

test('case 109: each step ends with one record of what it came to, and no record of the step follows', async (t) => {
  const model = inOrder([calls(1), { calls: [{ tool: 'nonsense', args: {} }] }, { text: 'planned' }, { text: 'done' }])
  const behaviours = [
    moving('first', () => to('second'), { tools: ['count'] }),
    moving('second', ending, { tools: [] }),
  ]
  const app = await openApp(t, { model, tools: [countingTool()], behaviours })
  const { session_id } = await runTaskIn(app, 'the task', { behaviour: 'first' })
  const byTurn = new Map<number, string[]>()
  for (const record of await journalOf(app, session_id))
    if ('turn' in record && typeof record.turn === 'number')
      byTurn.set(record.turn, [...(byTurn.get(record.turn) ?? []), record.kind])
  assert.equal(byTurn.size, 4)
  for (const kinds of byTurn.values())
    assert.deepEqual(
      { count: kinds.filter((kind) => kind === 'step_committed').length, last: kinds.at(-1) },
      { count: 1, last: 'step_committed' },
    )
})
