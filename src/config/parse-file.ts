/** Parses one configuration file: checks it against its schema, and reports every problem with its position. */

import { readFileSync, statSync } from 'node:fs'
import type { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import type { EnvVariables } from './expand-env.ts'
import { expectedTypeOf, flattenIssue, problemsFromIssues, type SchemaLevel } from './explain-problems.ts'
import { formatPath, type KeyPath, pathKey } from './key-path.ts'
import { type ConfigProblem, readYaml, type YamlReading } from './read-yaml.ts'

interface ParseInput<T> {
  readonly source: string
  /** The file name shown in messages. */
  readonly name: string
  readonly env: EnvVariables
  readonly schema: z.ZodType<T>
  /** All valid keys, to suggest a correction for an unknown one. */
  validKeys(): readonly SchemaLevel[]
}

interface ParsedFile<T> {
  readonly output: T
  /** The values as written, before defaults. */
  readonly data: Json
  readonly sources: Readonly<Record<string, string>>
}

/** Contract: throws one `config_invalid` that lists every problem. */
export function parseConfigFile<T>({ source, name, env, schema, validKeys: known }: ParseInput<T>): ParsedFile<T> {
  const reading = readYaml(source, env)
  if (!reading.isYaml) throw problemsError(name, reading.problems)
  const data = reading.data ?? {}
  const { output, issues } = validate(schema, data, reading)
  const problems = [...reading.problems, ...problemsFromIssues(issues, reading, known)]
  if (output === undefined || problems.length > 0) throw problemsError(name, problems)
  return { output, data, sources: Object.fromEntries(sourcesOf(output as Json, [], name, reading)) }
}

/** Contract: undefined if the file does not exist and is not required. */
export function readSource(file: string, required: boolean): string | undefined {
  try {
    const found = statSync(file)
    // Reading a pipe or a device may never end.
    if (!found.isFile() && !found.isDirectory())
      throw new TirelessError('config_invalid', {
        where: file,
        what: 'this is not a regular file',
        fix: 'replace it with a text file',
      })
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (cause) {
    if (cause instanceof TirelessError) throw cause
    const code = errnoCodeOf(cause)
    if (code === 'ENOENT' && !required) return undefined
    const [what, fix] =
      code === 'ENOENT'
        ? ['the file does not exist', 'check the path, or run "tireless init" to create it']
        : code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
          ? ['the file is not UTF-8 text', 'save it as UTF-8']
          : [`the file cannot be read (${code})`, 'check that it is a file you may read']
    throw new TirelessError('config_invalid', { where: file, what, fix }, { cause })
  }
}

export function errnoCodeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown'
}

function problemsError(file: string, problems: readonly ConfigProblem[]): TirelessError {
  const errors = problems
    .toSorted((a, b) => a.position.line - b.position.line || a.position.column - b.position.column)
    .map(({ position, ...parts }) => ({ ...parts, where: `${file}:${position.line}:${position.column}` }))
    .map((parts) => new TirelessError('config_invalid', parts))
  const [only] = errors
  if (only && errors.length === 1) return only
  const lines = errors.map((problem) => `\n  ${problem.message}`)
  return new TirelessError('config_invalid', `${file}: ${errors.length} problems${lines.join('')}`)
}

interface Validation<T> {
  readonly output: T | undefined
  readonly issues: readonly z.core.$ZodIssue[]
}

/**
 * The value of an environment variable is always text; if the schema expects a number or a boolean, it is converted.
 */
function validate<T>(schema: z.ZodType<T>, data: Json, reading: YamlReading): Validation<T> {
  const first = check(schema, data)
  const retyped = retype(data, first.issues, reading)
  return retyped === undefined ? first : check(schema, retyped)
}

function check<T>(schema: z.ZodType<T>, data: Json): Validation<T> {
  const result = schema.safeParse(data, { error: expectedTypeOf, reportInput: true })
  return { output: result.data, issues: (result.error?.issues ?? []).flatMap((issue) => flattenIssue(issue)) }
}

function retype(data: Json, issues: readonly z.core.$ZodIssue[], reading: YamlReading): Json | undefined {
  const changes = issues.flatMap((issue) => {
    const value =
      issue.code === 'invalid_type' && reading.variables.has(pathKey(issue.path as KeyPath))
        ? convertText(issue)
        : undefined
    return value === undefined ? [] : [{ path: issue.path as KeyPath, value }]
  })
  return changes.length === 0
    ? undefined
    : changes.reduce((changed, { path, value }) => setAt(changed, path, value), data)
}

function convertText({ input, expected }: z.core.$ZodIssueInvalidType): Json | undefined {
  if (typeof input !== 'string') return undefined
  if (expected === 'boolean') return input === 'true' ? true : input === 'false' ? false : undefined
  return expected === 'number' && /^-?\d+(\.\d+)?$/.test(input) ? Number(input) : undefined
}

function setAt(data: Json, [step, ...rest]: KeyPath, value: Json): Json {
  if (step === undefined) return value
  if (Array.isArray(data)) return data.map((item: Json, index) => (index === step ? setAt(item, rest, value) : item))
  const mapping = data as Readonly<Record<string, Json>>
  return { ...mapping, [step]: setAt(mapping[step] ?? null, rest, value) }
}

function* sourcesOf(value: Json, path: KeyPath, file: string, reading: YamlReading): Generator<[string, string]> {
  const children = typeof value === 'object' && value !== null ? Object.entries(value) : []
  for (const [name, child] of children)
    yield* sourcesOf(child, [...path, Array.isArray(value) ? Number(name) : name], file, reading)
  if (children.length > 0) return
  const [variable] = reading.variables.get(pathKey(path)) ?? []
  const position = reading.positions.get(pathKey(path))
  yield [formatPath(path), variable ? `env:${variable}` : position ? `${file}:${position.line}` : 'default']
}

export function freezeConfig<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const child of Object.values(value)) freezeConfig(child)
  return Object.freeze(value)
}
