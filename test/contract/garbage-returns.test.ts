import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import { TirelessError } from '../../src/domain/error.ts'
import type { Behaviour } from '../../src/ports/behaviour.ts'
import type { Memory } from '../../src/ports/memory.ts'
import { definePlugin } from '../../src/ports/plugin.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import type { TaskResult } from '../../src/run-task.ts'
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

/** What a plugin is given to return in the run under way. */
type Returned = () => never

interface PortCase {
  /** What is right: near misses are made of it. */
  readonly valid: unknown
  /** How the error names who returned it. */
  readonly culprit: RegExp
  readonly behaviour?: (returned: Returned) => Partial<Behaviour>
  readonly tool?: (returned: Returned) => Partial<AnyTool>
  readonly app?: (returned: Returned) => AppOptions
  /** Of the task. */
  readonly input?: object
}

const later = (returned: Returned) => async () => returned()
const asking: Partial<Behaviour> = { decide: () => undefined }
const branching: Partial<Behaviour> = { decide: () => ({ kind: 'branch', candidates: [pokeDecision, finalAnswer()] }) }
const ONCE = { recovery: 'once', reach: 'workspace' } as const
const cutShort = async () => ({ status: 'unknown', content: 'its server died' }) as const
const ANSWER = {
  text: 'hello',
  calls: [{ id: 'a', tool: 'poke', args: '{}' }],
  finish: 'calls',
  usage: { input_tokens: 1, output_tokens: 1, cached_tokens: 0 },
}
const VIEW = { from: 0, summary: '', recalled: ['a fact'] }

const memory = (more: (returned: Returned) => Partial<Memory>) => ({
  behaviour: () => ({ ...asking, memory: 'broken' }),
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
  behaviour: () => ({ ...asking, parser: 'broken' }),
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
  app: (returned: Returned): AppOptions => ({ plugins: [withEnv((whole) => ({ ...whole, ...more(returned) }))] }),
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
    behaviour: () => asking,
    app: (returned) => ({ model: { id: 'garbled/one', call: later(returned) } }),
  },
  'model.call, metered': {
    valid: ANSWER,
    culprit: /model garbled\/one/,
    behaviour: () => asking,
    app: (returned) => ({
      model: { id: 'garbled/one', price: { input: 1, output: 1, max_output: 10 }, call: later(returned) },
    }),
  },
  'model.call that is not asynchronous': {
    valid: ANSWER,
    culprit: /model garbled\/one/,
    behaviour: () => asking,
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
    behaviour: () => ({ ...asking, memory: 'broken' }),
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
  'behaviour.prepare': { valid: 'x', culprit: BEHAVIOUR, behaviour: (prepare) => ({ ...asking, prepare }) },
  'behaviour.buildSystemPrompt': {
    valid: { role: 'x', policy: 'y' },
    culprit: BEHAVIOUR,
    behaviour: (buildSystemPrompt) => ({ ...asking, buildSystemPrompt }),
  },
  'behaviour.buildMemoryQuery': {
    valid: { text: 'x' },
    culprit: BEHAVIOUR,
    behaviour: (buildMemoryQuery) => ({ ...asking, buildMemoryQuery }),
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
    tool: (returned) => ({ run: later(returned) }),
  },
  'tool.run that is not asynchronous': {
    valid: { status: 'ok', content: 'x' },
    culprit: TOOL,
    tool: (run) => ({ run }),
  },
  'tool.before': { valid: { a: [1] }, culprit: TOOL, tool: (returned) => ({ before: later(returned) }) },
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
      run: cutShort,
      probe: later(returned),
    }),
  },
  'tool.remains': {
    valid: 'x',
    culprit: TOOL,
    tool: (returned) => ({ effect: () => ONCE, run: cutShort, remains: later(returned) }),
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

/** No tool here starts anything, and to try a sandbox takes longer than the test. */
const NO_SANDBOX = 'sandbox: off\n'

/** One app for all the garbage of a port: what is left of the last piece would show with the next. */
async function appOf(
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

/** Runs of one port with what chance brings, besides the classics. */
const RUNS = 8

test('B2: whatever a plugin returns', async (t) => {
  const home = freshFolder(t)
  const runs: TaskResult[] = []
  for (const [name, port] of Object.entries(PORTS))
    await t.test(`B2: ${name}: garbage fails its step or is fed back; the process and the queue live`, async (t) => {
      runs.push(...(await throwAll(t, port, home)))
    })
  await t.test('B2: afterwards the home opens, all of it can be read, and it works', () => readableAgain(t, home, runs))
})

/** The classics, and what chance brings; whoever is asked several times in a run is given another piece each time. */
async function throwAll(t: TestContext, port: PortCase, home: string): Promise<readonly TaskResult[]> {
  const clock = new FakeClock()
  const { values, seedNote: told } = sampleValues(port.valid === undefined ? 0 : RUNS, garbageLike(port.valid))
  // Of what nobody looks at nobody can say that it was waited for in vain.
  const classics = Object.entries(COMMON_GARBAGE).filter(
    ([what]) => port.valid !== undefined || what !== 'a promise inside',
  )
  const pieces = [...classics.map(([, make]) => make), ...values]
  let next = 0
  const returned = (() => pieces[Math.min(next++, pieces.length - 1)]?.()) as Returned
  const app = await appOf(t, port, returned, { clock, home })
  const runs: TaskResult[] = []
  while (next < pieces.length) {
    const from = next
    const result = await advanceUntilDone(clock, runScripted(app, { max_steps: 6, ...port.input }))
    runs.push(result)
    assert.doesNotMatch(result.error ?? '', /^(store_|internal)/, `${told}: a typed error`)
    if (result.failure_class === 'infra') assert.match(result.error ?? '', port.culprit, told)
    assert.ok(next > from, `${told}: it was asked in every run`)
  }
  await app.close()
  return runs
}

describe('B2: a plugin that returns garbage or breaks', () => {
  test('B2: what is a hundred megabytes long is refused or shortened, and costs nobody else anything', async (t) => {
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
      const app = await appOf(t, port, (() => large) as Returned, { clock, home })
      const result = await advanceUntilDone(clock, runScripted(app, { max_steps: 4 }))
      assert.doesNotMatch(result.error ?? '', /^(store_|internal)/, name)
      await app.close()
      await readableAgain(t, home, [result])
    }
  })

  test('B2: three in a row set the dispatch aside, with the culprit named; those beside it in the same process are done', async (t) => {
    const clock = new FakeClock()
    let asked = 0
    const call = async (): Promise<never> => {
      asked += 1
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
      ((await app.run('enqueue', { prompt: 'x', ...input })) as { dispatch_id: string }).dispatch_id
    const ids = [await queue({}), await queue({ behaviour: 'odd' }), await queue({ behaviour: 'scripted' })]
    await advanceUntilDone(clock, app.run('start', { until_idle: true }))
    const [garbled, odd, sound] = await Promise.all(ids.map((id) => dispatchOf(app, id)))
    assert.deepEqual([garbled?.status, odd?.status, sound?.status], ['failed', 'failed', 'done'])
    assert.match(
      garbled?.error ?? '',
      /^model_garbled: model garbled\/one returned an invalid value from call\(\) \(at usage: .*\); got .*; expected an answer.*3 failures in a row/,
    )
    assert.match(
      odd?.error ?? '',
      /^state_invalid: .*behaviour odd .*reduce\(\).*an instance of Map.*3 failures in a row/,
    )
    assert.equal(asked, 3)
  })

  test('B2: a plugin that throws a code of the store is not taken for it', async (t) => {
    const thrown = (): never => {
      throw new TirelessError('store_failed', 'so I say')
    }
    for (const more of [{ observe: thrown }, { decide: thrown }, { shouldStop: thrown }, { initState: thrown }]) {
      const app = await openApp(t, { behaviours: [scriptedBehaviour([pokeDecision], more)], tools: [pokeTool()] })
      assert.match(
        (await runScripted(app)).error ?? '',
        /plugin_failed: behaviour scripted failed in \w+\(\): so I say/,
      )
    }
  })

  test('B5: what hides secrets and returns no text ends the run by name; nothing of what it returned is kept', async (t) => {
    const app = await openApp(t, { behaviours: [scriptedBehaviour([finalAnswer()])], tools: [pokeTool()] })
    const secrets = app.service('secrets')
    const { hide } = secrets
    for (const odd of [() => 42, () => undefined, () => ({}), () => Promise.reject(new Error('later'))]) {
      Object.assign(secrets, { hide: (text: string) => (text === 'all done' ? odd() : hide(text)) })
      const { status, error, session_id } = await runScripted(app)
      assert.equal(status, 'failed')
      assert.match(error ?? '', /^plugin_invalid: the redactor returned an invalid value; got .*; expected a text/)
      assert.ok((await journalOf(app, session_id)).length > 0)
    }
    Object.assign(secrets, { hide })
    assert.equal((await runScripted(app)).status, 'done')
  })

  test('B2: what breaks outside every phase ends its own run; the queue goes on', async (t) => {
    const app = await openApp(t, { behaviours: [scriptedBehaviour([finalAnswer()])], tools: [pokeTool()] })
    const secrets = app.service('secrets')
    const { hide } = secrets
    Object.assign(secrets, { hide: (text: string) => (text.includes('poison') ? assert.fail('no') : hide(text)) })
    const ids: string[] = []
    for (const prompt of ['poison', 'something else']) {
      const { dispatch_id } = (await app.run('enqueue', { prompt, behaviour: 'scripted' })) as { dispatch_id: string }
      ids.push(dispatch_id)
    }
    await app.run('start', { until_idle: true })
    const [poisoned, sound] = await Promise.all(ids.map((id) => dispatchOf(app, id)))
    assert.deepEqual([poisoned?.status, poisoned?.failure_class, sound?.status], ['failed', 'infra', 'done'])
    assert.equal((await runScripted(app)).status, 'done')
  })
})

/** Another process, with none of the broken parts, can read all of it, and work there. */
async function readableAgain(t: TestContext, home: string, runs: readonly TaskResult[]): Promise<void> {
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
