/** Cuts of the history with generated content: requests fit, keep the task and pair calls with results. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { App } from '../src/app.ts'
import type { ModelMessage } from '../src/ports/model.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { fakeTool } from './support/fake-tools.ts'
import { cutsIn, KINDS, pokeBehaviour, textOf, tokensOf, yamlWith } from './support/history-fixtures.ts'
import { journalOf, openApp, runTaskIn } from './support/open-app.ts'

interface Scenario {
  readonly results: readonly number[]
  readonly messages: readonly number[]
  readonly answers: number
  readonly memory: (typeof KINDS)[number]
  readonly parser: 'native' | 'json'
}

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  results: fc.array(fc.oneof(fc.nat(200), fc.nat(6000)), { minLength: 1, maxLength: 25 }),
  messages: fc.array(fc.oneof(fc.constant(0), fc.nat(300), fc.nat(9000)), { maxLength: 25 }),
  answers: fc.nat(800),
  memory: fc.constantFrom(...KINDS),
  parser: fc.constantFrom('native', 'json'),
})

const FILLINGS = ['word and word ', '数一数羊 ', '{"a": [1, 2]}, ', '🐑🐑 ']

const fillText = (length: number, seed: number): string =>
  (FILLINGS[seed % FILLINGS.length] as string)
    .repeat(Math.ceil(length / 8))
    .slice(0, length)
    .toWellFormed()

/** Checks that every tool result directly follows the message that called it, and that none is missing. */
function assertPaired(messages: readonly ModelMessage[]): void {
  let pending: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      assert.ok(pending.includes(message.call_id), `a result of ${message.call_id}, which was not called`)
      pending = pending.filter((id) => id !== message.call_id)
      continue
    }
    assert.deepEqual(pending, [], 'calls without a result')
    pending = message.role === 'assistant' ? message.calls.map(({ id }) => id) : []
  }
  assert.deepEqual(pending, [])
}

describe('any content, with any limit', () => {
  for (const maxInput of [1000, 1500, 4000, 20_000])
    test(`case 49, case 112: ${maxInput} tokens: requests fit, pair calls, grow between cuts`, async (t) => {
      let app: App | undefined
      let scenario: Scenario | undefined
      let asked = 0
      const model = scriptedModel(() => {
        const { results, answers, parser } = scenario as Scenario
        asked += 1
        const text = fillText(answers, asked)
        const call = { tool: 'poke', args: { n: asked, note: fillText(answers * 2, asked + 1) } }
        const isDone = asked > results.length
        if (parser === 'native') return isDone ? { text: 'done' } : { text, calls: [call] }
        return {
          text: JSON.stringify(
            isDone ? { answer: 'done' } : { thought: text, action: { name: 'poke', args: call.args } },
          ),
        }
      })
      const tool = fakeTool({
        run: async ({ n }, { origin: { session_id } }) => {
          const length = scenario?.messages[Number(n)] ?? 0
          if (length > 0) await app?.run('send', { session: session_id, text: fillText(length, Number(n)) })
          return fillText(scenario?.results[Number(n) - 1] ?? 0, Number(n) + 2)
        },
      })
      app = await openApp(t, { model, tools: [tool], behaviours: [pokeBehaviour()], yaml: yamlWith(maxInput) })
      const opened = app
      await fc.assert(
        fc.asyncProperty(scenarios, async (sample) => {
          scenario = sample
          asked = 0
          const before = model.requests.length
          const { memory, parser } = sample
          const result = await runTaskIn(opened, 'TASK-7: count 羊', { memory, parser, behaviour: 'own' })
          assert.equal(result.status, 'done', String(result.error))
          const journal = await journalOf(opened, result.session_id)
          const cut = new Set(cutsIn(journal).map(({ turn }) => turn))
          const turns = journal.flatMap((it) => (it.kind === 'model_requested' ? [it.turn] : []))
          const requests = model.requests.slice(before)
          for (const [i, request] of requests.entries()) {
            assert.equal(request.messages[0]?.role, 'user')
            assert.ok(textOf(request).includes('TASK-7: count 羊'))
            assert.ok(tokensOf(request) <= maxInput, `${tokensOf(request)} of ${maxInput}`)
            assertPaired(request.messages)
            const last = requests[i - 1]
            if (!last || cut.has(turns[i] ?? 0)) continue
            assert.deepEqual(
              request.messages.slice(0, last.messages.length),
              last.messages,
              'a request must extend the one before it',
            )
          }
        }),
        { numRuns: 12, seed: maxInput },
      )
    })
})
