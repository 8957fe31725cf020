import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CallResult } from '../../src/domain/decision.ts'
import type { Effect } from '../../src/domain/effect.ts'
import type { ProposedCall } from '../../src/ports/behaviour.ts'
import type { ToolContext } from '../../src/ports/tool.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import {
  fakeBehaviour,
  fakeTool,
  type RecordingTool,
  recordsOf,
  resultsOf,
  untilAborted,
} from '../support/fake-tools.ts'
import { advanceUntilDone, openApp, runTaskIn } from '../support/open-app.ts'

const never = (): Promise<never> => new Promise(() => {})
const IDEMPOTENT: Effect = { recovery: 'idempotent', reach: 'workspace' }
const ONCE: Effect = { recovery: 'once', reach: 'workspace' }

describe('a call that takes too long', () => {
  /** One call of `tool`: what came of it, and after how long. */
  async function called(
    t: Parameters<typeof openApp>[0],
    tool: RecordingTool,
    more: Partial<ProposedCall> = {},
  ): Promise<{ result: CallResult | undefined; ms: number }> {
    const clock = new FakeClock()
    const own = fakeBehaviour({
      tools: ['poke'],
      initState: () => 0,
      decide: (state) =>
        state === 0 ? { kind: 'act', calls: [{ tool: 'poke', ...more }] } : { kind: 'final', answer: 'done' },
      reduce: () => 1,
    })
    // From when it begins: how long the disk took before that, while the clock went on, is nothing of its own.
    let began = 0
    const { run } = tool
    const timed = Object.assign(tool, {
      run(...given: Parameters<typeof run>): ReturnType<typeof run> {
        began = clock.now()
        return run.apply(tool, given)
      },
    })
    const app = await openApp(t, { clock, behaviours: [own], tools: [timed] })
    const { session_id, status } = await advanceUntilDone(clock, runTaskIn(app, 'x', { behaviour: 'own' }))
    assert.equal(status, 'done')
    const [settled] = await recordsOf(app, session_id, 'call_settled')
    return { result: settled?.result, ms: (settled?.ts ?? 0) - began }
  }

  test('case 29: after the time of its tool it is told to stop; one that heeds it is over, and the result says so', async (t) => {
    const { result, ms } = await called(t, fakeTool({ timeoutMs: 5000, run: untilAborted }))
    assert.deepEqual([result?.status, ms], ['timed_out', 5000])
    assert.match(result?.content ?? '', /stopped as asked/)
    assert.match(result?.content ?? '', /after its time limit of 5000 ms; its result was/)
  })

  test('case 29: one that does not heed it is left behind, and the result says that it may still be running', async (t) => {
    const { result, ms } = await called(t, fakeTool({ timeoutMs: 5000, run: never }))
    assert.deepEqual([result?.status, ms], ['timed_out', 7000])
    assert.match(result?.content ?? '', /may still be running/)
  })

  test("case 29: the call's own time beats the tool's, in either direction", async (t) => {
    const short = await called(t, fakeTool({ timeoutMs: 60_000, run: untilAborted }), { timeoutMs: 1000 })
    assert.deepEqual([short.result?.status, short.ms], ['timed_out', 1000])
    const long = await called(t, fakeTool({ timeoutMs: 1000, run: untilAborted }), { timeoutMs: 60_000 })
    assert.deepEqual([long.result?.status, long.ms], ['timed_out', 60_000])
  })

  test('case 29: a call in time is none the wiser', async (t) => {
    const { result, ms } = await called(t, fakeTool({ timeoutMs: 5000, run: (_, { clock }) => clock.sleep(4999) }))
    assert.deepEqual([result?.status, ms], ['ok', 4999])
  })

  test('B5: a result that comes when its time is up is not ok, whatever it says; its words and its label are kept', async (t) => {
    const facts = { label: { trust: 'untrusted', private: false } }
    const late =
      (result: CallResult) =>
      async (_: unknown, { signal }: ToolContext) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return result
      }
    for (const status of ['ok', 'error', 'interrupted'] as const) {
      const tool = fakeTool({ timeoutMs: 5000, run: late({ status, content: 'the page', facts }) })
      const { result, ms } = await called(t, tool)
      assert.deepEqual([result?.status, result?.facts, ms], ['timed_out', facts, 5000], status)
      assert.match(result?.content ?? '', /time limit of 5000 ms.*the page/)
    }
  })

  test('B5: one that comes late and does not know what became of it stays unknown, and is treated so', async (t) => {
    const run = async (_: unknown, { signal }: ToolContext): Promise<CallResult> => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return { status: 'unknown', content: 'its server died' }
    }
    const { result } = await called(t, fakeTool({ timeoutMs: 5000, effect: ONCE, run }))
    assert.equal(result?.status, 'unknown')
    assert.match(result?.content ?? '', /its server died/)
  })

  test('case 29: it is not run again, however harmless that would be', async (t) => {
    for (const run of [untilAborted, never]) {
      const tool = fakeTool({ timeoutMs: 1000, maxRetries: 5, effect: IDEMPOTENT, run })
      assert.equal((await called(t, tool)).result?.status, 'timed_out')
      assert.equal(tool.receivedArgs.length, 1)
    }
  })

  test('case 29: the timeout is on record with the intent, for whoever goes on after a crash', async (t) => {
    const clock = new FakeClock()
    let asked = 0
    const own = fakeBehaviour({
      tools: ['poke'],
      decide: () =>
        asked++ === 0 ? { kind: 'act', calls: [{ tool: 'poke', timeoutMs: 1000 }] } : { kind: 'final', answer: 'done' },
    })
    const app = await openApp(t, { clock, behaviours: [own], tools: [fakeTool()] })
    const { session_id } = await advanceUntilDone(clock, runTaskIn(app, 'x', { behaviour: 'own' }))
    const [intended] = await recordsOf(app, session_id, 'call_intended')
    assert.equal(intended?.call.timeoutMs, 1000)
  })
})

describe('a call that fails', () => {
  /** A tool that throws so many times before it works, and the keys it was called under. */
  async function failing(t: Parameters<typeof openApp>[0], effect: Effect, maxRetries: number, failures: number) {
    const keys: string[] = []
    const tool = fakeTool({
      effect,
      maxRetries,
      run: (_, { call }) => {
        keys.push(call)
        if (keys.length <= failures) throw new Error(`failure ${keys.length}`)
        return 'at last'
      },
    })
    let asked = 0
    const own = fakeBehaviour({
      tools: ['poke'],
      decide: () => (asked++ === 0 ? { kind: 'act', calls: [{ tool: 'poke' }] } : { kind: 'final', answer: 'done' }),
    })
    const app = await openApp(t, { behaviours: [own], tools: [tool] })
    const { session_id } = await runTaskIn(app, 'x', { behaviour: 'own' })
    const intents = await recordsOf(app, session_id, 'call_intended')
    return { keys, intents: intents.length, results: await resultsOf(app, session_id), session_id }
  }

  test('case 33: an idempotent one is run again, up to its limit, each time under the same key', async (t) => {
    const { keys, intents, results, session_id } = await failing(t, IDEMPOTENT, 2, 2)
    assert.deepEqual(
      keys,
      Array.from({ length: 3 }, () => `${session_id}.1.0`),
    )
    assert.deepEqual([intents, results.map(({ status, content }) => [status, content])], [1, [['ok', 'at last']]])
  })

  test('case 33: beyond its limit its last failure is the result', async (t) => {
    const { keys, results } = await failing(t, IDEMPOTENT, 2, 9)
    assert.equal(keys.length, 3)
    assert.match(results[0]?.content ?? '', /failure 3/)
  })

  test('case 33: any other is run once, whatever its tool would allow', async (t) => {
    for (const effect of [ONCE, { recovery: 'reconcilable', reach: 'workspace' }] as const) {
      const { keys, results } = await failing(t, effect, 5, 9)
      assert.deepEqual([keys.length, results.map(({ status }) => status)], [1, ['error']])
    }
  })

  test('case 33: an error that is a result is for the model, and no reason to run it again', async (t) => {
    const tool = fakeTool({
      effect: IDEMPOTENT,
      maxRetries: 5,
      run: () => ({ status: 'error', content: 'no such file' }),
    })
    let asked = 0
    const own = fakeBehaviour({
      tools: ['poke'],
      decide: () => (asked++ === 0 ? { kind: 'act', calls: [{ tool: 'poke' }] } : { kind: 'final', answer: 'done' }),
    })
    await runTaskIn(await openApp(t, { behaviours: [own], tools: [tool] }), 'x', { behaviour: 'own' })
    assert.equal(tool.receivedArgs.length, 1)
  })
})
