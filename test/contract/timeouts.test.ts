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

describe('calls that exceed their time limit', () => {
  /** Runs one call of `tool`; returns its result and its duration. */
  async function runCall(
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
    // Measured from the start of run(): the clock also advances during disk writes before it.
    let startedAt = 0
    const { run } = tool
    const timed = Object.assign(tool, {
      run(...given: Parameters<typeof run>): ReturnType<typeof run> {
        startedAt = clock.now()
        return run.apply(tool, given)
      },
    })
    const app = await openApp(t, { clock, behaviours: [own], tools: [timed] })
    const { session_id, status } = await advanceUntilDone(clock, runTaskIn(app, 'x', { behaviour: 'own' }))
    assert.equal(status, 'done')
    const [settled] = await recordsOf(app, session_id, 'call_settled')
    return { result: settled?.result, ms: (settled?.ts ?? 0) - startedAt }
  }

  test('case 29: a call is aborted at the time limit of its tool; the result says so', async (t) => {
    const { result, ms } = await runCall(t, fakeTool({ timeoutMs: 5000, run: untilAborted }))
    assert.deepEqual({ status: result?.status, ms }, { status: 'timed_out', ms: 5000 })
    assert.match(result?.content ?? '', /stopped by the signal/)
    assert.match(result?.content ?? '', /after its time limit of 5000 ms; its result was/)
  })

  test('case 29: the result of a call that ignores its signal says that it may still be running', async (t) => {
    const { result, ms } = await runCall(t, fakeTool({ timeoutMs: 5000, run: never }))
    assert.deepEqual({ status: result?.status, ms }, { status: 'timed_out', ms: 7000 })
    assert.match(result?.content ?? '', /may still be running/)
  })

  test("case 29: the call's time limit overrides the tool's, shorter or longer", async (t) => {
    const short = await runCall(t, fakeTool({ timeoutMs: 60_000, run: untilAborted }), { timeoutMs: 1000 })
    assert.deepEqual({ status: short.result?.status, ms: short.ms }, { status: 'timed_out', ms: 1000 })
    const long = await runCall(t, fakeTool({ timeoutMs: 1000, run: untilAborted }), { timeoutMs: 60_000 })
    assert.deepEqual({ status: long.result?.status, ms: long.ms }, { status: 'timed_out', ms: 60_000 })
  })

  test('case 29: a call within its time limit is not affected', async (t) => {
    const { result, ms } = await runCall(t, fakeTool({ timeoutMs: 5000, run: (_, { clock }) => clock.sleep(4999) }))
    assert.deepEqual({ status: result?.status, ms }, { status: 'ok', ms: 4999 })
  })

  test('a late result is timed_out; its content and label are kept', async (t) => {
    const facts = { label: { trust: 'untrusted', private: false } }
    const late =
      (result: CallResult) =>
      async (_: unknown, { signal }: ToolContext) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return result
      }
    for (const status of ['ok', 'error', 'interrupted'] as const) {
      const tool = fakeTool({ timeoutMs: 5000, run: late({ status, content: 'the page', facts }) })
      const { result, ms } = await runCall(t, tool)
      assert.deepEqual(
        { status: result?.status, facts: result?.facts, ms },
        { status: 'timed_out', facts, ms: 5000 },
        status,
      )
      assert.match(result?.content ?? '', /time limit of 5000 ms.*the page/)
    }
  })

  test('a late result with status unknown stays unknown', async (t) => {
    const run = async (_: unknown, { signal }: ToolContext): Promise<CallResult> => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return { status: 'unknown', content: 'the server died' }
    }
    const { result } = await runCall(t, fakeTool({ timeoutMs: 5000, effect: ONCE, run }))
    assert.equal(result?.status, 'unknown')
    assert.match(result?.content ?? '', /the server died/)
  })

  test('case 29: a timed-out call is not retried, even if idempotent', async (t) => {
    for (const run of [untilAborted, never]) {
      const tool = fakeTool({ timeoutMs: 1000, maxRetries: 5, effect: IDEMPOTENT, run })
      assert.equal((await runCall(t, tool)).result?.status, 'timed_out')
      assert.equal(tool.receivedArgs.length, 1)
    }
  })

  test('case 29: the intent records the time limit, so that recovery knows it', async (t) => {
    const clock = new FakeClock()
    let decideCalls = 0
    const own = fakeBehaviour({
      tools: ['poke'],
      decide: () =>
        decideCalls++ === 0
          ? { kind: 'act', calls: [{ tool: 'poke', timeoutMs: 1000 }] }
          : { kind: 'final', answer: 'done' },
    })
    const app = await openApp(t, { clock, behaviours: [own], tools: [fakeTool()] })
    const { session_id } = await advanceUntilDone(clock, runTaskIn(app, 'x', { behaviour: 'own' }))
    const [intended] = await recordsOf(app, session_id, 'call_intended')
    assert.equal(intended?.call.timeoutMs, 1000)
  })
})

describe('calls that throw', () => {
  /** Runs a tool that throws `failures` times before it succeeds; `keys` are its idempotency keys. */
  async function runFailingCall(
    t: Parameters<typeof openApp>[0],
    effect: Effect,
    maxRetries: number,
    failures: number,
  ) {
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
    let decideCalls = 0
    const own = fakeBehaviour({
      tools: ['poke'],
      decide: () =>
        decideCalls++ === 0 ? { kind: 'act', calls: [{ tool: 'poke' }] } : { kind: 'final', answer: 'done' },
    })
    const app = await openApp(t, { behaviours: [own], tools: [tool] })
    const { session_id } = await runTaskIn(app, 'x', { behaviour: 'own' })
    const intents = await recordsOf(app, session_id, 'call_intended')
    return { keys, intents: intents.length, results: await resultsOf(app, session_id), session_id }
  }

  test('case 33: an idempotent call is retried up to maxRetries, always under the same key', async (t) => {
    const { keys, intents, results, session_id } = await runFailingCall(t, IDEMPOTENT, 2, 2)
    assert.deepEqual(
      keys,
      Array.from({ length: 3 }, () => `${session_id}.1.0`),
    )
    assert.deepEqual(
      { intents, results: results.map(({ status, content }) => [status, content]) },
      { intents: 1, results: [['ok', 'at last']] },
    )
  })

  test('case 33: after the last retry the result is the last failure', async (t) => {
    const { keys, results } = await runFailingCall(t, IDEMPOTENT, 2, 9)
    assert.equal(keys.length, 3)
    assert.match(results[0]?.content ?? '', /failure 3/)
  })

  test('case 33: calls that are not idempotent are never retried', async (t) => {
    for (const effect of [ONCE, { recovery: 'reconcilable', reach: 'workspace' }] as const) {
      const { keys, results } = await runFailingCall(t, effect, 5, 9)
      assert.deepEqual(
        { keyCount: keys.length, statuses: results.map(({ status }) => status) },
        { keyCount: 1, statuses: ['error'] },
      )
    }
  })

  test('case 33: a result with status error goes to the model without a retry', async (t) => {
    const tool = fakeTool({
      effect: IDEMPOTENT,
      maxRetries: 5,
      run: () => ({ status: 'error', content: 'no such file' }),
    })
    let decideCalls = 0
    const own = fakeBehaviour({
      tools: ['poke'],
      decide: () =>
        decideCalls++ === 0 ? { kind: 'act', calls: [{ tool: 'poke' }] } : { kind: 'final', answer: 'done' },
    })
    await runTaskIn(await openApp(t, { behaviours: [own], tools: [tool] }), 'x', { behaviour: 'own' })
    assert.equal(tool.receivedArgs.length, 1)
  })
})
