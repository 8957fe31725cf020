import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { ProposedDecision } from '../../src/ports/behaviour.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { fakeBehaviour, fakeTool, PURE, recordsOf, resultsOf } from '../support/fake-tools.ts'
import { openApp, runTaskIn } from '../support/open-app.ts'

/** `look` is pure, `touch` is not; each run logs its start and end, and calls with a higher number end sooner. */
function loggingTools(): { tools: ReturnType<typeof fakeTool>[]; log: string[]; maxRunning: () => number } {
  const log: string[] = []
  let running = 0
  let maxRunning = 0
  const run = async ({ n }: { readonly [name: string]: unknown }) => {
    log.push(`+${n}`)
    running += 1
    maxRunning = Math.max(maxRunning, running)
    for (let i = 0; i < 20 - Number(n); i++) await new Promise(setImmediate)
    running -= 1
    log.push(`-${n}`)
    return `result ${n}`
  }
  const tools = [fakeTool({ name: 'look', effect: PURE, run }), fakeTool({ name: 'touch', run })]
  return { tools, log, maxRunning: () => maxRunning }
}

const callsOf = (tools: readonly string[]) => tools.map((tool, n) => ({ tool, args: { n } }))

async function runAndGetResults(app: App): Promise<string[]> {
  const { session_id, status } = await runTaskIn(app)
  assert.equal(status, 'done')
  return (await resultsOf(app, session_id)).map(({ content }) => content)
}

describe('several calls in one step', () => {
  test('case 30, Q9: adjacent pure calls run in parallel, others alone; results keep the call order', async (t) => {
    const { tools, log } = loggingTools()
    const calls = callsOf(['look', 'look', 'touch', 'touch', 'look', 'look'])
    const model = scriptedModel([{ calls }, { text: 'done' }])
    const results = await runAndGetResults(await openApp(t, { model, tools }))
    assert.deepEqual(log, ['+0', '+1', '-1', '-0', '+2', '-2', '+3', '-3', '+4', '+5', '-5', '-4'])
    assert.deepEqual(
      results,
      [0, 1, 2, 3, 4, 5].map((n) => `result ${n}`),
    )
    assert.deepEqual(
      model.requests[1]?.messages.slice(-6).map((message) => message.role === 'tool' && message.text),
      [0, 1, 2, 3, 4, 5].map((n) => `result ${n}`),
    )
  })

  test('case 30: at most four calls run at the same time', async (t) => {
    const { tools, log, maxRunning } = loggingTools()
    const calls = callsOf(Array.from({ length: 10 }, () => 'look'))
    const results = await runAndGetResults(
      await openApp(t, { model: scriptedModel([{ calls }, { text: 'done' }]), tools }),
    )
    assert.deepEqual(
      { maxRunning: maxRunning(), resultCount: results.length, logCount: log.length },
      { maxRunning: 4, resultCount: 10, logCount: 20 },
    )
  })

  test('I4: all intents of a parallel group are on disk before its first call runs', async (t) => {
    const onDisk: number[] = []
    const look = fakeTool({
      name: 'look',
      effect: PURE,
      run: async () => {
        const { items } = await app.run('sessions list', {})
        onDisk.push((await recordsOf(app, items[0]?.session_id ?? '', 'call_intended')).length)
        return 'seen'
      },
    })
    const calls = callsOf(['look', 'look', 'look'])
    const app = await openApp(t, { model: scriptedModel([{ calls }, { text: 'done' }]), tools: [look] })
    await runAndGetResults(app)
    assert.deepEqual(onDisk, [3, 3, 3])
  })

  test('case 31: with failFast, calls after a failed one are not started', async (t) => {
    for (const [failFast, statuses] of [
      [true, ['ok', 'error', 'not_started', 'not_started']],
      [false, ['ok', 'error', 'ok', 'ok']],
    ] as const) {
      const touch = fakeTool({ name: 'touch', run: ({ n }) => (n === 1 ? { status: 'error', content: 'no' } : 'yes') })
      const look = fakeTool({ name: 'look', effect: PURE })
      const decision: ProposedDecision = { kind: 'act', calls: callsOf(['touch', 'touch', 'look', 'touch']), failFast }
      const own = fakeBehaviour({
        tools: ['touch', 'look'],
        initState: () => 0,
        decide: (state) => (state === 0 ? decision : { kind: 'final', answer: 'done' }),
        reduce: () => 1,
      })
      const app = await openApp(t, { behaviours: [own], tools: [touch, look] })
      const { session_id } = await runTaskIn(app, 'x', { behaviour: 'own' })
      assert.deepEqual(
        (await resultsOf(app, session_id)).map(({ status }) => status),
        statuses,
      )
      assert.equal(touch.receivedArgs.length + look.receivedArgs.length, failFast ? 2 : 4)
      const intents = await recordsOf(app, session_id, 'call_intended')
      assert.equal(intents.length, failFast ? 2 : 4, 'a call that was not started has no intent')
    }
  })

  test('case 31: calls that run in parallel with a failing one are finished', async (t) => {
    const look = fakeTool({
      name: 'look',
      effect: PURE,
      run: async ({ n }) => {
        if (n === 0) throw new Error('no')
        for (let i = 0; i < 5; i++) await new Promise(setImmediate)
        return 'seen'
      },
    })
    const decision: ProposedDecision = {
      kind: 'act',
      calls: callsOf(['look', 'look', 'look', 'look', 'look']),
      failFast: true,
    }
    let decideCalls = 0
    const own = fakeBehaviour({
      tools: ['look'],
      decide: () => (decideCalls++ === 0 ? decision : { kind: 'final', answer: 'done' }),
    })
    const app = await openApp(t, { behaviours: [own], tools: [look] })
    const { session_id } = await runTaskIn(app, 'x', { behaviour: 'own' })
    const statuses = (await resultsOf(app, session_id)).map(({ status }) => status)
    assert.deepEqual(statuses, ['error', 'ok', 'ok', 'ok', 'not_started'])
  })

  test('case 55: one invalid call keeps all calls of the step from running', async (t) => {
    const { tools, log } = loggingTools()
    const calls = [...callsOf(['look', 'touch']), { tool: 'touch', args: '{"n": ' }]
    const model = scriptedModel([{ calls }, { text: 'done' }])
    const app = await openApp(t, { model, tools })
    const { session_id } = await runTaskIn(app)
    assert.deepEqual({ log, records: await recordsOf(app, session_id, 'call_intended') }, { log: [], records: [] })
    assert.deepEqual(
      (await resultsOf(app, session_id)).map(({ status, content }) => ({
        status,
        hasWasInvalid: content.includes('was invalid'),
      })),
      [
        { status: 'error', hasWasInvalid: true },
        { status: 'error', hasWasInvalid: true },
        { status: 'error', hasWasInvalid: false },
      ],
    )
  })
})
