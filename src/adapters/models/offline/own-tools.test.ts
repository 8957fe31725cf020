import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { openApp } from '../../../../test/support/open-app.ts'
import type { Json } from '../../../domain/json.ts'
import type { ToolSpec } from '../../../ports/model.ts'
import { BUILT_IN_TOOLS, isOwnTool } from './own-tools.ts'
import { parseSteps } from './parse-steps.ts'

const tool = (name: string, properties: Record<string, Json> = {}, required = Object.keys(properties)): ToolSpec => ({
  name,
  description: '',
  parameters: { type: 'object', properties, required },
})

const STRING = { type: 'string' }
const NUMBER = { type: 'number' }
const TOOLS: readonly ToolSpec[] = [
  tool('weather', { city: STRING }),
  tool('roll_dice', { count: { type: 'integer' } }),
  tool('convert', { amount: NUMBER, from: { enum: ['usd', 'eur'] }, to: { enum: ['usd', 'eur'] } }),
  tool('countWords', { path: STRING }),
  tool('ping'),
  tool('note', { text: STRING, tag: STRING }, ['text']),
]

/** Sentence, tool, arguments. */
const ROWS: readonly (readonly [string, string, Record<string, Json>])[] = [
  ['Use the weather tool for Paris.', 'weather', { city: 'Paris' }],
  ['What is the weather in New York?', 'weather', { city: 'New York' }],
  ['Call weather with "São Paulo"', 'weather', { city: 'São Paulo' }],
  ['weather city=Oslo', 'weather', { city: 'Oslo' }],
  ['用 weather 工具查一下北京', 'weather', { city: '北京' }],
  ['Please roll 3 dice.', 'roll_dice', { count: 3 }],
  ['Run `roll_dice` 2', 'roll_dice', { count: 2 }],
  ['Call `roll_dice` with `{"count": 4}`.', 'roll_dice', { count: 4 }],
  ['convert 12.5 from usd to eur', 'convert', { amount: 12.5, from: 'usd', to: 'eur' }],
  ['Count the words of notes/a.md', 'countWords', { path: 'notes/a.md' }],
  ['Use ping', 'ping', {}],
  ['note "buy milk"', 'note', { text: 'buy milk' }],
  ['note "buy milk" with tag "home"', 'note', { text: 'buy milk', tag: 'home' }],
]

test("a sentence that names the user's own tool calls it, with the arguments of the sentence", () => {
  for (const [sentence, name, args] of ROWS)
    assert.deepEqual(parseSteps(sentence, TOOLS), [{ kind: 'tool', tool: name, args }], sentence)
})

test('no tool is called without its required arguments, against a "not", or from quoted data', () => {
  for (const sentence of [
    'Use the weather tool',
    'Roll the dice',
    'Do not use ping',
    'If it rains, use ping',
    'convert 12.5 from usd to yen',
    'Mind the weathervane of Paris',
  ])
    assert.deepEqual(
      parseSteps(sentence, TOOLS).filter(({ kind }) => kind === 'tool'),
      [],
      sentence,
    )
  assert.deepEqual(parseSteps('weather <data x1 STATE>\nParis\n</data x1>', TOOLS)[0]?.kind, 'unknown')
})

test('rules go before own tools, and the tools of Tireless are not own tools', () => {
  assert.equal(parseSteps('Write "weather" to weather.txt', TOOLS)[0]?.kind, 'create')
  assert.deepEqual(
    ['bash', 'fetch', 'git', 'recall', 'weather'].filter((name) => isOwnTool(tool(name))),
    ['weather'],
  )
})

/** A text says what a tool does; some tools need something of the machine, so the app may lack them. */
async function namesOfAllTools(t: TestContext): Promise<ReadonlySet<string>> {
  const texts = readdirSync(new URL('../../../prompts/tools/', import.meta.url))
  const { all } = (await openApp(t)).service('tools')
  return new Set([...texts.map((file) => file.replace(/\..*/, '')), ...all.keys()])
}

test('the list of tools that are not own tools has every tool of Tireless, and no other', async (t) => {
  const [names, list] = [await namesOfAllTools(t), 'BUILT_IN_TOOLS in own-tools.ts']
  assert.ok(names.size > 15, `${names.size} tools`)
  assert.deepEqual(
    [...names].filter((name) => !BUILT_IN_TOOLS.has(name)),
    [],
    `the offline model takes these tools of Tireless for tools of the user; do this: add their names to ${list}`,
  )
  assert.deepEqual(
    [...BUILT_IN_TOOLS].filter((name) => !names.has(name)),
    [],
    `Tireless has no tools with these names; do this: remove them from ${list}`,
  )
})
