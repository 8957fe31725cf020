import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Memory, MemoryKind, MemoryView, PastTurn } from '../../src/ports/memory.ts'
import { type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { fakeBehaviour, fakeTool, recordsOf } from '../support/fake-tools.ts'
import { openApp, runTaskIn } from '../support/open-app.ts'

const STEPS = 30

/** Calls `poke` STEPS times with rising numbers, then answers. */
const lookingModel = (): ScriptedModel =>
  scriptedModel((request) => {
    const turn = Number(/look (\d+)/.exec(lastMessage(request.messages))?.[1] ?? 0)
    return turn < STEPS ? { calls: [{ tool: 'poke', args: { n: turn + 1 } }] } : { text: 'done' }
  })

function lastMessage(messages: readonly { role: string }[]): string {
  return JSON.stringify(messages.at(-1))
}

const lookTool = () =>
  fakeTool({
    run: ({ n }) => (n === 1 ? 'look 1: the treasure lies under the oak' : `look ${n}: nothing but sand`),
  })

describe('the memory view and the request to the model', () => {
  for (const memory of ['whole', 'window', 'summary', 'recall'])
    test(`case 18, Q5, Q10: ${memory}: each request matches the memory view of the behaviour`, async (t) => {
      const views: MemoryView[] = []
      const own = fakeBehaviour({
        tools: ['poke'],
        memory,
        observe: (_, view) => {
          views.push(view.memory)
          return null
        },
        buildMemoryQuery: () => ({ text: 'where is the treasure, under which oak?' }),
      })
      const model = lookingModel()
      const app = await openApp(t, {
        model,
        behaviours: [own],
        tools: [lookTool()],
        yaml: 'budget: { per_dispatch_calls: 99 }',
      })
      const result = await runTaskIn(app, 'find the treasure', { behaviour: 'own' })
      assert.deepEqual({ status: result.status, views: views.length }, { status: 'done', views: STEPS + 1 })
      for (const [i, view] of views.entries()) {
        const sent = model.requests[i]?.messages ?? []
        const firstText = sent[0]?.text ?? ''
        for (const text of [view.summary, ...view.recalled])
          assert.ok(firstText.includes(text), `step ${i + 1}: summary and recalled texts`)
        assert.equal(firstText.includes('left out here'), view.from > 0, `step ${i + 1}: omitted turns are marked`)
        assert.ok(firstText.startsWith('find the treasure'), `step ${i + 1}: the task`)
        const fullTurns = sent.filter(({ role }) => role === 'assistant').length
        assert.equal(fullTurns, i - Math.max(0, view.from - 1), `step ${i + 1}: turns in full`)
      }
      const last = views.at(-1)
      assert.equal((last?.from ?? 0) > 0, memory !== 'whole')
      assert.equal((last?.summary ?? '') !== '', memory === 'summary' || memory === 'recall')
      assert.equal(last?.recalled.some((text) => text.includes('under the oak')) ?? false, memory === 'recall')
    })

  test('Q10: window and whole memory send the same requests until the window first moves', async (t) => {
    const [whole, window] = [lookingModel(), lookingModel()]
    for (const [memory, model] of [
      ['whole', whole],
      ['window', window],
    ] as const)
      await runTaskIn(
        await openApp(t, { model, tools: [lookTool()], yaml: 'budget: { per_dispatch_calls: 99 }' }),
        'find the treasure',
        { memory },
      )
    const divergence = whole.requests.findIndex(
      (request, i) => JSON.stringify(request) !== JSON.stringify(window.requests[i]),
    )
    assert.equal(divergence, 25, 'the window keeps 12 to 24 turns')
    assert.equal(window.requests.length, whole.requests.length)
  })
})

/** Records its calls in order. */
function recordingMemory(log: string[], view: (turns: readonly PastTurn[]) => MemoryView): MemoryKind {
  return {
    name: 'recording',
    open(): Memory {
      log.push('open')
      let turns: PastTurn[] = []
      return {
        reset() {
          log.push('reset')
          turns = []
        },
        append(turn) {
          log.push(`append ${turn.turn}`)
          turns.push(turn)
        },
        retrieve: () => view(turns),
        summarise: () => '',
        evict: () => 0,
      }
    },
  }
}

const EVERYTHING: MemoryView = { from: 0, summary: '', recalled: [] }

describe('Q18: a custom memory', () => {
  test('Q10, case 8: each run opens and resets the memory, then appends each turn once', async (t) => {
    const log: string[] = []
    const model = scriptedModel((_, turn) => (turn === 0 ? { calls: [{ tool: 'poke' }] } : { text: `answer ${turn}` }))
    const app = await openApp(t, { model, tools: [fakeTool()], memories: [recordingMemory(log, () => EVERYTHING)] })
    const own = { memory: 'recording' }
    const first = await runTaskIn(app, 'one', own)
    assert.deepEqual(log.splice(0), ['open', 'reset', 'append 1', 'append 2'])
    await runTaskIn(app, 'another session', own)
    assert.deepEqual(log.splice(0), ['open', 'reset', 'append 1', 'append 2'])
    assert.equal(first.status, 'done')
  })

  test('Q10: a resumed run appends all earlier turns again', async (t) => {
    const log: string[] = []
    const model = scriptedModel([
      { calls: [{ tool: 'poke' }] },
      { calls: [{ tool: 'wait', args: { for: 'message' } }] },
      { text: 'thanks' },
    ])
    const app = await openApp(t, { model, tools: [fakeTool()], memories: [recordingMemory(log, () => EVERYTHING)] })
    const parked = await runTaskIn(app, 'one', { memory: 'recording' })
    log.splice(0)
    await app.run('send', { session: parked.session_id, text: 'here' })
    await app.run('start', { until_idle: true })
    assert.deepEqual(log, ['open', 'reset', 'append 1', 'append 2', 'append 3'])
  })

  test('case 18: a memory cut is recorded once and used until the next cut', async (t) => {
    const view = (turns: readonly PastTurn[]): MemoryView => ({
      from: turns.length < 2 ? 0 : 2,
      summary: turns.length < 2 ? '' : 'summary of the start',
      recalled: [],
    })
    const model = scriptedModel((request) =>
      request.messages.length < 8 && !JSON.stringify(request.messages).includes('call-3')
        ? { calls: [{ tool: 'poke', id: `call-${request.messages.filter(({ role }) => role === 'tool').length}` }] }
        : { text: 'done' },
    )
    const app = await openApp(t, {
      model,
      tools: [fakeTool({ run: (_, { call }) => call })],
      memories: [recordingMemory([], view)],
    })
    const { session_id } = await runTaskIn(app, 'one', { memory: 'recording', max_steps: 5 })
    const cuts = await recordsOf(app, session_id, 'cut')
    assert.deepEqual(
      cuts.map(({ turn, cut }) => ({ turn, from: cut.from, summary: cut.summary })),
      [{ turn: 3, from: 2, summary: 'summary of the start' }],
    )
    assert.match(JSON.stringify(model.requests[2]?.messages[0]), /summary of the start/)
    assert.equal(model.requests[2]?.messages[1]?.role, 'assistant', 'turn 2 follows, without the input of turn 1')
  })

  test('Q10: a memory that fails in append() is diagnosed; the run continues', async (t) => {
    const kind = recordingMemory([], () => EVERYTHING)
    const broken: MemoryKind = {
      name: 'broken',
      open: () => ({
        ...kind.open(),
        append: () => {
          throw new Error('I forget')
        },
      }),
    }
    const model = scriptedModel([{ calls: [{ tool: 'poke' }] }, { text: 'done' }])
    const app = await openApp(t, { model, tools: [fakeTool()], memories: [broken] })
    const result = await runTaskIn(app, 'one', { memory: 'broken' })
    assert.deepEqual(
      { status: result.status, answer: result.answer, steps: result.steps },
      { status: 'done', answer: 'done', steps: 2 },
    )
    const diagnoses = (await recordsOf(app, result.session_id, 'diagnosed')).map(({ about, message }) => [
      about,
      message,
    ])
    assert.deepEqual(diagnoses, [
      ['memory', 'memory broken failed in append(): I forget'],
      ['memory', 'memory broken failed in append(): I forget'],
    ])
  })
})
