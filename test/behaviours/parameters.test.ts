/** Parameters in the names of behaviours, wherever a behaviour is named. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AfterBehaviour, Behaviour, BehaviourEnd } from '../../src/ports/behaviour.ts'
import { commitOne } from '../../src/ports/store.ts'
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts'
import { createHome, tireless, tirelessJson } from '../support/command-line.ts'
import { freshFolder, journalOf, openApp, replayIn, runTaskIn } from '../support/open-app.ts'

/** Shows the model its parameters, and goes where the model says. */
const shown = (name: string): Behaviour => ({
  name,
  tools: ['finish'],
  buildSystemPrompt: () => `You are in ${name}.`,
  initState: () => null,
  observe: (_, { session, feedback }) => ({ params: session.params, feedback: feedback ?? '' }),
  prepare: (_, observation) => JSON.stringify(observation),
  next: (_, { answer, wanted }: BehaviourEnd): AfterBehaviour =>
    wanted === undefined
      ? { kind: 'end', answer }
      : { kind: 'become', behaviour: wanted, params: { from: name }, why: 'the model says so' },
})

const finish = (answer: string, next?: string): ScriptedAnswer => ({
  calls: [{ tool: 'finish', args: { answer, ...(next === undefined ? {} : { next }) } }],
})

test('case 82: parameters of a task, and of the behaviour that the model names next, are replayed', async (t) => {
  const answers = [finish('on', 'second:todo=T001,note="a, \\"b\\""'), finish('on', 'SECOND:T001'), finish('end')]
  let at = 0
  const model = scriptedModel(() => answers[at++] ?? assert.fail('the script is over'))
  const app = await openApp(t, { model, behaviours: [shown('first'), shown('second')] })
  const result = await runTaskIn(app, 'the task', { behaviour: 'first:round=2,why="it, failed"' })
  assert.deepEqual([result.status, result.answer], ['done', 'end'])
  const seen = model.requests.map(({ messages }) => messages.at(-1)?.text ?? '')
  assert.deepEqual(JSON.parse(seen[0] ?? ''), { params: { round: '2', why: 'it, failed' }, feedback: '' })
  const second = { from: 'first', todo: 'T001', note: 'a, "b"' }
  assert.deepEqual(JSON.parse(seen[1] ?? ''), { params: second, feedback: '' })
  const { params, feedback } = JSON.parse(seen[2] ?? '')
  assert.deepEqual(params, second)
  assert.match(feedback, /SECOND:T001.*expected NAME or NAME:KEY=VALUE/)
  const recorded = (await journalOf(app, result.session_id)).flatMap((record) =>
    record.kind === 'run_started'
      ? [{ behaviour: record.behaviour, params: record.params }]
      : record.kind === 'step_committed' && record.next.kind === 'become'
        ? [{ behaviour: record.next.behaviour, params: record.next.params }]
        : [],
  )
  assert.deepEqual(recorded, [
    { behaviour: 'first', params: { round: '2', why: 'it, failed' } },
    { behaviour: 'second', params: second },
  ])
  const { identical, first_divergence } = await replayIn(app, result.dispatch_id)
  assert.deepEqual({ identical, first_divergence }, { identical: true, first_divergence: null })
})

test('case 82: run and enqueue refuse DO:T001 and say what is expected; do:todo=T001 starts with DO', async (t) => {
  const home = await createHome(t, [{ text: 'forty-two' }])
  for (const verb of ['run', 'enqueue']) {
    const refused = await tireless(home, verb, 'think', '--behaviour', 'DO:T001')
    assert.equal(refused.exit, 2)
    assert.match(refused.stderr, /DO:T001.*expected NAME or NAME:KEY=VALUE.*for example do:todo=T001/s)
  }
  const unknown = await tirelessJson<{ status: string; error: string }>(home, 'run', 'x', '--behaviour', 'nope:a=b')
  assert.deepEqual([unknown.status, /nope.*one of .*\bdo\b/.test(unknown.error)], ['failed', true])
  const ran = await tirelessJson<{ session_id: string }>(home, 'run', 'think', '--behaviour', 'do:todo=T001,round=2')
  const { journal } = await tirelessJson<{ journal: { kind: string; behaviour?: string; params?: object }[] }>(
    ...([home, 'sessions', 'show', ran.session_id] as const),
  )
  const started = journal.find(({ kind }) => kind === 'run_started')
  assert.deepEqual([started?.behaviour, started?.params], ['do', { todo: 'T001', round: '2' }])
})

test('case 82: a dispatch whose metadata names unreadable parameters does not start, and says why', async (t) => {
  const app = await openApp(t, { home: freshFolder(t), model: scriptedModel([{ text: 'x' }]) })
  const { store, clock, drain } = app.context
  await commitOne(store, [
    {
      op: 'enqueue',
      now: clock.now(),
      dispatches: [
        {
          ...{ dispatch_id: 'named', kernel_id: 'k', agent_id: 'default', session_id: 's', prompt: 'x' },
          ...{ source: 'cli', priority: 0 },
          ...{ workspace: freshFolder(t), metadata: { behaviour: 'solo:T001' } },
        },
      ],
    },
  ])
  await drain({ untilIdle: true })
  const { status, error } = (await store.dispatch('named')) ?? assert.fail()
  assert.equal(status, 'failed')
  assert.match(error ?? '', /TASK_BEHAVIOUR_UNKNOWN.*solo:T001.*expected NAME/s)
})
