import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import { TirelessError } from '../../src/domain/error.ts'
import type { Behaviour } from '../../src/ports/behaviour.ts'
import type { Memory } from '../../src/ports/memory.ts'
import { definePlugin } from '../../src/ports/plugin.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import type { TaskEnd } from '../../src/run-task.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  finalAnswer,
  pokeDecision,
  pokeTool,
  runScripted,
  scriptedBehaviour,
  withEnv,
} from '../support/event-recorder.ts'
import { COMMON_GARBAGE, garbageLike } from '../support/garbage-returns.ts'
import { sampleValues } from '../support/garbage-values.ts'
import { advanceUntilDone, dispatchOf, freshFolder, journalOf, openApp } from '../support/open-app.ts'

/** Gives the plugin its next invalid return value. */
type Returned = () => never

interface PortCase {
  /** A valid return value, from which near misses are made. */
  readonly valid: unknown
  /** The name of the plugin in the error message. */
  readonly culprit: RegExp
  readonly behaviour?: (returned: Returned) => Partial<Behaviour>
  readonly tool?: (returned: Returned) => Partial<AnyTool>
  readonly app?: (returned: Returned) => AppOptions
  /** More input of the task. */
  readonly input?: object
}

const asAsync = (returned: Returned) => async () => returned()
const modelDecides: Partial<Behaviour> = { decide: () => undefined }
const branching: Partial<Behaviour> = { decide: () => ({ kind: 'branch', candidates: [pokeDecision, finalAnswer()] }) }
const ONCE = { recovery: 'once', reach: 'workspace' } as const
const interruptedRun = async () => ({ status: 'unknown', content: 'the server died' }) as const
const ANSWER = {
  text: 'hello',
  calls: [{ id: 'a', tool: 'poke', args: '{}' }],
  finish: 'calls',
  usage: { input_tokens: 1, output_tokens: 1, cached_tokens: 0 },
}
const VIEW = { from: 0, summary: '', recalled: ['a fact'] }

const memory = (more: (returned: Returned) => Partial<Memory>) => ({
  behaviour: () => ({ ...modelDecides, memory: 'broken' }),
  app: (returned: Returned): AppOptions => ({
    memories: [
      {
        name: 'broken',
        open: (): Memory => ({
          reset() {},
          append() {},
          retrieve: () => VIEW,
          summarise: () => '',
          evict: () => 0,
          ...more(returned),
        }),
      },
    ],
  }),
})
const parser = (more: (returned: Returned) => object) => ({
  behaviour: () => ({ ...modelDecides, parser: 'broken' }),
  app: (returned: Returned): AppOptions => ({
    parsers: [
      {
        name: 'broken',
        instructions: () => '',
        parse: (text) => ({ kind: 'said', text, calls: [] }),
        ...more(returned),
      },
    ],
  }),
})
const search = (more: (returned: Returned) => object) => ({
  behaviour: (returned: Returned) => ({ ...branching, search: { name: 'lost', score: () => 1, ...more(returned) } }),
})
const env = (more: (returned: Returned) => object) => ({
  app: (returned: Returned): AppOptions => ({ plugins: [withEnv((sound) => ({ ...sound, ...more(returned) }))] }),
})
const BEHAVIOUR = /behaviour scripted/
const TOOL = /tool poke/
const MEMORY = /memory broken/
const PARSER = /parser broken/
const SEARCH = /search lost/
const ENV = /\benvs?\b/

const PORTS: Readonly<Record<string, PortCase>> = {
  'model.call': {
    valid: ANSWER,
    culprit: /model garbled\/one/,
    behaviour: () => modelDecides,
    app: (returned) => ({ model: { id: 'garbled/one', call: asAsync(returned) } }),
  },
  'model.call, metered': {
    valid: ANSWER,
    culprit: /model garbled\/one/,
    behaviour: () => modelDecides,
    app: (returned) => ({
      model: { id: 'garbled/one', price: { input: 1, output: 1, max_output: 10 }, call: asAsync(returned) },
    }),
  },
  'model.call that is not asynchronous': {
    valid: ANSWER,
    culprit: /model garbled\/one/,
    behaviour: () => modelDecides,
    app: (returned) => ({ model: { id: 'garbled/one', call: returned } }),
  },
  'parser.parse': {
    valid: { kind: 'said', text: 'x', calls: [{ id: 'a', tool: 'poke', args: '{}' }], notes: { thought: 'x' } },
    culprit: PARSER,
    ...parser((parse) => ({ parse })),
  },
  'parser.instructions': { valid: 'x', culprit: PARSER, ...parser((instructions) => ({ instructions })) },
  'memory.open': {
    valid: null,
    culprit: MEMORY,
    behaviour: () => ({ ...modelDecides, memory: 'broken' }),
    app: (open) => ({ memories: [{ name: 'broken', open }] }),
  },
  'memory.reset': { valid: undefined, culprit: MEMORY, ...memory((reset) => ({ reset })) },
  'memory.append': { valid: undefined, culprit: MEMORY, ...memory((append) => ({ append })) },
  'memory.retrieve': { valid: VIEW, culprit: MEMORY, ...memory((retrieve) => ({ retrieve })) },
  'behaviour.initState': {
    valid: { step: 0, deep: { a: [1, 'b', null] } },
    culprit: BEHAVIOUR,
    behaviour: (initState) => ({ initState, decide: () => finalAnswer() }),
  },
  'behaviour.observe': { valid: { a: 1, b: [2] }, culprit: BEHAVIOUR, behaviour: (observe) => ({ observe }) },
  'behaviour.decide': {
    valid: { kind: 'act', calls: [{ tool: 'poke', args: {}, id: 'x', timeoutMs: 1000 }], failFast: true },
    culprit: BEHAVIOUR,
    behaviour: (decide) => ({ decide }),
  },
  'behaviour.decide: a wait': {
    valid: { kind: 'wait', match: 'any', until: 1e12, reason: 'x' },
    culprit: BEHAVIOUR,
    behaviour: (decide) => ({ decide }),
  },
  'behaviour.decide: a branch': {
    valid: { kind: 'branch', candidates: [{ kind: 'final', answer: 'x', summary: 'y' }] },
    culprit: /behaviour scripted|branch/,
    behaviour: (decide) => ({ decide }),
  },
  'behaviour.prepare': { valid: 'x', culprit: BEHAVIOUR, behaviour: (prepare) => ({ ...modelDecides, prepare }) },
  'behaviour.buildSystemPrompt': {
    valid: { role: 'x', policy: 'y' },
    culprit: BEHAVIOUR,
    behaviour: (buildSystemPrompt) => ({ ...modelDecides, buildSystemPrompt }),
  },
  'behaviour.buildMemoryQuery': {
    valid: { text: 'x' },
    culprit: BEHAVIOUR,
    behaviour: (buildMemoryQuery) => ({ ...modelDecides, buildMemoryQuery }),
  },
  'behaviour.reduce': { valid: { step: 1, deep: { a: [1] } }, culprit: BEHAVIOUR, behaviour: (reduce) => ({ reduce }) },
  'behaviour.shouldStop': { valid: true, culprit: BEHAVIOUR, behaviour: (shouldStop) => ({ shouldStop }) },
  'search.expand': { valid: [finalAnswer(), pokeDecision], culprit: SEARCH, ...search((expand) => ({ expand })) },
  'search.score': { valid: 1, culprit: SEARCH, ...search((score) => ({ score })) },
  'search.prune': { valid: true, culprit: SEARCH, ...search((prune) => ({ prune })) },
  'search.select': { valid: 0, culprit: SEARCH, ...search((select) => ({ select })) },
  'critic.judge': {
    valid: { kind: 'retry', instruction: 'x', attempt: { after_ms: 1 } },
    culprit: /critic/,
    app: (judge) => ({ critics: [{ name: 'broken', judge }] }),
  },
  'critic.judge: a stop': {
    valid: { kind: 'stop', reason: 'x', failure_class: 'policy' },
    culprit: /critic|x/,
    app: (judge) => ({ critics: [{ name: 'broken', judge }] }),
  },
  'gate.judge': {
    valid: { kind: 'allow', reason: 'x' },
    culprit: /gate/,
    app: (judge) => ({ plugins: [withGate({ name: 'broken', judge })] }),
  },
  'hook.on_before_act': {
    valid: undefined,
    culprit: /hook/,
    app: (on_before_act) => ({ hooks: [{ name: 'broken', on_before_act }] }),
  },
  'hook.on_event': {
    valid: undefined,
    culprit: /hook/,
    app: (on_event) => ({ hooks: [{ name: 'broken', on_event }] }),
  },
  'tool.run': {
    valid: {
      status: 'ok',
      content: 'x',
      facts: { seen: { a: 'b' }, cwd: 'x', label: { trust: 'trusted', private: true } },
    },
    culprit: TOOL,
    tool: (returned) => ({ run: asAsync(returned) }),
  },
  'tool.run that is not asynchronous': {
    valid: { status: 'ok', content: 'x' },
    culprit: TOOL,
    tool: (run) => ({ run }),
  },
  'tool.before': { valid: { a: [1] }, culprit: TOOL, tool: (returned) => ({ before: asAsync(returned) }) },
  'tool.effect': {
    valid: { recovery: 'once', reach: 'network', host: 'x', writes: true },
    culprit: TOOL,
    tool: (effect) => ({ effect }),
  },
  'tool.refuses': { valid: 'x', culprit: TOOL, tool: (refuses) => ({ refuses }) },
  'tool.asks': { valid: 'x', culprit: TOOL, tool: (asks) => ({ asks }) },
  'tool.destinations': {
    valid: ['x'],
    culprit: TOOL,
    tool: (destinations) => ({ destinations, effect: () => ({ recovery: 'once', reach: 'third_party' }) }),
  },
  'tool.gives': { valid: { trust: 'trusted', private: true }, culprit: TOOL, tool: (gives) => ({ gives }) },
  'tool.meant': { valid: { tool: 'poke', args: {} }, culprit: TOOL, tool: (meant) => ({ meant }) },
  'tool.probe': {
    valid: { kind: 'happened', result: { status: 'ok', content: 'x', facts: { cwd: 'x' } } },
    culprit: TOOL,
    tool: (returned) => ({
      effect: () => ({ recovery: 'reconcilable', reach: 'workspace' }),
      run: interruptedRun,
      probe: asAsync(returned),
    }),
  },
  'tool.remains': {
    valid: 'x',
    culprit: TOOL,
    tool: (returned) => ({ effect: () => ONCE, run: interruptedRun, remains: asAsync(returned) }),
  },
  'tool.setup': { valid: undefined, culprit: TOOL, tool: (setup) => ({ setup }) },
  'tool.settled': { valid: undefined, culprit: TOOL, tool: (settled) => ({ settled }) },
  'tool.teardown': { valid: undefined, culprit: TOOL, tool: (teardown) => ({ teardown }) },
  'envs.open': {
    valid: { root: '/', groups: ['file'], getOps: () => undefined, health: async () => ({ ok: true }) },
    culprit: ENV,
    app: (returned) => ({ plugins: [withEnv(returned)] }),
  },
  'env.health': { valid: { ok: false, reason: 'x' }, culprit: ENV, ...env((health) => ({ health })) },
  'env.getOps': {
    valid: undefined,
    culprit: ENV,
    input: { resources: [{ path: 'x' }] },
    ...env((getOps) => ({ getOps })),
  },
  'env.isTerminal': { valid: true, culprit: ENV, ...env((isTerminal) => ({ isTerminal })) },
  'env.close': { valid: undefined, culprit: ENV, ...env((close) => ({ close })) },
  'embedder.embed': {
    valid: [[1, 2]],
    culprit: /embedder/,
    app: (returned) => ({ plugins: [withEmbedder(returned)] }),
  },
}

function withGate(gate: { name: string; judge: Returned }) {
  return definePlugin({ name: 'gated', needs: ['gates'], setup: (host) => host.get('gates').add(gate) })
}

function withEmbedder(embed: Returned) {
  return definePlugin({
    name: 'embedding',
    needs: ['embedders'],
    setup: (host) => void host.get('embedders').push({ name: 'broken', embed }),
  })
}

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

/** Random values per port, besides the common ones. */
const RUNS = 8

test('invalid return values of plugins', async (t) => {
  const home = freshFolder(t)
  const runs: TaskEnd[] = []
  for (const [name, port] of Object.entries(PORTS))
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
    assert.deepEqual([garbled?.status, odd?.status, sound?.status], ['failed', 'failed', 'done'])
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
    assert.deepEqual([poisoned?.status, poisoned?.failure_class, sound?.status], ['failed', 'infra', 'done'])
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
