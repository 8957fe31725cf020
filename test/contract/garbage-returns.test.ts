import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import { TirelessError } from '../../src/domain/error.ts'
import type { TaskEnd } from '../../src/run-task/task.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { finalAnswer, pokeDecision, pokeTool, runScripted, scriptedBehaviour } from '../support/event-recorder.ts'
import { KIND_PORTS } from '../support/garbage-kinds.ts'
import { PORTS, type PortCase, type Returned } from '../support/garbage-ports.ts'
import { COMMON_GARBAGE, garbageLike } from '../support/garbage-returns.ts'
import { sampleValues } from '../support/garbage-values.ts'
import { advanceUntilDone, dispatchOf, freshFolder, journalOf, openApp } from '../support/open-app.ts'

/** No tool here starts a process; probing the sandbox would take longer than the test. */
const NO_SANDBOX = 'sandbox: off\n'

/** One app for all values of a port, so that damage left by one value shows with the next. */
async function openAppFor(
  t: TestContext,
  port: PortCase,
  returned: Returned,
  where: { readonly clock: FakeClock; readonly home: string },
): Promise<App> {
  const { tools = [], ...more }: AppOptions = port.app?.(returned) ?? {}
  return openApp(t, {
    ...where,
    yaml: NO_SANDBOX,
    model: scriptedModel((_, turn) => (turn === 0 ? { calls: [{ tool: 'poke' }] } : { text: 'done' })),
    ...more,
    behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()], port.behaviour?.(returned))],
    tools: [pokeTool(() => {}, port.tool?.(returned)), ...tools],
  })
}

/** Random values per port, besides the common ones; `npm run garbage` tries more. */
const RUNS = 2

test('invalid return values of plugins', async (t) => {
  const home = freshFolder(t)
  const runs: TaskEnd[] = []
  for (const [name, port] of Object.entries({ ...PORTS, ...KIND_PORTS }))
    await t.test(`${name}: an invalid value fails the step or is fed back; the queue continues`, async (t) => {
      runs.push(...(await tryAllGarbage(t, port, home)))
    })
  await t.test('afterwards the home opens, can be read and works', () => assertHomeWorks(t, home, runs))
})

/** Tries common and random values; a plugin that is called several times in a run gets another value each time. */
async function tryAllGarbage(t: TestContext, port: PortCase, home: string): Promise<readonly TaskEnd[]> {
  const clock = new FakeClock()
  const { values: randomValues, seedNote } = sampleValues(port.valid === undefined ? 0 : RUNS, garbageLike(port.valid))
  // Where the return value is ignored, a rejected promise inside it stays unhandled.
  const commonValues = Object.entries(COMMON_GARBAGE).filter(
    ([what]) => port.valid !== undefined || what !== 'a rejecting promise inside',
  )
  const values = [...commonValues.map(([, make]) => make), ...randomValues]
  let next = 0
  const returned = (() => values[Math.min(next++, values.length - 1)]?.()) as Returned
  const app = await openAppFor(t, port, returned, { clock, home })
  const runs: TaskEnd[] = []
  while (next < values.length) {
    const from = next
    const result = await advanceUntilDone(clock, runScripted(app, { max_steps: 6, ...port.input }))
    runs.push(result)
    assert.doesNotMatch(result.error ?? '', /^(store_|internal)/, `${seedNote}: a typed error is expected`)
    if (result.failure_class === 'infra') assert.match(result.error ?? '', port.culprit, seedNote)
    assert.ok(next > from, `${seedNote}: the plugin must be called in each run`)
  }
  await app.close()
  return runs
}

describe('plugins that return invalid values or throw', () => {
  test('a value of a hundred megabytes is refused or truncated; the home stays readable', async (t) => {
    const long = 'x'.repeat(100_000_000)
    for (const name of [
      'model.call',
      'behaviour.observe',
      'behaviour.reduce',
      'tool.run',
      'critic.judge',
      'gate.judge',
    ]) {
      const port = PORTS[name] as PortCase
      const clock = new FakeClock()
      const home = freshFolder(t)
      const large = { ...(port.valid as object), text: long, content: long, instruction: long, reason: long }
      const app = await openAppFor(t, port, (() => large) as Returned, { clock, home })
      const result = await advanceUntilDone(clock, runScripted(app, { max_steps: 4 }))
      assert.doesNotMatch(result.error ?? '', /^(store_|internal)/, name)
      await app.close()
      await assertHomeWorks(t, home, [result])
    }
  })

  test('three failures in a row fail the dispatch and name the plugin; other dispatches finish', async (t) => {
    const clock = new FakeClock()
    let modelCalls = 0
    const call = async (): Promise<never> => {
      modelCalls += 1
      return { text: 'no usage', calls: [], finish: 'stop' } as never
    }
    const reduce = (): never => new Map() as never
    const app = await openApp(t, {
      clock,
      model: { id: 'garbled/one', call },
      behaviours: [scriptedBehaviour([finalAnswer()]), scriptedBehaviour([pokeDecision], { name: 'odd', reduce })],
      tools: [pokeTool()],
    })
    const queue = async (input: object): Promise<string> =>
      (await app.run('enqueue', { prompt: 'x', ...input })).dispatch_id
    const ids = [await queue({}), await queue({ behaviour: 'odd' }), await queue({ behaviour: 'scripted' })]
    await advanceUntilDone(clock, app.run('start', { until_idle: true }))
    const [garbled, odd, sound] = await Promise.all(ids.map((id) => dispatchOf(app, id)))
    assert.deepEqual(
      { garbledStatus: garbled?.status, oddStatus: odd?.status, soundStatus: sound?.status },
      { garbledStatus: 'failed', oddStatus: 'failed', soundStatus: 'done' },
    )
    assert.match(
      garbled?.error ?? '',
      /^model_garbled: model garbled\/one returned an invalid value from call\(\) \(at usage: .*\); got .*; expected /,
    )
    assert.match(garbled?.error ?? '', /expected an answer.*3 failures in a row/)
    assert.match(
      odd?.error ?? '',
      /^state_invalid: .*behaviour odd .*reduce\(\).*an instance of Map.*3 failures in a row/,
    )
    assert.equal(modelCalls, 3)
  })

  test('a plugin that throws store_failed is reported as plugin_failed', async (t) => {
    const thrown = (): never => {
      throw new TirelessError('store_failed', 'thrown by a plugin')
    }
    for (const more of [{ observe: thrown }, { decide: thrown }, { shouldStop: thrown }, { initState: thrown }]) {
      const app = await openApp(t, { behaviours: [scriptedBehaviour([pokeDecision], more)], tools: [pokeTool()] })
      assert.match(
        (await runScripted(app)).error ?? '',
        /plugin_failed: behaviour scripted failed in \w+\(\): thrown by a plugin/,
      )
    }
  })

  test('a redactor that returns no text fails the run and is named in the error', async (t) => {
    const app = await openApp(t, { behaviours: [scriptedBehaviour([finalAnswer()])], tools: [pokeTool()] })
    const secrets = app.service('secrets')
    const { hide } = secrets
    for (const invalidHide of [() => 42, () => undefined, () => ({}), () => Promise.reject(new Error('later'))]) {
      Object.assign(secrets, { hide: (text: string) => (text === 'all done' ? invalidHide() : hide(text)) })
      const { status, error, session_id } = await runScripted(app)
      assert.equal(status, 'failed')
      assert.match(error ?? '', /^plugin_invalid: the redactor returned an invalid value; got .*; expected a text/)
      assert.ok((await journalOf(app, session_id)).length > 0)
    }
    Object.assign(secrets, { hide })
    assert.equal((await runScripted(app)).status, 'done')
  })

  test('a failure outside all phases fails only its own run', async (t) => {
    const app = await openApp(t, { behaviours: [scriptedBehaviour([finalAnswer()])], tools: [pokeTool()] })
    const secrets = app.service('secrets')
    const { hide } = secrets
    Object.assign(secrets, {
      hide: (text: string) => (text.includes('poison') ? assert.fail('redactor failed') : hide(text)),
    })
    const ids: string[] = []
    for (const prompt of ['poison', 'something else']) {
      const { dispatch_id } = await app.run('enqueue', { prompt, behaviour: 'scripted' })
      ids.push(dispatch_id)
    }
    await app.run('start', { until_idle: true })
    const [poisoned, sound] = await Promise.all(ids.map((id) => dispatchOf(app, id)))
    assert.deepEqual(
      { poisonedStatus: poisoned?.status, poisonedFailure_class: poisoned?.failure_class, soundStatus: sound?.status },
      { poisonedStatus: 'failed', poisonedFailure_class: 'infra', soundStatus: 'done' },
    )
    assert.equal((await runScripted(app)).status, 'done')
  })
})

/** A new app without the broken plugins can read all runs and do a task. */
async function assertHomeWorks(t: TestContext, home: string, runs: readonly TaskEnd[]): Promise<void> {
  const app = await openApp(t, {
    home,
    behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()])],
    tools: [pokeTool()],
  })
  for (const { session_id, dispatch_id } of runs) {
    assert.ok((await journalOf(app, session_id)).length > 0)
    assert.ok(await app.run('trace show', { run: dispatch_id }))
  }
  assert.deepEqual(await app.context.store.verify(), [])
  assert.equal((await runScripted(app)).status, 'done')
}
