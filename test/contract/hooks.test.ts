import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import type { Event } from '../../src/domain/event.ts'
import type { Json } from '../../src/domain/json.ts'
import { HOOKED_PHASES, type Hook, type HookContext } from '../../src/ports/hook.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  eventNames,
  finalAnswer,
  manifestOf,
  openRecordedApp,
  pokeDecision,
  pushAndReturn,
  recordingHook,
  runScripted,
  scriptedBehaviour,
} from '../support/event-recorder.ts'
import { advanceUntilDone, readLogs, runTaskIn } from '../support/open-app.ts'

const pairs = (step: number, ...phases: readonly string[]): string[] =>
  phases.flatMap((phase) => [`before_${phase} ${step}`, `after_${phase} ${step}`])

const UP_TO_REDUCE = ['observe', 'decide', 'act', 'reduce']

describe('hooks', () => {
  test('case 4, Q3: each phase of each step has a before and an after call, in order', async (t) => {
    const hook = recordingHook()
    const { app } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()])],
      hooks: [hook],
    })
    await runScripted(app)
    const step = (n: number) => pairs(n, ...UP_TO_REDUCE, 'check_stop')
    assert.deepEqual(hook.moments, ['run_start 0', ...step(1), ...step(2), 'run_end 2'])
  })

  test('case 4: the pairs are complete with critics that retry and stop', async (t) => {
    const hook = recordingHook()
    let judgeCalls = 0
    const picky = {
      name: 'picky',
      judge: () =>
        judgeCalls++ === 0
          ? ({ kind: 'retry', instruction: 'no' } as const)
          : ({ kind: 'stop', reason: 'enough' } as const),
    }
    const { app } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()])],
      hooks: [hook],
      critics: [picky],
    })
    await runScripted(app)
    const step = (n: number) => pairs(n, ...UP_TO_REDUCE, 'critic', 'check_stop')
    assert.deepEqual(hook.moments, ['run_start 0', ...step(1), ...step(2), 'run_end 2'])
  })

  for (const broken of ['observe', 'decide', 'reduce'] as const)
    test(`case 4: when ${broken} throws, its after call carries the error, then recover follows`, async (t) => {
      const hook = recordingHook()
      let thrown = 0
      const sound = scriptedBehaviour([finalAnswer()])
      const failsOnce = {
        ...sound,
        [broken]: (...given: [never, never]) => {
          if (thrown++ === 0) throw new Error('broken once')
          return broken === 'observe' ? null : sound[broken]?.(...given)
        },
      }
      const { app } = await openRecordedApp(t, { behaviours: [failsOnce], hooks: [hook] })
      assert.equal((await runScripted(app)).status, 'done')
      const before = UP_TO_REDUCE.slice(0, UP_TO_REDUCE.indexOf(broken))
      assert.deepEqual(hook.moments, [
        'run_start 0',
        ...[...pairs(1, ...before), `before_${broken} 1`, `after_${broken} 1 !`, 'recover 1 !'],
        ...pairs(1, 'check_stop'),
        ...pairs(2, ...UP_TO_REDUCE, 'check_stop'),
        'run_end 2',
      ])
    })

  test('case 4: a retried model call repeats DECIDE, not OBSERVE', async (t) => {
    const clock = new FakeClock()
    const hook = recordingHook()
    const model = scriptedModel([{ text: 'done', faults: [new TirelessError('model_unavailable', 'busy')] }])
    const { app } = await openRecordedApp(t, { clock, model, hooks: [hook] })
    await advanceUntilDone(clock, runTaskIn(app))
    assert.deepEqual(hook.moments, [
      'run_start 0',
      ...[...pairs(1, 'observe'), 'before_decide 1', 'after_decide 1 !', 'recover 1 !'],
      ...pairs(1, 'decide', 'act', 'reduce', 'check_stop'),
      'run_end 1',
    ])
  })

  test('case 4: a failed run has an after call for each before call, and run_end', async (t) => {
    const hook = recordingHook()
    const throwError = () => {
      throw new Error('decide failed')
    }
    const { app } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([], { decide: throwError })],
      hooks: [hook],
    })
    await runScripted(app)
    for (const phase of HOOKED_PHASES) {
      const count = (moment: string) => hook.moments.filter((name) => name.startsWith(`${moment}_${phase}`)).length
      assert.equal(count('before'), count('after'), phase)
    }
    assert.deepEqual(hook.moments.slice(-4), ['recover 3 !', ...pairs(3, 'check_stop'), 'run_end 3'])
  })

  test('Q3: on_event gets each event once, in order; failures of other hooks are logged', async (t) => {
    const received: Event[] = []
    const hooks: Hook[] = [
      { name: 'broken', on_event: () => Promise.reject(new Error('listener failed')) },
      { name: 'hanging', on_event: () => new Promise(() => {}) },
      { name: 'receiving', on_event: (event) => void received.push(event) },
    ]
    const { app, events } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()])],
      hooks,
    })
    assert.equal((await runScripted(app)).status, 'done')
    assert.deepEqual(received, events)
    const { items } = await readLogs(app)
    const failures = items.filter(({ event }) => event === 'hook failed')
    assert.deepEqual(
      { failures: failures.length, message: failures[0]?.message },
      { failures: events.length, message: 'listener failed' },
    )
  })

  test('when observe throws, neither events nor trace have an observation for that step', async (t) => {
    let observed = 0
    const observe = () => (observed++ === 0 ? assert.fail('observe failed') : { seen: observed })
    const { app, events } = await openRecordedApp(t, { behaviours: [scriptedBehaviour([finalAnswer()], { observe })] })
    const { status, dispatch_id } = await runScripted(app)
    assert.equal(status, 'done')
    const namesOfStep = (step: number) => eventNames(events.filter(({ step_id }) => step_id === step))
    assert.deepEqual(namesOfStep(1).slice(0, 3), ['OBSERVE start', 'OBSERVE error', 'RECOVER feedback'])
    assert.ok(!namesOfStep(1).includes('OBSERVE observation_ready'))
    assert.deepEqual(namesOfStep(2).slice(0, 2), ['OBSERVE start', 'OBSERVE observation_ready'])
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, i) => i + 1),
    )
    await app.close()
    const [first, second] = (await app.context.traces.read(dispatch_id)).steps
    assert.equal(first?.observation, null)
    assert.notEqual(second?.observation, null)
  })

  test('Q3, I9: a listener that throws does not affect other listeners', async (t) => {
    const { app, events } = await openRecordedApp(t, { behaviours: [scriptedBehaviour([finalAnswer()])] })
    const progressItems: unknown[] = []
    app.context.listen(() => {
      throw new Error('listener failed')
    })
    app.context.listen((progress) => pushAndReturn(progressItems, progress))
    const { dispatch_id } = await runScripted(app)
    assert.ok(events.length > 0 && progressItems.length >= events.length)
    assert.equal((await manifestOf(app, dispatch_id)).status, 'completed')
  })

  test('Q18: a hook gets a frozen copy of what each phase came to, and cannot change the run', async (t) => {
    const seen: Record<string, Json | undefined> = {}
    const keep = (phase: string) => (context: HookContext) => {
      seen[phase] ??= context.data
      Object.assign(context.data as object, { changed: true })
    }
    const hook = { name: 'keen', ...Object.fromEntries(HOOKED_PHASES.map((one) => [`on_after_${one}`, keep(one)])) }
    const { app } = await openRecordedApp(t, { behaviours: [scriptedBehaviour([pokeDecision])], hooks: [hook as Hook] })
    const { steps } = await runScripted(app, { max_steps: 1 })
    const { observe, decide, act, reduce, check_stop } = seen as Record<string, { readonly [key: string]: Json }>
    assert.match(JSON.stringify(observe?.input), /the task/)
    assert.equal(decide?.kind, 'act')
    assert.equal((act as unknown as { readonly content: string }[])[0]?.content, 'poked, number 1')
    assert.deepEqual({ reduce, steps }, { reduce: { task: 'the task', step: 1 }, steps: 1 })
    assert.equal(check_stop?.stop_reason, 'budget_steps')
  })
})
