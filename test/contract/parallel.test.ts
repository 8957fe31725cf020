import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { ProposedDecision } from '../../src/ports/behaviour.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { fakeBehaviour, fakeTool, PURE, recordsOf, resultsOf } from '../support/fake-tools.ts'
import { openApp, runTaskIn } from '../support/open-app.ts'

/** `look` changes nothing, `touch` does; each writes when it begins and ends, and ends when the next turn of the loop has come. */
function hands(): { tools: ReturnType<typeof fakeTool>[]; log: string[]; most: () => number } {
  const log: string[] = []
  let now = 0
  let most = 0
  const run = async ({ n }: { readonly [name: string]: unknown }) => {
    log.push(`+${n}`)
    now += 1
    most = Math.max(most, now)
    // The later it was asked for, the sooner it ends.
    for (let i = 0; i < 20 - Number(n); i++) await new Promise(setImmediate)
    now -= 1
    log.push(`-${n}`)
    return `result ${n}`
  }
  const tools = [fakeTool({ name: 'look', effect: PURE, run }), fakeTool({ name: 'touch', run })]
  return { tools, log, most: () => most }
}

const batch = (tools: readonly string[]) => tools.map((tool, n) => ({ tool, args: { n } }))

async function ran(app: App): Promise<string[]> {
  const { session_id, status } = await runTaskIn(app)
  assert.equal(status, 'done')
  return (await resultsOf(app, session_id)).map(({ content }) => content)
}

describe('several calls in one step', () => {
  test('case 30, Q9: neighbours that change nothing run side by side; anything else is a barrier; results in call order', async (t) => {
    const { tools, log } = hands()
    const calls = batch(['look', 'look', 'touch', 'touch', 'look', 'look'])
    const model = scriptedModel([{ calls }, { text: 'done' }])
    const results = await ran(await openApp(t, { model, tools }))
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

  test('case 30: at most four at once', async (t) => {
    const { tools, log, most } = hands()
    const calls = batch(Array.from({ length: 10 }, () => 'look'))
    const results = await ran(await openApp(t, { model: scriptedModel([{ calls }, { text: 'done' }]), tools }))
    assert.deepEqual([most(), results.length, log.length], [4, 10, 20])
  })

  test('I4: all intents of a group are on disk before the first of it moves', async (t) => {
    const onDisk: number[] = []
    const look = fakeTool({
      name: 'look',
      effect: PURE,
      run: async () => {
        const { items } = (await app.run('sessions list', {})) as { items: { session_id: string }[] }
        onDisk.push((await recordsOf(app, items[0]?.session_id ?? '', 'call_intended')).length)
        return 'seen'
      },
    })
    const calls = batch(['look', 'look', 'look'])
    const app = await openApp(t, { model: scriptedModel([{ calls }, { text: 'done' }]), tools: [look] })
    await ran(app)
    assert.deepEqual(onDisk, [3, 3, 3])
  })

  test('case 31: fail_fast: what has not begun when one fails is left alone, and labelled so', async (t) => {
    for (const [failFast, statuses] of [
      [true, ['ok', 'error', 'not_started', 'not_started']],
      [false, ['ok', 'error', 'ok', 'ok']],
    ] as const) {
      const touch = fakeTool({ name: 'touch', run: ({ n }) => (n === 1 ? { status: 'error', content: 'no' } : 'yes') })
      const look = fakeTool({ name: 'look', effect: PURE })
      const wish: ProposedDecision = { kind: 'act', calls: batch(['touch', 'touch', 'look', 'touch']), failFast }
      const own = fakeBehaviour({
        tools: ['touch', 'look'],
        initState: () => 0,
        decide: (state) => (state === 0 ? wish : { kind: 'final', answer: 'done' }),
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
      assert.equal(intents.length, failFast ? 2 : 4, 'no intent of what was not started')
    }
  })

  test('case 31: what runs beside the one that fails comes to its end', async (t) => {
    const look = fakeTool({
      name: 'look',
      effect: PURE,
      run: async ({ n }) => {
        if (n === 0) throw new Error('no')
        for (let i = 0; i < 5; i++) await new Promise(setImmediate)
        return 'seen'
      },
    })
    const wish: ProposedDecision = {
      kind: 'act',
      calls: batch(['look', 'look', 'look', 'look', 'look']),
      failFast: true,
    }
    let asked = 0
    const own = fakeBehaviour({
      tools: ['look'],
      decide: () => (asked++ === 0 ? wish : { kind: 'final', answer: 'done' }),
    })
    const app = await openApp(t, { behaviours: [own], tools: [look] })
    const { session_id } = await runTaskIn(app, 'x', { behaviour: 'own' })
    const statuses = (await resultsOf(app, session_id)).map(({ status }) => status)
    assert.deepEqual(statuses, ['error', 'ok', 'ok', 'ok', 'not_started'])
  })

  test('case 55: all calls of a step are judged before any of them runs: one that may not, and none has run', async (t) => {
    const { tools, log } = hands()
    const calls = [...batch(['look', 'touch']), { tool: 'touch', args: '{"n": ' }]
    const model = scriptedModel([{ calls }, { text: 'done' }])
    const app = await openApp(t, { model, tools })
    const { session_id } = await runTaskIn(app)
    assert.deepEqual([log, await recordsOf(app, session_id, 'call_intended')], [[], []])
    assert.deepEqual(
      (await resultsOf(app, session_id)).map(({ status, content }) => [status, content.includes('was invalid')]),
      [
        ['error', true],
        ['error', true],
        ['error', false],
      ],
    )
  })
})
