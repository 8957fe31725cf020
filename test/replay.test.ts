import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { replay } from '../src/commands/replay.ts'
import { TirelessError } from '../src/domain/error.ts'
import type { JournalRecord } from '../src/domain/journal-record.ts'
import { defineBehaviour } from '../src/ports/behaviour.ts'
import { COMPILER_VERSION } from '../src/prompt-compiler/turn-messages.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { advanceUntilDone, freshFolder, openApp, replayIn, runTaskIn } from './support/open-app.ts'
import { calls, countingTool, type ReplayOutput } from './support/replays.ts'

describe('Q17: replay', () => {
  test('makes the same events without a call to model or tools', async (t) => {
    const tool = countingTool()
    const model = scriptedModel([calls(1), calls(2, 13), calls(4, 4), { text: 'done' }])
    const app = await openApp(t, { model, tools: [tool] })
    const { dispatch_id } = await runTaskIn(app)
    const used = { runs: tool.runs, requestCount: model.requests.length }
    const first = await replayIn(app, dispatch_id)
    assert.deepEqual(
      { identical: first.identical, first_divergence: first.first_divergence },
      { identical: true, first_divergence: null },
    )
    assert.ok(first.events > 30, `${first.events} events`)
    assert.deepEqual({ runs: tool.runs, requestCount: model.requests.length }, used)
    assert.deepEqual(await replayIn(app, dispatch_id), first)
  })

  test('repeats provider errors, unusable answers, broken critics, retries and throwing hooks', async (t) => {
    const clock = new FakeClock()
    const busy = new TirelessError('model_unavailable', 'busy')
    let judged = 0
    const model = scriptedModel([
      { ...calls(1), faults: [busy, busy] },
      { calls: [{ tool: 'nothing' }] },
      calls(2),
      { text: 'done' },
      { text: 'really done' },
    ])
    const app = await openApp(t, {
      model,
      clock,
      tools: [countingTool()],
      critics: [
        {
          name: 'breaks',
          judge() {
            throw new Error('a critic broke')
          },
        },
        {
          name: 'once more',
          judge: (_, { decision }) =>
            decision.kind === 'final' && judged++ === 0
              ? { kind: 'retry', instruction: 'say it again' }
              : { kind: 'continue' },
        },
      ],
      hooks: [
        {
          name: 'throws',
          on_after_act() {
            throw new Error('a hook broke')
          },
        },
      ],
    })
    const result = await advanceUntilDone(clock, runTaskIn(app))
    assert.equal(result.answer, 'really done')
    const again = await replayIn(app, result.dispatch_id)
    assert.deepEqual(
      { identical: again.identical, first_divergence: again.first_divergence },
      { identical: true, first_divergence: null },
    )
  })

  test('repeats a step that was cancelled while a critic judged it', async (t) => {
    const clock = new FakeClock()
    const counting = defineBehaviour<{ steps: number }>({
      ...{ name: 'counting', tools: ['count'], buildSystemPrompt: () => 'Count.' },
      initState: () => ({ steps: 0 }),
      reduce: ({ steps }) => ({ steps: steps + 1 }),
    })
    const slow = {
      name: 'slow',
      async judge(): Promise<never> {
        const [dispatch] = (await app.run('queue list', {})).items
        void app.run('queue cancel', { id: dispatch?.dispatch_id ?? '', how: 'immediate' })
        return new Promise(() => {})
      },
    }
    const [model, tools] = [scriptedModel([calls(1), { text: 'done' }]), [countingTool()]]
    const app = await openApp(t, { model, clock, tools, behaviours: [counting], critics: [slow] })
    const { dispatch_id, status } = await advanceUntilDone(clock, runTaskIn(app, 'count', { behaviour: 'counting' }))
    assert.equal(status, 'cancelled')
    const { identical, first_divergence } = await replayIn(app, dispatch_id)
    assert.deepEqual({ identical, first_divergence }, { identical: true, first_divergence: null })
  })

  for (const parser of ['json', 'react', 'xml'])
    for (const memory of ['window', 'summary', 'recall'])
      test(`works with parser ${parser} and memory ${memory}`, async (t) => {
        const finalAnswers = {
          json: '{"answer": "done"}',
          react: 'Final Answer: done',
          xml: '<final_answer>done</final_answer>',
        }
        const call = (n: number): string =>
          ({
            json: `{"action": {"name": "count", "args": {"n": ${n}}}}`,
            react: `Action: count(n=${n})`,
            xml: `<action name="count">{"n": ${n}}</action>`,
          })[parser] ?? ''
        let asked = 0
        const model = scriptedModel(() => {
          asked += 1
          return { text: asked <= 30 ? call(asked) : (finalAnswers[parser as keyof typeof finalAnswers] ?? '') }
        })
        const app = await openApp(t, { model, tools: [countingTool()] })
        const result = await runTaskIn(app, 'count to thirty', { parser, memory })
        assert.deepEqual({ status: result.status, steps: result.steps }, { status: 'done', steps: 31 })
        const again = await replayIn(app, result.dispatch_id)
        assert.deepEqual(
          { identical: again.identical, first_divergence: again.first_divergence },
          { identical: true, first_divergence: null },
        )
      })

  test('reports the first event that differs if the program would now act differently', async (t) => {
    const home = freshFolder(t)
    const behaviour = (stops: number) =>
      defineBehaviour({
        name: 'counter',
        tools: ['count'],
        initState: () => ({ n: 0 }),
        buildSystemPrompt: () => '',
        decide: (state) => {
          const { n } = state as { readonly n: number }
          return n < stops
            ? { kind: 'act', calls: [{ tool: 'count', args: { n } }] }
            : { kind: 'final', answer: 'done' }
        },
        reduce: (state) => ({ n: (state as { readonly n: number }).n + 1 }),
      })
    const before = await openApp(t, { home, tools: [countingTool()], behaviours: [behaviour(3)] })
    const { dispatch_id } = await runTaskIn(before, 'count', { behaviour: 'counter' })
    assert.equal((await replayIn(before, dispatch_id)).identical, true)
    await before.close()
    const after = await openApp(t, { home, tools: [countingTool()], behaviours: [behaviour(2)] })
    const { identical, first_divergence } = await replayIn(after, dispatch_id)
    assert.equal(identical, false)
    const { recorded, replayed } = first_divergence ?? {}
    assert.equal((recorded as { phase: string }).phase, 'DECIDE')
    assert.deepEqual((recorded as { payload: { kind: string } }).payload.kind, 'act')
    assert.deepEqual((replayed as { payload: { kind: string } }).payload.kind, 'final')
  })

  test('with another prompt compiler the request bytes are not compared, but everything else is', async (t) => {
    const app = await openApp(t, { model: scriptedModel([{ text: 'done' }]) })
    const { dispatch_id: run } = await runTaskIn(app)
    const { context } = app
    const replayOf = (change: (record: JournalRecord) => JournalRecord) => {
      const journal = async (id: string): Promise<readonly JournalRecord[]> =>
        (await context.store.journal(id)).map(change)
      const altered = { ...context, store: { ...context.store, journal } }
      const asked = { run, detach: false }
      return replay.run(altered, asked, () => {}) as Promise<Extract<ReplayOutput, { note: string | null }>>
    }
    const withOldCompiler = (record: JournalRecord): JournalRecord =>
      record.kind === 'model_requested' ? { ...record, compiler: 4, digest: 'of then' } : record
    const { identical, note } = await replayOf(withOldCompiler)
    assert.equal(identical, true)
    assert.ok(note?.startsWith(`Recorded with prompt compiler 4; this program has ${COMPILER_VERSION},`), note ?? '')
    const otherAnswer = await replayOf((record) =>
      record.kind === 'run_ended' ? { ...record, answer: 'otherwise' } : withOldCompiler(record),
    )
    assert.equal(otherAnswer.identical, false)
    const sameCompiler = await replayOf((record) =>
      record.kind === 'model_requested' ? { ...record, digest: 'of then' } : record,
    )
    assert.deepEqual({ identical: sameCompiler.identical, note: sameCompiler.note }, { identical: false, note: null })
  })

  test('refuses an unknown run, and changes of setup without --from', async (t) => {
    const app = await openApp(t, { model: scriptedModel([{ text: 'done' }]) })
    const { dispatch_id } = await runTaskIn(app)
    await assert.rejects(replayIn(app, 'nobody'), /no such run/)
    await assert.rejects(app.run('replay', { run: dispatch_id, model: 'other' }), /--from/)
  })
})
