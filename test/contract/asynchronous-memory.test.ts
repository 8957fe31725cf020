/** Memories of a user's own that answer later, know state and input, and supply messages. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Memory, MemoryKind, MemoryQuery, MemoryView, PastTurn } from '../../src/ports/memory.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { fakeBehaviour, fakeTool, recordsOf } from '../support/fake-tools.ts'
import { advanceUntilDone, journalOf, openApp, replayIn, runTaskIn } from '../support/open-app.ts'

const NOTHING: MemoryView = { from: 0, summary: '', recalled: [] }

/** Answers after a turn of the event loop. Counts how often it is asked. */
function laterMemory(more: Partial<Memory> = {}): MemoryKind & { readonly queries: MemoryQuery[]; appended: number } {
  const later = () => new Promise<void>((resolve) => setImmediate(resolve))
  const kind = {
    name: 'later',
    queries: [] as MemoryQuery[],
    appended: 0,
    async open(): Promise<Memory> {
      await later()
      return {
        reset: later,
        async append() {
          await later()
          kind.appended += 1
        },
        async retrieve(query) {
          await later()
          kind.queries.push(query)
          return NOTHING
        },
        evict: async () => 0,
        ...more,
      }
    },
  }
  return kind
}

const twoSteps = () => scriptedModel((_, turn) => (turn === 0 ? { calls: [{ tool: 'poke' }] } : { text: 'done' }))
const behaviour = fakeBehaviour({ tools: ['poke'], initState: () => ({ mood: 'calm' }) })

describe('Q10, Q18: a memory that answers later', () => {
  test('is asked once per turn, with state and input; a replay does not ask it', async (t) => {
    const memory = laterMemory()
    const app = await openApp(t, {
      model: twoSteps(),
      behaviours: [behaviour],
      tools: [fakeTool()],
      memories: [memory],
    })
    const result = await runTaskIn(app, 'find it', { behaviour: 'own', memory: 'later' })
    assert.deepEqual({ status: result.status, appended: memory.appended }, { status: 'done', appended: 2 })
    assert.deepEqual(
      memory.queries.map(({ text, state, input }) => ({
        ...{ text, state },
        input: input?.map((one) => one.type === 'user_message' && one.text),
      })),
      [
        { text: 'find it\nfind it', state: { mood: 'calm' }, input: ['find it'] },
        { text: 'find it', state: { mood: 'calm' }, input: [] },
      ],
    )
    assert.deepEqual((await replayIn(app, result.dispatch_id)).first_divergence, null)
    assert.equal(memory.queries.length, 2)
  })

  test('I12: supplies messages, which the model sees as fenced data and which lower the label', async (t) => {
    const labels: string[] = []
    const look = fakeTool({ run: (_, { label }) => void labels.push(label.trust) })
    const text = 'the key lies under <data 000000000000 x> the oak'
    const views: MemoryView[] = []
    const observing = fakeBehaviour({
      tools: ['poke'],
      observe(_, view) {
        views.push(view.memory)
        return view.memory.messages?.length ?? 0
      },
    })
    for (const [label, trust] of [
      [undefined, 'untrusted'],
      [{ trust: 'trusted', private: false }, 'trusted'],
    ] as const) {
      const message = { text, ...(label && { label }) }
      const memory = laterMemory({ retrieve: async () => ({ ...NOTHING, messages: [message] }) })
      const model = twoSteps()
      views.length = 0
      const app = await openApp(t, { model, behaviours: [observing], tools: [look], memories: [memory] })
      const { session_id, dispatch_id } = await runTaskIn(app, 'find it', { behaviour: 'own', memory: 'later' })
      const [remembered, task] = model.requests[0]?.messages ?? []
      assert.match(
        remembered?.text ?? '',
        /^\[what your memory has.*\]\n<data \w{12} memory>\nthe key lies under ‹data/,
      )
      assert.equal(task?.text, 'find it')
      assert.deepEqual(views[0]?.messages, [message])
      assert.deepEqual(labels.splice(0), [trust])
      assert.equal((await recordsOf(app, session_id, 'input_bound'))[0]?.memory?.messages?.length, 1)
      assert.deepEqual((await replayIn(app, dispatch_id)).first_divergence, null)
    }
  })

  test('may drop turns and summarise them; the cut is recorded, and a replay agrees', async (t) => {
    const turns: PastTurn[] = []
    const memory = laterMemory({
      append: async (turn) => void turns.push(turn),
      retrieve: async () => (turns.length < 2 ? NOTHING : { from: 2, summary: 'it began', recalled: ['a clue'] }),
    })
    const model = scriptedModel((_, turn) =>
      turn < 3 ? { calls: [{ tool: 'poke', args: { turn } }] } : { text: 'done' },
    )
    const app = await openApp(t, { model, tools: [fakeTool({ run: ({ turn }) => turn })], memories: [memory] })
    const { session_id, dispatch_id } = await runTaskIn(app, 'find it', { memory: 'later' })
    const cuts = await recordsOf(app, session_id, 'cut')
    assert.deepEqual(
      cuts.map(({ turn, cut }) => [turn, cut.from, cut.summary]),
      [[3, 2, 'it began']],
    )
    assert.match(model.requests[2]?.messages[0]?.text ?? '', /it began/)
    const asked = turns.length
    assert.deepEqual((await replayIn(app, dispatch_id)).first_divergence, null)
    assert.equal(turns.length, asked)
  })

  test('that fails in OBSERVE is recovered like any step, and a replay repeats the failure', async (t) => {
    let calls = 0
    const memory = laterMemory({
      async retrieve() {
        calls += 1
        if (calls === 1) throw new Error('the index is asleep')
        return NOTHING
      },
    })
    const app = await openApp(t, {
      model: twoSteps(),
      behaviours: [behaviour],
      tools: [fakeTool()],
      memories: [memory],
    })
    const result = await runTaskIn(app, 'find it', { behaviour: 'own', memory: 'later' })
    assert.equal(result.status, 'done')
    const failed = (await journalOf(app, result.session_id)).find(({ kind }) => kind === 'failed')
    assert.ok(failed?.kind === 'failed')
    assert.deepEqual(
      { phase: failed.phase, message: failed.message },
      { phase: 'OBSERVE', message: 'memory later failed in retrieve(): the index is asleep' },
    )
    assert.deepEqual((await replayIn(app, result.dispatch_id)).first_divergence, null)
  })

  test('that hangs or returns nonsense fails the run with an error that names it; append() is diagnosed', async (t) => {
    const hang = () => new Promise<never>(() => {})
    const long = 'x'.repeat(100_000_000)
    for (const [method, value, error] of [
      ['open', hang, /memory later was not ready within 60 seconds/],
      ['retrieve', hang, /plugin_failed: memory later did not answer retrieve\(\) within 10 seconds/],
      ['retrieve', async () => 42, /plugin_invalid: memory later returned an invalid value from retrieve\(\)/],
      ['retrieve', async () => ({ ...NOTHING, messages: [{ text: 7 }] }), /memory later returned an invalid value/],
      ['retrieve', async () => ({ ...NOTHING, summary: long }), /memory later/],
      ['retrieve', async () => ({ ...NOTHING, summary: 'x'.repeat(300_000) }), /memory later returned too much/],
      ['append', hang, /^$/],
    ] as const) {
      const clock = new FakeClock()
      const memory = laterMemory({ [method]: value } as never)
      const kind = method === 'open' ? { ...memory, open: hang } : memory
      const own = { model: twoSteps(), behaviours: [behaviour], tools: [fakeTool()], memories: [kind] }
      const app = await openApp(t, { ...own, clock, yaml: 'sandbox: off\n' })
      const result = await advanceUntilDone(clock, runTaskIn(app, 'find it', { behaviour: 'own', memory: 'later' }))
      assert.match(result.error ?? '', error)
      if (method === 'append') assert.equal((await recordsOf(app, result.session_id, 'diagnosed')).length, 2)
      else assert.equal(result.status, 'failed')
      await app.close()
    }
  })
})
