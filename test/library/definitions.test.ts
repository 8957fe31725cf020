import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineBehaviour, defineTool, type Effect, runTask } from 'tireless'
import { scriptedModel } from 'tireless/testing'
import { z } from 'zod'
import { freshFolder, openApp, replayIn } from '../support/open-app.ts'

const PURE: Effect = { recovery: 'pure', reach: 'none' }

interface ToolMessage {
  readonly ok: boolean
  readonly text: string
}

/** What the model reads if a tool returns each of the values. */
async function readReturns(home: string, values: readonly unknown[]): Promise<readonly ToolMessage[]> {
  const probe = defineTool({
    ...{ name: 'probe', description: 'Returns something', args: z.object({ nth: z.int() }), effect: PURE },
    run: ({ nth }) => values[nth] as never,
  })
  const calls = values.map((_, nth) => ({ tool: 'probe', args: { nth } }))
  const model = scriptedModel([{ calls }, { text: 'done' }])
  await runTask({ objective: 'probe it', behaviour: 'solo' }, { home, model, tools: [probe] })
  return model.requests[1]?.messages.filter(({ role }) => role === 'tool') as unknown as readonly ToolMessage[]
}

describe('a tool may return data', () => {
  test('a text is read as it is, other data as JSON, a result as a result', async (t) => {
    const DATA: readonly (readonly [unknown, string])[] = [
      ['sunny', 'sunny'],
      [42, '42'],
      [null, 'null'],
      [[1, 'two'], '[1,"two"]'],
      [{ degrees: 21, sky: undefined }, '{"degrees":21}'],
      [{ status: 'shipped', id: 7 }, '{"status":"shipped","id":7}'],
      [{ status: 'ok', data: [] }, '{"status":"ok","data":[]}'],
      [Promise.resolve({ content: 'x' }), '{"content":"x"}'],
      [{ status: 'ok', content: 'plain' }, 'plain'],
      [{ status: 'error', content: 'broken' }, 'broken'],
    ]
    const read = await readReturns(
      freshFolder(t),
      DATA.map(([value]) => value),
    )
    for (const [i, [, text]] of DATA.entries()) assert.ok(read[i]?.text.includes(text), `${i}: ${read[i]?.text}`)
    assert.deepEqual(
      read.map(({ ok }) => ok),
      DATA.map(([, text]) => text !== 'broken'),
    )
  })

  test('what may be meant as a result, and what JSON lacks, is refused by an error with its name', async (t) => {
    const refused = [
      ...[undefined, Number.NaN, new Date(0), () => 1, 10n],
      ...[{ status: 'error' }, { status: 'ok', content: 42 }, { status: 'fine', content: 'x' }],
    ]
    const read = await readReturns(freshFolder(t), refused)
    assert.equal(read.length, refused.length)
    for (const { ok, text } of read) {
      assert.equal(ok, false)
      assert.match(text, /tool_failed: .*tool probe/)
    }
  })
})

describe('Q18: a tool gets what it needs', () => {
  test('the state, frozen, with clock and signal; a plain effect; a replay is identical', async (t) => {
    const seen: unknown[] = []
    const look = defineTool({
      name: 'look',
      description: 'Looks at the state',
      args: z.object({}),
      effect: PURE,
      run(_, { state, clock, signal }) {
        seen.push(state, typeof clock.now(), signal.aborted)
        assert.throws(() => Object.assign(state as object, { steps: 9 }), TypeError)
        return 'seen'
      },
    })
    const counter = defineBehaviour({
      name: 'counter',
      tools: ['look'],
      state: z.object({ steps: z.int() }),
      initState: { steps: 0 },
      decide: ({ steps }) =>
        steps < 2 ? { kind: 'act', calls: [{ tool: 'look' }] } : { kind: 'final', answer: `${steps} steps` },
      reduce: ({ steps }) => ({ steps: steps + 1 }),
    })
    const options = { home: freshFolder(t), tools: [look], behaviours: [counter] }
    const { answer, dispatch_id } = await runTask({ objective: 'count', behaviour: 'counter' }, options)
    assert.deepEqual([answer, seen], ['2 steps', [{ steps: 0 }, 'number', false, { steps: 1 }, 'number', false]])
    assert.equal((await replayIn(await openApp(t, options), dispatch_id)).identical, true)
  })

  test('an effect that is neither is refused when the app is created', async (t) => {
    const bad = { name: 'bad', description: 'x', args: z.object({}), run: () => 'x' }
    for (const effect of [undefined, null, 42])
      await assert.rejects(
        runTask('x', { home: freshFolder(t), tools: [defineTool({ ...bad, effect: effect as never })] }),
        {
          code: 'plugin_invalid',
          message: /^effect: invalid tool bad/,
        },
      )
  })

  test('a behaviour that is defined by its prompt alone asks the model', async (t) => {
    const model = scriptedModel([{ text: 'ahoy' }])
    const pirate = defineBehaviour({ name: 'pirate', buildSystemPrompt: 'You are a pirate.' })
    const options = { home: freshFolder(t), model, behaviours: [pirate] }
    assert.equal((await runTask({ objective: 'greet', behaviour: 'pirate' }, options)).answer, 'ahoy')
    assert.match(model.requests[0]?.system ?? '', /^You are a pirate\./)
  })
})
