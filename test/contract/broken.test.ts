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

const boom = (): never => {
  throw new Error('boom')
}
/** Asks the model once for a call, then for its answer. */
const asking = (more: Partial<Behaviour> = {}): Partial<Behaviour> => ({ decide: () => undefined, ...more })
const memory = (more: Partial<Memory>) => ({
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
  /** The run comes through all the same. */
  readonly done?: true
}

/** Whatever is handed to the engine, broken; the run of it ends as any other. */
const BROKEN: Readonly<Record<string, Broken>> = {
  initState: { behaviour: { initState: boom } },
  'an initial state that is not data': { behaviour: { initState: () => 1n as unknown as Json } },
  observe: { behaviour: { observe: boom } },
  'an observation in a circle': { behaviour: { observe: () => circular as Json } },
  'an observation that is a function': { behaviour: { observe: () => boom as unknown as Json } },
  decide: { behaviour: { decide: boom } },
  'a promise for a decision': { behaviour: { decide: (async () => finalAnswer()) as unknown as () => undefined } },
  buildSystemPrompt: { behaviour: asking({ buildSystemPrompt: boom }) },
  prepare: { behaviour: asking({ prepare: boom }) },
  buildMemoryQuery: { behaviour: asking({ buildMemoryQuery: boom }) },
  reduce: { behaviour: { reduce: boom } },
  'the schema of the state': { behaviour: { state: { version: 1, schema: z.custom<Json>(boom) } } },
  shouldStop: { behaviour: { shouldStop: boom } },
  'a search': {
    behaviour: {
      decide: () => ({ kind: 'branch', candidates: [pokeDecision] }),
      search: { name: 'lost', score: boom },
    },
  },
  'the end of an env': { app: { plugins: [withEnv((env) => ({ ...env, isTerminal: boom }))] } },
  'the close of an env': { app: { plugins: [withEnv((env) => ({ ...env, close: boom }))] }, done: true },
  'a memory that cannot be opened': {
    behaviour: { memory: 'broken' },
    app: { memories: [{ name: 'broken', open: boom }] },
  },
  'memory.reset': { behaviour: { memory: 'broken' }, app: { memories: [memory({ reset: boom })] } },
  'memory.append': { behaviour: { memory: 'broken' }, app: { memories: [memory({ append: boom })] }, done: true },
  'memory.retrieve': { behaviour: asking({ memory: 'broken' }), app: { memories: [memory({ retrieve: boom })] } },
  'memory.evict': {
    behaviour: asking({ memory: 'broken' }),
    app: {
      memories: [memory({ evict: boom })],
      model: scriptedModel(({ messages }) => {
        if (messages.length > 1) throw new TirelessError('model_oversize', 'too long')
        return { calls: [{ tool: 'poke' }] }
      }),
    },
  },
  'a parser': {
    behaviour: asking({ parser: 'broken' }),
    app: { parsers: [{ name: 'broken', instructions: () => '', parse: boom }] },
  },
  'the instructions of a parser': {
    behaviour: asking({ parser: 'broken' }),
    app: { parsers: [{ name: 'broken', instructions: boom, parse: boom }] },
  },
  'a model that throws a word': { behaviour: asking(), app: { model: { id: 'm', call: () => Promise.reject('no') } } },
  'a model that throws at once': { behaviour: asking(), app: { model: { id: 'm', call: boom } } },
  'the effect of a tool': { tool: { effect: boom } },
  'a tool': { tool: { run: boom }, done: true },
  'what a tool does before': { tool: { before: boom }, done: true },
  'what a tool does when it is settled': { tool: { settled: boom }, done: true },
  'the take-down of a tool': { tool: { teardown: boom }, done: true },
  'a critic': { behaviour: { critics: [{ name: 'broken', judge: boom }] }, done: true },
}

describe('whatever throws', () => {
  for (const [what, { behaviour = {}, tool = {}, app: more = {}, done }] of Object.entries(BROKEN))
    test(`case 14: ${what}: a result, an END, a finished trace, nothing left open; the next run is untouched`, async (t) => {
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
      assert.deepEqual([result.status, result.failure_class === null], [done ? 'done' : 'failed', done === true])
      assert.deepEqual([eventNames(events)[0], eventNames(events).at(-1)], ['INIT start', 'END end'])
      if (done) assert.ok(!events.some(({ phase }) => phase === 'RECOVER'), 'there was nothing to recover from')
      assert.equal((await runScripted(app, { behaviour: 'sound' })).status, 'done')
      assert.deepEqual(log, ['up', 'down'])
      assert.equal((await manifestOf(app, result.dispatch_id)).status, done ? 'completed' : 'failed')
    })

  test('case 14: the tools of a run that fails are taken down', async (t) => {
    const log: string[] = []
    const tool = pokeTool(() => {}, {
      setup: async () => void log.push('up'),
      teardown: async () => void log.push('down'),
    })
    const { app } = await openRecordedApp(t, {
      tools: [tool],
      behaviours: [scriptedBehaviour([pokeDecision], { reduce: boom })],
    })
    await runScripted(app)
    assert.deepEqual(log, ['up', 'down'])
  })

  test('case 14: a trace that cannot be written costs the trace, not the run', async (t) => {
    const home = freshFolder(t)
    writeFileSync(join(home, 'traces'), 'in the way')
    const { app, events } = await openRecordedApp(t, {
      home,
      behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()])],
    })
    const { status, dispatch_id } = await runScripted(app)
    assert.deepEqual([status, eventNames(events).at(-1)], ['done', 'END end'])
    const shown = (await app.run('trace show', { run: dispatch_id })) as { manifest: { status: string } }
    assert.equal(shown.manifest.status, 'completed', 'the journal has it all')
    await app.close()
  })
})
