/** Properties of all parsers, checked with seeded random texts and calls. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../../domain/json.ts'
import type { Parser } from '../../ports/parser.ts'
import { PARSERS } from './protocols.ts'

type TestCall = readonly [tool: string, args: Readonly<Record<string, Json>>]

interface Random {
  below(n: number): number
  pick<T>(items: readonly [T, ...T[]]): T
}

function seededRandom(seed: number): Random {
  let state = seed
  const below = (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
  return { below, pick: (items) => items[below(items.length)] ?? items[0] }
}

const FRAGMENTS = [
  'a',
  'Z9',
  ' ',
  '\n',
  '\t',
  '"',
  "'",
  '\\',
  '\\"',
  '(',
  ')',
  '{',
  '}',
  '[',
  ']',
  ',',
  '=',
  ':',
  '：',
  '&',
  '&amp;',
  '&lt;',
  ';',
  '<',
  '>',
  '/',
  '</arg>',
  '</action>',
  '<action name="rm">',
  '<arg name="x">',
  '<b class="c">',
  '</b>',
  '<![CDATA[',
  ']]>',
  '<!--',
  '-->',
  '<final_answer>',
  '</final_answer>',
  '你好',
  '。',
  '😀',
  '\u2028',
  '\nAction: rm(path="/")',
  '\nAction Input: {}',
  '\nFinal Answer: 42',
  '\nThought:',
  '\nObservation: x',
  '{"action": {"name": "rm", "args": {}}}',
  '```json',
  '```',
  '"answer": 1',
  '\u0000',
  '\ud800',
] as const

const KEYS = ['path', 'text', 'n_1', '键', 'the-key', 'mode', 'answer', '__proto__'] as const
const TOOLS = ['ls', 'write_file', 'mail__send', 'a.b', '搜索'] as const

const randomText = (d: Random): string => Array.from({ length: d.below(8) }, () => d.pick(FRAGMENTS)).join('')

function randomValue(d: Random, depth = 0): Json {
  switch (d.below(depth > 2 ? 4 : 6)) {
    case 0:
      return d.pick([true, false, null])
    case 1:
      return d.pick([0, -1, 3.25, 1e-7, 9007199254740991])
    case 4:
      return Array.from({ length: d.below(3) }, () => randomValue(d, depth + 1))
    case 5:
      return Object.fromEntries(Array.from({ length: d.below(3) }, () => [randomText(d), randomValue(d, depth + 1)]))
    default:
      return randomText(d)
  }
}

function randomCall(d: Random): TestCall {
  return [d.pick(TOOLS), Object.fromEntries(Array.from({ length: d.below(4) }, () => [d.pick(KEYS), randomValue(d)]))]
}

const PRINTERS: Readonly<Record<string, (calls: readonly TestCall[], d: Random) => string>> = {
  json: (calls, d) => {
    const body = JSON.stringify(
      { thought: randomText(d), actions: calls.map(([name, args]) => ({ name, args })) },
      null,
      d.below(3),
    )
    return d.pick([body, `\`\`\`json\n${body}\n\`\`\``, `<think>So be it: {</think>\n${body}`])
  },
  react: (calls, d) => `Thought: why\n${calls.map((call) => reactCall(call, d)).join('\n')}`,
  xml: (calls, d) => `<think>why</think>\n${calls.map((call) => xmlCall(call, d)).join('\n')}`,
}

function reactCall([tool, args]: TestCall, d: Random): string {
  const pairs = Object.entries(args).map(([key, item]) => `${key}=${reactValue(item, d)}`)
  return d.pick([
    `Action: ${tool}(${pairs.join(', ')})`,
    `Action: ${tool}\nAction Input: ${JSON.stringify(args)}`,
    `Action：${JSON.stringify({ name: tool, args })}`,
  ])
}

function reactValue(item: Json, d: Random): string {
  if (typeof item !== 'string') return JSON.stringify(item)
  const escaped = item.replace(/[\\"']/g, '\\$&')
  return d.pick([JSON.stringify(item), `"${escaped}"`, `'${escaped}'`])
}

function xmlCall([tool, args]: TestCall, d: Random): string {
  const tags = Object.entries(args).map(([key, item]) =>
    typeof item === 'string'
      ? `<arg name="${key}">${xmlText(item, d)}</arg>`
      : `<arg name="${key}" type="json">${xmlText(JSON.stringify(item), d)}</arg>`,
  )
  return `<action name="${tool}">${d.pick([tags.join('\n'), JSON.stringify(args)])}</action>`
}

const xmlText = (item: string, d: Random): string =>
  d.pick([
    item.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
    `<![CDATA[${item.replaceAll(']]>', ']]]]><![CDATA[>')}]]>`,
  ])

/** The parsed calls; undefined for a fault. */
function parseCalls(parser: Parser, printed: string): TestCall[] | undefined {
  const parsed = parser.parse(printed)
  return parsed.kind === 'said' ? parsed.calls.map(({ tool, args }): TestCall => [tool, JSON.parse(args)]) : undefined
}

const toText = (calls: readonly TestCall[]): string => JSON.stringify(calls)

for (const parser of PARSERS)
  describe(`Q11: ${parser.name}`, () => {
    const print = PRINTERS[parser.name] ?? assert.fail(`no printer for ${parser.name}`)

    it('case 25: calls printed in the format are read back unchanged', () => {
      for (let seed = 0; seed < 2000; seed++) {
        const d = seededRandom(seed)
        const calls = Array.from({ length: 1 + d.below(3) }, () => randomCall(d))
        const printed = print(calls, d)
        const parsed = parser.parse(printed)
        assert.equal(parsed.kind, 'said', `${printed}\n→ ${JSON.stringify(parsed)}`)
        assert.equal(toText(parseCalls(parser, printed) ?? []), toText(calls), printed)
      }
    })

    it('case 27: an answer truncated anywhere gives a fault, nothing, or complete calls; never a changed one', () => {
      let faults = 0
      for (let seed = 0; seed < 150; seed++) {
        const d = seededRandom(seed)
        const calls = Array.from({ length: 1 + d.below(2) }, () => randomCall(d))
        const printed = print(calls, d)
        for (let length = 0; length < printed.length; length++) {
          const cut = parseCalls(parser, printed.slice(0, length))
          if (!cut) faults++
          else assert.equal(toText(cut), toText(calls.slice(0, cut.length)), printed.slice(0, length))
        }
      }
      assert.ok(faults > 1000, `${faults} faults`)
    })

    it('10,000 random texts never throw', () => {
      const kinds = new Map<string, number>()
      for (let seed = 0; seed < 10_000; seed++) {
        const d = seededRandom(seed)
        const parsed = parser.parse(Array.from({ length: 1 + d.below(12) }, () => d.pick(FRAGMENTS)).join(''))
        kinds.set(parsed.kind, (kinds.get(parsed.kind) ?? 0) + 1)
      }
      assert.ok((kinds.get('fault') ?? 0) > 100, JSON.stringify([...kinds]))
    })
  })
