/** What the schema refused, told so that it can be put right: place, key, got, expected, do this. Secrets are never quoted. */

import type { z } from 'zod'
import { TYPE_WORDS } from '../domain/mismatch.ts'
import { dotted, key, type Path } from './path.ts'
import type { Place, Problem, Reading } from './read.ts'
import { jsonSchema } from './schema.ts'

type Issue = z.core.$ZodIssue

/** `keys`: those that the file can have. */
export function problemsOf(
  issues: readonly Issue[],
  reading: Reading,
  keys: () => readonly Level[],
): readonly Problem[] {
  const known = issues.length > 0 ? keys() : []
  return issues
    .filter((issue) => !reading.faulty.has(key(issue.path as Path)))
    .flatMap((issue) => {
      const path = issue.path as Path
      if (issue.code === 'unrecognized_keys') return issue.keys.map((name) => unknownKey(path, name, reading, known))
      return [wrongValue(path, issue, reading)]
    })
}

/** Of a choice (text or mapping, say) only the branch that has the right type is worth telling about. */
export function flatten(issue: Issue, above: Path = []): readonly Issue[] {
  const here = { ...issue, path: [...above, ...issue.path] }
  if (issue.code !== 'invalid_union') return [here]
  const branches = issue.errors.filter((branch) => !branch.some(isOfAnotherKind))
  const [only] = branches
  return only && branches.length === 1 ? only.flatMap((inner) => flatten(inner, here.path as Path)) : [here]
}

function isOfAnotherKind(issue: Issue): boolean {
  if (issue.path.length > 0) return false
  return issue.code === 'invalid_type' || (issue.code === 'invalid_value' && typeof issue.input !== 'string')
}

function unknownKey(path: Path, name: string, reading: Reading, known: readonly Level[]): Problem {
  const here = [...path, name]
  const keys = keysAt(path, known)
  const nearest = nearestOf(name, keys)
  const elsewhere = known.find((level) => level.path.length > 0 && level.keys.includes(name))
  const close = nearest !== undefined && isClose(name, nearest)
  const move = elsewhere && !close ? `, or move it under ${dotted(elsewhere.path)}` : ''
  return {
    place: placeOf(here, reading),
    what: `${dotted(here)} is not a known key`,
    expected: close ? undefined : `one of ${keys.join(', ')}`,
    fix: close ? `rename it to ${nearest}` : `remove it${move} (the nearest valid key is ${nearest})`,
  }
}

function wrongValue(path: Path, issue: Issue, reading: Reading): Problem {
  const got = issue.input
  const variables = reading.variables.get(key(path))
  const missing = got === undefined
  return {
    place: placeOf(path, reading),
    what: missing ? `${dotted(path)} is missing` : `${dotted(path)} is not valid`,
    got: missing ? undefined : variables ? `a value made of ${variables.join(', ')}` : shown(got, path),
    expected: issue.message,
    fix: fixOf(path, issue),
  }
}

function fixOf(path: Path, issue: Issue): string {
  const got = issue.input
  if (got === 0 && issue.message.includes('null')) return 'write null if you want no limit'
  if (issue.code === 'custom' && typeof issue.params?.fix === 'string') return issue.params.fix
  if (got === undefined) return `add ${path.at(-1)} here`
  if (got === null) return 'fill it in, or remove the line'
  if (issue.code === 'invalid_value') return choice(got, issue.values.map(String))
  if (issue.code === 'invalid_type' && issue.expected === 'string') return 'put the value in quotes'
  if (issue.code === 'invalid_type' && typeof got === 'string' && /^[\d.]+$/.test(got)) return 'remove the quotes'
  return 'change the value'
}

function choice(got: unknown, values: readonly string[]): string {
  const nearest = nearestOf(String(got), values)
  return nearest !== undefined && isClose(String(got), nearest) ? `write ${nearest}` : 'choose one of them'
}

/** In the words of the file, not of the program; a message of the schema's own goes first. */
export function expectation(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return TYPE_WORDS[issue.expected] ?? issue.expected
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`
    default:
      return undefined
  }
}

const SECRET = /key|token|secret|pass|auth|headers|env|url|store|command|channels|metadata|grants|sources|plugins/i

function shown(value: unknown, path: Path): string {
  if (value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (path.some((step) => SECRET.test(String(step))))
    return `${typeof value === 'string' ? 'text' : `a ${typeof value}`} (not shown)`
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

/** The key itself, or what is nearest above it when it is not there. */
function placeOf(path: Path, reading: Reading): Place {
  for (let length = path.length; length >= 0; length -= 1) {
    const place = reading.places.get(key(path.slice(0, length)))
    if (place) return place
  }
  return { line: 1, column: 1 }
}

/** Every mapping of fixed keys in the schema; `*` stands for a name or an index. */
export interface Level {
  readonly path: readonly string[]
  readonly keys: readonly string[]
}

interface JsonSchemaNode {
  readonly properties?: Readonly<Record<string, JsonSchemaNode>>
  readonly additionalProperties?: JsonSchemaNode | boolean
  readonly items?: JsonSchemaNode
  readonly anyOf?: readonly JsonSchemaNode[]
}

export function levels(
  node: JsonSchemaNode = jsonSchema() as JsonSchemaNode,
  path: readonly string[] = [],
): readonly Level[] {
  const { properties, additionalProperties, items, anyOf } = node
  const inside = Object.entries(properties ?? {}).flatMap(([name, child]) => levels(child, [...path, name]))
  const named = typeof additionalProperties === 'object' ? levels(additionalProperties, [...path, '*']) : []
  return [
    ...(properties ? [{ path, keys: Object.keys(properties) }] : []),
    ...inside,
    ...named,
    ...(items ? levels(items, [...path, '*']) : []),
    ...(anyOf ?? []).flatMap((branch) => levels(branch, path)),
  ]
}

function keysAt(path: Path, known: readonly Level[]): readonly string[] {
  const fits = (level: Level) =>
    level.path.length === path.length && level.path.every((step, index) => step === '*' || step === path[index])
  return known.find(fits)?.keys ?? []
}

function nearestOf(word: string, candidates: readonly string[]): string | undefined {
  return candidates.toSorted((a, b) => distance(word, a) - distance(word, b))[0]
}

function isClose(word: string, other: string): boolean {
  return distance(word, other) <= Math.max(1, Math.floor(word.length / 3))
}

/** Edit distance (Levenshtein), row by row. */
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries())
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)))
    row = next
  }
  return row.at(-1) ?? 0
}
