/** Properties of edits of YAML texts, over generated files in every common way of writing them. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import type { Json } from '../domain/json.ts'
import { editYaml, yamlTextAt } from './edit-yaml.ts'
import type { KeyPath } from './key-path.ts'

type Draw = (below: number) => number

/** A small generator with a seed: a failure names the seed that repeats it. */
function drawFrom(seed: number): Draw {
  let state = seed * 2_654_435_761 + 1
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) | 0
    return ((state ^ (state >>> 13)) >>> 0) % below
  }
}

const pick = <T>(draw: Draw, items: readonly T[]): T => items[draw(items.length)] as T

/** A line with the path of the value that it belongs to; null: a comment or a blank line between values. */
interface Line {
  readonly text: string
  readonly path: KeyPath | null
}

const KEYS = ['budget', 'models', 'agent_id', 'prompt', 'per_day_usd', 'a key', '"quoted"', "'single'", '键', 'x/y']
const TEXTS = ['plain', 'two words', '"quoted # no comment"', "'it''s'", '5', '2.50', 'true', '~', '"\\u4e2d"', '中文']
const COMMENTS = ['', '', '', ' # why', '   # two  blanks', ' # : - {']

const keyName = (written: string): string => parse(written) as string

function drawScalar(draw: Draw): string {
  return pick(draw, TEXTS)
}

function drawFlow(draw: Draw, depth: number): string {
  const parts = Array.from({ length: draw(3) }, () => (depth > 1 ? drawScalar(draw) : drawFlow(draw, depth + 1)))
  if (draw(2) === 0)
    return `[${parts.join(pick(draw, [', ', ',', ' , ']))}${draw(4) === 0 && parts.length > 0 ? ',' : ''}]`
  const keys = drawKeys(draw, parts.length)
  const pairs = parts.map((part, nth) => `${keys[nth]}: ${part}`)
  return `${pick(draw, ['{', '{ '])}${pairs.join(', ')}${pick(draw, ['}', ' }'])}`
}

function drawKeys(draw: Draw, count: number): readonly string[] {
  const start = draw(KEYS.length)
  return Array.from({ length: count }, (_, nth) => KEYS[(start + nth) % KEYS.length] as string)
}

/** The lines of a value below `head`, such as `key:` or `-`. */
function drawValue(draw: Draw, head: string, column: number, path: KeyPath): readonly Line[] {
  const tail = pick(draw, COMMENTS)
  const line = (text: string): Line => ({ text, path })
  const depth = path.length
  switch (draw(depth > 3 ? 4 : 7)) {
    case 0:
      return [line(`${head}${tail}`)]
    case 1:
      return [line(`${head} ${drawFlow(draw, depth)}${tail}`)]
    case 2: {
      const mark = pick(draw, ['|', '>', '|-', '>-', '|+'])
      const inner = ' '.repeat(column + 2)
      const text = [`${inner}first # no comment`, '', `${inner}  deeper`, `${inner}last`]
      return [line(`${head} ${mark}${tail}`), ...text.map(line)]
    }
    case 3:
      return [line(`${head} ${drawScalar(draw)}${tail}`)]
    case 4: {
      const count = 1 + draw(3)
      const step = pick(draw, [2, 4])
      const between = draw(4) === 0 ? [{ text: `${' '.repeat(column + step)}# about them`, path: [...path, 0] }] : []
      return [
        line(`${head}${tail}`),
        ...between,
        ...drawItems(draw, count, (nth) =>
          drawValue(draw, `${' '.repeat(column + step)}-`, column + step, [...path, nth]),
        ),
      ]
    }
    case 5: {
      if (!head.endsWith('-')) return [line(`${head}${tail}`), ...drawMap(draw, column + 2, path, '')]
      // A mapping that begins beside the dash.
      return drawMap(draw, column + 2, path, `${head} `)
    }
    default:
      return [line(`${head}${tail}`), ...drawMap(draw, column + pick(draw, [2, 3]), path, '')]
  }
}

function drawMap(draw: Draw, column: number, path: KeyPath, head: string): readonly Line[] {
  const keys = drawKeys(draw, 1 + draw(3))
  return drawItems(
    draw,
    keys.length,
    (nth) => {
      const key = keys[nth] as string
      const lead = nth === 0 && head !== '' ? head : ' '.repeat(column)
      return drawValue(draw, `${lead}${key}:`, column, [...path, keyName(key)])
    },
    head === '',
  )
}

function drawItems(
  draw: Draw,
  count: number,
  item: (nth: number) => readonly Line[],
  mayBegin = true,
): readonly Line[] {
  return Array.from({ length: count }, (_, nth) => {
    const lines = item(nth)
    if (nth === 0 && !mayBegin) return lines
    const column = /^ */.exec(lines[0]?.text ?? '')?.[0].length ?? 0
    const above: Line[] = []
    if (draw(6) === 0) above.push({ text: '', path: null })
    if (draw(6) === 0) above.push({ text: `${' '.repeat(column)}# of the next`, path: lines[0]?.path ?? null })
    return [...above, ...lines]
  }).flat()
}

interface DrawnFile {
  readonly lines: readonly Line[]
  readonly eol: string
  readonly source: string
}

function drawFile(draw: Draw): DrawnFile {
  const keys = drawKeys(draw, draw(5))
  const eol = pick(draw, ['\n', '\n', '\r\n'])
  const top = draw(3) === 0 ? ['# The settings.', ''] : []
  const body = drawItems(draw, keys.length, (nth) => {
    const key = keys[nth] as string
    return drawValue(draw, `${key}:`, 0, [keyName(key)])
  })
  const end = draw(4) === 0 ? ['', '# The end.', ''] : []
  const comment = (text: string): Line => ({ text, path: null })
  const lines = [...top.map(comment), ...body, ...end.map(comment)]
  const text = lines.map((line) => line.text).join(eol)
  const source = `${draw(4) === 0 ? '\uFEFF' : ''}${text}${text === '' || draw(4) === 0 ? '' : eol}`
  return { lines, eol: source.includes('\r\n') ? eol : '\n', source }
}

const NEW_VALUES: readonly Json[] = [
  ...['text', '7', 'a: b', 'two\nlines\n', 'two\nlines', ' led by a blank\nx', 'x # y', '', '中文', 'it’s "so"', '- x'],
  ...[7, 0.25, true, null, [], {}, ['a', 'b: c'], [{ a: 1, b: ['x\ny'] }], { type: 'x', env: { A: 'secret:B' } }],
]

const dataOf = (source: string): Json => (parse(source) ?? null) as Json

/** Every path in the data. */
function allPaths(data: Json, above: KeyPath = []): readonly KeyPath[] {
  if (typeof data !== 'object' || data === null) return []
  const entries: readonly (readonly [string | number, Json])[] = Array.isArray(data)
    ? data.map((item: Json, nth) => [nth, item] as const)
    : Object.entries(data)
  return entries.flatMap(([step, inner]) => [[...above, step], ...allPaths(inner, [...above, step])])
}

function drawChange(draw: Draw, data: Json): { readonly path: KeyPath; readonly value: Json | undefined } {
  const paths = allPaths(data)
  const path = paths.length === 0 || draw(5) === 0 ? [] : pick(draw, paths)
  const isList = Array.isArray(at(data, path))
  if (path.length === 0 || draw(3) === 0) {
    const length = isList ? (at(data, path) as readonly Json[]).length : 0
    const more = draw(4) === 0 && !isList ? ['deeper'] : []
    return { path: [...path, isList ? length : 'added', ...more], value: pick(draw, NEW_VALUES) }
  }
  return { path, value: draw(3) === 0 ? undefined : pick(draw, NEW_VALUES) }
}

const at = (data: Json, path: KeyPath): Json | undefined =>
  path.reduce<Json | undefined>(
    (inner, step) => (inner as Readonly<Record<string | number, Json>> | null)?.[step],
    data,
  )

/** What the change asks for, told independently of the code: by JSON. */
function changed(data: Json, [step, ...rest]: KeyPath, value: Json | undefined): Json {
  if (step === undefined) return value as Json
  const copy = (typeof data === 'object' && data !== null ? structuredClone(data) : {}) as Record<string | number, Json>
  if (rest.length > 0) copy[step] = changed(copy[step] ?? null, rest, value)
  else if (value !== undefined) copy[step] = value
  else if (Array.isArray(copy)) copy.splice(Number(step), 1)
  else delete copy[step]
  return copy as Json
}

const isPrefix = (short: KeyPath, long: KeyPath): boolean => short.every((step, nth) => long[nth] === step)

const hasPath = ({ path }: Line): boolean => path !== null

/** The first line that should have stayed and did not; undefined if all did, in their order. */
function lostLine({ lines, eol }: DrawnFile, path: KeyPath, result: string): string | undefined {
  // The next key takes the place beside a dash when the one there is removed.
  const bare = (text: string): string => text.replace(/^[ -]+/, '')
  const left = result
    .replace(/^\uFEFF/, '')
    .split(eol)
    .map(bare)
  // A line above the changed key on the path stays as it is if its value has lines of its own.
  const mustStay = lines.filter((line, nth) => {
    if (line.path === null) {
      const [before, after] = [lines.slice(0, nth).findLast(hasPath)?.path, lines.slice(nth).find(hasPath)?.path]
      // Blank lines below a text with the mark |+ are part of it.
      if (line.text === '' && before && (isPrefix(path, before) || isPrefix(before, path))) return false
      return !(before && after && isPrefix(path, before) && isPrefix(path, after))
    }
    if (isPrefix(path, line.path)) return false
    const next = lines[nth + 1]?.path
    const hasOwnLines = next != null && next.length === line.path.length + 1 && isPrefix(line.path, next)
    return !isPrefix(line.path, path) || (hasOwnLines && path.length > line.path.length + 1)
  })
  return mustStay.find(({ text }) => {
    const found = left.indexOf(bare(text))
    if (found >= 0) left.splice(0, found + 1)
    return found < 0
  })?.text
}

const FILES = 1500

describe('I7: an edit of a YAML file', () => {
  test(`I7: ${FILES} generated files: the result says what was asked, every other line stays byte for byte`, () => {
    let refused = 0
    for (let seed = 1; seed <= FILES; seed++) {
      const draw = drawFrom(seed)
      const file = drawFile(draw)
      const data = dataOf(file.source)
      const { path, value } = drawChange(draw, data)
      const about = () => `seed ${seed}: ${JSON.stringify(path)} = ${JSON.stringify(value)} in\n${file.source}`
      let result: string
      try {
        result = editYaml(file.source, [{ path, value }])
      } catch (thrown) {
        // Blank lines below a removed key would become part of a text above with the mark |+.
        if (!file.source.includes('|+')) throw thrown
        refused += 1
        continue
      }
      assert.deepEqual(dataOf(result), changed(data, path, value), `${about()}\nbecame\n${result}`)
      assert.equal(lostLine(file, path, result), undefined, `${about()}\nbecame\n${result}`)
      assert.equal(result.startsWith('\uFEFF'), file.source.startsWith('\uFEFF'), about())
      if (file.source.includes('\r\n')) assert.doesNotMatch(result, /[^\r]\n/, about())
      if (value !== undefined) assert.equal(editYaml(result, [{ path, value }]), result, about())
    }
    assert.ok(refused < FILES / 200, `${refused} changes were refused`)
  })

  const edit = (source: string, path: KeyPath, value: Json | undefined): string => editYaml(source, [{ path, value }])

  test('I7: comments beside, above and between stay with what they are about', () => {
    const source =
      '\uFEFFbudget: # money\r\n  # a day\r\n  per_day_usd: "3" # dollars\r\n\r\n\r\nmodels:\r\n    default: a/b'
    assert.equal(edit(source, ['budget', 'per_day_usd'], '4'), source.replace('"3"', '"4"'))
    assert.equal(edit(source, ['budget', 'per_run_usd'], 1), source.replace('dollars', 'dollars\r\n  per_run_usd: 1'))
    assert.equal(edit(source, ['models', 'planner'], 'c/d'), `${source}\r\n    planner: c/d`)
    assert.equal(edit(source, ['models', 'default'], undefined), source.replace(/\r\n {4}default: a\/b/, ' {}'))
    assert.equal(edit('', ['budget', 'per_day_usd'], 4), 'budget:\n  per_day_usd: 4\n')
    assert.equal(edit('# empty\n', ['a'], 4), '# empty\na: 4\n')
    assert.equal(
      edit('budget:\n  # per_day_usd: 3\nx: 1\n', ['budget', 'b'], 4),
      'budget:\n  b: 4\n  # per_day_usd: 3\nx: 1\n',
    )
    assert.equal(edit('a: { b: 1 } # c\n', ['a', 'd'], { e: 'f' }), 'a: { b: 1, d: { e: f } } # c\n')
    const list = 'agents:\n- id: one # 1\n  # off: 1\n# the second\n- id: two\n'
    assert.equal(edit(list, ['agents', 0], undefined), 'agents:\n# the second\n- id: two\n')
    assert.equal(edit(list, ['agents', 1], undefined), 'agents:\n- id: one # 1\n  # off: 1\n')
    assert.equal(edit(list, ['agents', 0, 'id'], undefined), edit(list, ['agents', 0], {}))
  })

  test('I7: what an alias shares is not changed in two places, and a broken file is left alone', () => {
    const shared = 'a: &x { b: 1 }\nc: *x\nd: [1]\n'
    assert.throws(() => edit(shared, ['a', 'b'], 2), /a\.b cannot be changed by a command without changing other parts/)
    assert.equal(edit(shared, ['c', 'b'], 2), 'a: &x { b: 1 }\nc:\n  b: 2\nd: [1]\n')
    assert.throws(() => edit('a: &x { b: 1, e: 1 }\nc: *x\n', ['c', 'b'], 2), { code: 'config_invalid' })
    assert.throws(() => edit(shared, ['a'], undefined), { code: 'config_invalid' })
    assert.equal(edit(shared, ['c'], 5), 'a: &x { b: 1 }\nc: 5\nd: [1]\n')
    assert.throws(() => edit('a: [', ['b'], 1), /the file is not YAML; nothing was changed/)
  })

  test('I7: a mapping as a file of its own has its comments, and says the same', () => {
    const source = [
      'base: &p go',
      'list:',
      '  # first',
      '  - a: |',
      '      x',
      '',
      '        y',
      '    b: 1 # one',
      '    # c: 2',
      '  # second',
      '  - { a: 1 }',
      '  - a: *p # shared',
      '',
    ].join('\r\n')
    assert.equal(yamlTextAt(source, ['list', 0]), '# first\na: |\n  x\n\n    y\nb: 1 # one\n# c: 2\n')
    assert.equal(yamlTextAt(source, ['list', 1]), '# second\n{ a: 1 }\n')
    assert.equal(yamlTextAt(source, ['list', 2]), 'a: go\n# a: *p # shared\n')
    assert.equal(yamlTextAt(source, ['list', 3]), '')
  })
})
