/** Turns schema issues into messages: position, key, got, expected, do this. Secrets are never quoted. */

import type { z } from 'zod'
import { TYPE_NAMES } from '../domain/describe-issues.ts'
import { editDistance } from '../domain/edit-distance.ts'
import { truncateText } from '../domain/truncate.ts'
import { formatPath, type KeyPath, pathKey } from './key-path.ts'
import type { ConfigProblem, FilePosition, YamlReading } from './read-yaml.ts'
import { jsonSchema } from './schema.ts'
import { NO_LIMIT } from './value-types.ts'

type Issue = z.core.$ZodIssue

/** `keys`: the valid keys of the file, for suggestions. */
export function problemsFromIssues(
  issues: readonly Issue[],
  reading: YamlReading,
  keys: () => readonly SchemaLevel[],
): readonly ConfigProblem[] {
  const known = issues.length > 0 ? keys() : []
  return issues
    .filter((issue) => !reading.faulty.has(pathKey(issue.path as KeyPath)))
    .flatMap((issue) => {
      const path = issue.path as KeyPath
      if (issue.code === 'unrecognized_keys')
        return issue.keys.map((name) => unknownKey([...path, name], issue.input, reading, known))
      return [wrongValue(path, isUnknownType(issue) ? unknownType(path, issue, known) : issue, reading, known)]
    })
}

/** Of a union (text or mapping, say) only the branch with the right type is reported. */
export function flattenIssue(issue: Issue, above: KeyPath = []): readonly Issue[] {
  const here = { ...issue, path: [...above, ...issue.path] }
  if (issue.code !== 'invalid_union') return [here]
  const branches = issue.errors.filter((branch) => !branch.some(isTypeMismatch))
  const [only] = branches
  return only && branches.length === 1 ? only.flatMap((inner) => flattenIssue(inner, here.path as KeyPath)) : [here]
}

function isTypeMismatch(issue: Issue): boolean {
  if (issue.path.length > 0) return false
  return issue.code === 'invalid_type' || (issue.code === 'invalid_value' && typeof issue.input !== 'string')
}

/** An entry whose key `type` chooses its schema has a type that none of them has. */
const isUnknownType = (issue: Issue): boolean => issue.code === 'invalid_union' && issue.path.at(-1) === 'type'

function unknownType(path: KeyPath, { input, message }: Issue, known: readonly SchemaLevel[]): Issue {
  const values = levelsAt(path.slice(0, -1), known).flatMap(({ type }) => type ?? [])
  return { code: 'invalid_value', values, input: typeIn(input), path: [...path], message }
}

const typeIn = (entry: unknown): unknown =>
  typeof entry === 'object' && entry !== null && 'type' in entry ? entry.type : undefined

/** `entry`: the mapping that has the unknown key. */
function unknownKey(here: KeyPath, entry: unknown, reading: YamlReading, known: readonly SchemaLevel[]): ConfigProblem {
  const name = String(here.at(-1))
  const levels = levelsAt(here.slice(0, -1), known)
  const keys = (levels.find(({ type }) => type !== undefined && type === typeIn(entry)) ?? levels[0])?.keys ?? []
  const nearest = nearestName(name, keys)
  const elsewhere = known.find((level) => level.path.length > 0 && level.keys.includes(name))
  const close = nearest !== undefined && isClose(name, nearest)
  const move = elsewhere && !close ? `, or move it under ${formatPath(elsewhere.path)}` : ''
  return {
    position: positionOf(here, reading),
    what: `${formatPath(here)} is not a known key`,
    expected: close ? undefined : `one of ${keys.join(', ')}`,
    fix: close ? `rename it to ${nearest}` : `remove it${move} (the nearest valid key is ${nearest})`,
  }
}

function wrongValue(path: KeyPath, issue: Issue, reading: YamlReading, known: readonly SchemaLevel[]): ConfigProblem {
  const got = issue.input
  const variables = reading.variables.get(pathKey(path))
  const missing = got === undefined
  return {
    position: positionOf(path, reading),
    what: missing ? `${formatPath(path)} is missing` : `${formatPath(path)} is not valid`,
    got: missing ? undefined : variables ? `a value from ${variables.join(', ')}` : describeGot(got, path),
    expected: issue.message,
    fix: isZeroForUnlimited(path, issue, known) ? NO_LIMIT : fixOf(path, issue),
  }
}

/** Many write 0 for "no limit"; a limit that may be missing takes null. */
const isZeroForUnlimited = (path: KeyPath, issue: Issue, known: readonly SchemaLevel[]): boolean =>
  issue.code === 'too_small' &&
  issue.minimum === 0 &&
  issue.input === 0 &&
  levelsAt(path.slice(0, -1), known).some(({ nullable }) => nullable.includes(String(path.at(-1))))

function fixOf(path: KeyPath, issue: Issue): string {
  const got = issue.input
  if (issue.code === 'custom' && typeof issue.params?.fix === 'string') return issue.params.fix
  if (got === undefined) return `add ${path.at(-1)} here`
  if (got === null) return 'fill it in, or remove the line'
  if (issue.code === 'invalid_value') return fixChoice(got, issue.values.map(String))
  if (issue.code === 'invalid_type' && issue.expected === 'string') return 'put the value in quotes'
  if (issue.code === 'invalid_type' && typeof got === 'string' && /^[\d.]+$/.test(got)) return 'remove the quotes'
  return 'change the value'
}

function fixChoice(got: unknown, values: readonly string[]): string {
  const nearest = nearestName(String(got), values)
  return nearest !== undefined && isClose(String(got), nearest) ? `write ${nearest}` : 'choose one of them'
}

/** Type names that users know; a message of the schema itself takes precedence. */
export function expectedTypeOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return TYPE_NAMES[issue.expected] ?? issue.expected
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`
    default:
      return undefined
  }
}

const SECRET = /key|token|secret|pass|auth|headers|env|url|store|command|channels|metadata|grants|sources|plugins/i

function describeGot(value: unknown, path: KeyPath): string {
  if (value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (path.some((step) => SECRET.test(String(step))))
    return `${typeof value === 'string' ? 'text' : `a ${typeof value}`} (not shown)`
  const text = JSON.stringify(value)
  return text.length > 60 ? truncateText(text, 57) : text
}

/** The position of the key, or of its nearest existing parent. */
function positionOf(path: KeyPath, reading: YamlReading): FilePosition {
  for (let length = path.length; length >= 0; length -= 1) {
    const position = reading.positions.get(pathKey(path.slice(0, length)))
    if (position) return position
  }
  return { line: 1, column: 1 }
}

/** A mapping of the schema with its keys; `*` in the path matches any name or index. */
export interface SchemaLevel {
  readonly path: readonly string[]
  readonly keys: readonly string[]
  /** The keys that accept null. */
  readonly nullable: readonly string[]
  /** The only valid value of its key `type`, if that value chooses the schema. */
  readonly type?: string
}

interface JsonSchemaNode {
  readonly properties?: Readonly<Record<string, JsonSchemaNode>>
  readonly additionalProperties?: JsonSchemaNode | boolean
  readonly items?: JsonSchemaNode
  readonly anyOf?: readonly JsonSchemaNode[]
  readonly oneOf?: readonly JsonSchemaNode[]
  readonly type?: string
  readonly const?: string
}

export function schemaLevels(
  node: JsonSchemaNode = jsonSchema() as JsonSchemaNode,
  path: readonly string[] = [],
): readonly SchemaLevel[] {
  const { properties, additionalProperties, items, anyOf = [], oneOf = [] } = node
  const nested = Object.entries(properties ?? {}).flatMap(([name, child]) => schemaLevels(child, [...path, name]))
  const dynamic = typeof additionalProperties === 'object' ? schemaLevels(additionalProperties, [...path, '*']) : []
  return [
    ...(properties ? [levelOf(path, properties)] : []),
    ...nested,
    ...dynamic,
    ...(items ? schemaLevels(items, [...path, '*']) : []),
    ...[...anyOf, ...oneOf].flatMap((branch) => schemaLevels(branch, path)),
  ]
}

function levelOf(path: readonly string[], properties: NonNullable<JsonSchemaNode['properties']>): SchemaLevel {
  const type = properties.type?.const
  const level = { path, keys: Object.keys(properties), nullable: nullableKeys(properties) }
  return type === undefined ? level : { ...level, type }
}

const nullableKeys = (properties: NonNullable<JsonSchemaNode['properties']>): readonly string[] =>
  Object.keys(properties).filter((name) => properties[name]?.anyOf?.some(({ type }) => type === 'null'))

function levelsAt(path: KeyPath, known: readonly SchemaLevel[]): readonly SchemaLevel[] {
  const matches = (level: SchemaLevel) =>
    level.path.length === path.length && level.path.every((step, index) => step === '*' || step === path[index])
  return known.filter(matches)
}

export function nearestName(word: string, candidates: readonly string[]): string | undefined {
  return candidates.toSorted((a, b) => editDistance(word, a) - editDistance(word, b))[0]
}

function isClose(word: string, other: string): boolean {
  return editDistance(word, other) <= Math.max(1, Math.floor(word.length / 3))
}
