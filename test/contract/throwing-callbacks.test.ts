import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { z } from 'zod'
import type { AppOptions } from '../../src/app.ts'
import { TirelessError } from '../../src/domain/error.ts'
import type { Json } from '../../src/domain/json.ts'
import type { Behaviour } from '../../src/ports/behaviour.ts'
import type { Memory } from '../../src/ports/memory.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  eventNames,
  finalAnswer,
  manifestOf,
  openRecordedApp,
  pokeDecision,
  pokeTool,
  runScripted,
  scriptedBehaviour,
  withEnv,
} from '../support/event-recorder.ts'
import { freshFolder } from '../support/open-app.ts'

const throwError = (): never => {
  throw new Error('thrown by a callback')
}
/** Leaves each decision to the model: first a call, then the answer. */
const modelDecides = (more: Partial<Behaviour> = {}): Partial<Behaviour> => ({ decide: () => undefined, ...more })
const brokenMemory = (more: Partial<Memory>) => ({
  name: 'broken',
  open: (): Memory => ({
    reset() {},
    append() {},
    retrieve: () => ({ from: 0, summary: '', recalled: [] }),
    summarise: () => '',
    evict: () => 0,
    ...more,
  }),
})
const circular: Record<string, unknown> = {}
circular.self = circular

interface Broken {
  readonly behaviour?: Partial<Behaviour>
  readonly tool?: Partial<AnyTool>
  readonly app?: AppOptions
  /** The run succeeds nevertheless. */
  readonly done?: true
}

/** By test title: one callback that throws or returns an invalid value. */
const BROKEN: Readonly<Record<string, Broken>> = {
  initState: { behaviour: { initState: throwError } },
  'an initial state that is not data': { behaviour: { initState: () => 1n as unknown as Json } },
  observe: { behaviour: { observe: throwError } },
  'a circular observation': { behaviour: { observe: () => circular as Json } },
  'an observation that is a function': { behaviour: { observe: () => throwError as unknown as Json } },
  decide: { behaviour: { decide: throwError } },
  'a promise as a decision': { behaviour: { decide: (async () => finalAnswer()) as unknown as () => undefined } },
  buildSystemPrompt: { behaviour: modelDecides({ buildSystemPrompt: throwError }) },
  prepare: { behaviour: modelDecides({ prepare: throwError }) },
  buildMemoryQuery: { behaviour: modelDecides({ buildMemoryQuery: throwError }) },
  reduce: { behaviour: { reduce: throwError } },
  'the schema of the state': { behaviour: { state: { version: 1, schema: z.custom<Json>(throwError) } } },
  shouldStop: { behaviour: { shouldStop: throwError } },
  'a search': {
    behaviour: {
      decide: () => ({ kind: 'branch', candidates: [pokeDecision] }),
      search: { name: 'lost', score: throwError },
    },
  },
  'isTerminal of an env': { app: { plugins: [withEnv((env) => ({ ...env, isTerminal: throwError }))] } },
  'close of an env': { app: { plugins: [withEnv((env) => ({ ...env, close: throwError }))] }, done: true },
  'a memory that cannot be opened': {
    behaviour: { memory: 'broken' },
    app: { memories: [{ name: 'broken', open: throwError }] },
  },
  'memory.reset': { behaviour: { memory: 'broken' }, app: { memories: [brokenMemory({ reset: throwError })] } },
  'memory.append': {
    behaviour: { memory: 'broken' },
    app: { memories: [brokenMemory({ append: throwError })] },
    done: true,
  },
  'memory.retrieve': {
    behaviour: modelDecides({ memory: 'broken' }),
    app: { memories: [brokenMemory({ retrieve: throwError })] },
  },
  'memory.evict': {
    behaviour: modelDecides({ memory: 'broken' }),
    app: {
      memories: [brokenMemory({ evict: throwError })],
      model: scriptedModel(({ messages }) => {
        if (messages.length > 1) throw new TirelessError('model_oversize', 'too long')
        return { calls: [{ tool: 'poke' }] }
      }),
    },
  },
  'a parser': {
    behaviour: modelDecides({ parser: 'broken' }),
    app: { parsers: [{ name: 'broken', instructions: () => '', parse: throwError }] },
  },
  'the instructions of a parser': {
    behaviour: modelDecides({ parser: 'broken' }),
    app: { parsers: [{ name: 'broken', instructions: throwError, parse: throwError }] },
  },
  'a model that rejects with a string': {
    behaviour: modelDecides(),
    app: { model: { id: 'm', call: () => Promise.reject('no') } },
  },
  'a model that throws synchronously': { behaviour: modelDecides(), app: { model: { id: 'm', call: throwError } } },
  'the effect of a tool': { tool: { effect: throwError } },
  'a tool': { tool: { run: throwError }, done: true },
  'before of a tool': { tool: { before: throwError }, done: true },
  'settled of a tool': { tool: { settled: throwError }, done: true },
  'teardown of a tool': { tool: { teardown: throwError }, done: true },
  'a critic': { behaviour: { critics: [{ name: 'broken', judge: throwError }] }, done: true },
}

describe('callbacks that throw', () => {
  for (const [what, { behaviour = {}, tool = {}, app: more = {}, done }] of Object.entries(BROKEN))
    test(`case 14: ${what} throws: result, END and trace are complete; the next run is unaffected`, async (t) => {
      const log: string[] = []
      const teardown = async (): Promise<void> => void log.push('down')
      const { app, events } = await openRecordedApp(t, {
        model: scriptedModel([{ calls: [{ tool: 'poke' }] }, { text: 'done' }]),
        behaviours: [
          scriptedBehaviour([pokeDecision, finalAnswer()], behaviour),
          scriptedBehaviour([finalAnswer()], { name: 'sound', tools: ['witness'] }),
        ],
        ...more,
        tools: [
          pokeTool(() => {}, tool),
          pokeTool(() => {}, { name: 'witness', setup: async () => void log.push('up'), teardown }),
        ],
      })
      const result = await runScripted(app)
      assert.deepEqual(
        { status: result.status, hasNoFailureClass: result.failure_class === null },
        { status: done ? 'done' : 'failed', hasNoFailureClass: done === true },
      )
      assert.deepEqual(
        { first: eventNames(events)[0], last: eventNames(events).at(-1) },
        { first: 'INIT start', last: 'END end' },
      )
      if (done)
        assert.ok(!events.some(({ phase }) => phase === 'RECOVER'), 'a run without a failed step has no RECOVER event')
      assert.equal((await runScripted(app, { behaviour: 'sound' })).status, 'done')
      assert.deepEqual(log, ['up', 'down'])
      assert.equal((await manifestOf(app, result.dispatch_id)).status, done ? 'completed' : 'failed')
    })

  test('case 14: the tools of a failed run are torn down', async (t) => {
    const log: string[] = []
    const tool = pokeTool(() => {}, {
      setup: async () => void log.push('up'),
      teardown: async () => void log.push('down'),
    })
    const { app } = await openRecordedApp(t, {
      tools: [tool],
      behaviours: [scriptedBehaviour([pokeDecision], { reduce: throwError })],
    })
    await runScripted(app)
    assert.deepEqual(log, ['up', 'down'])
  })

  test('case 14: a trace that cannot be written does not fail the run', async (t) => {
    const home = freshFolder(t)
    writeFileSync(join(home, 'traces'), 'a file where a folder is expected')
    const { app, events } = await openRecordedApp(t, {
      home,
      behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()])],
    })
    const { status, dispatch_id } = await runScripted(app)
    assert.deepEqual({ status, last: eventNames(events).at(-1) }, { status: 'done', last: 'END end' })
    const trace = await app.run('trace show', { run: dispatch_id })
    assert.equal(trace.manifest.status, 'completed', 'the journal is complete')
    await app.close()
  })
})
