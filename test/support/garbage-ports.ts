/** Every port with a plugin that returns garbage, and who is named for it. */

import type { AppOptions } from '../../src/app.ts'
import type { Behaviour } from '../../src/ports/behaviour.ts'
import type { Memory } from '../../src/ports/memory.ts'
import { definePlugin } from '../../src/ports/plugin.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import { finalAnswer, pokeDecision, withEnv } from './event-recorder.ts'

/** Gives the plugin its next invalid return value. */
export type Returned = () => never

export interface PortCase {
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

export const PORTS: Readonly<Record<string, PortCase>> = {
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
