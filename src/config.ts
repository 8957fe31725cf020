/** YAML + `${ENV}` → validated, defaulted, frozen Config. The owner of the process environment: everybody else is handed values. */

import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { z } from 'zod'
import type { Variables } from './config/expand.ts'
import { expectation, flatten, problemsOf } from './config/explain.ts'
import { dotted, key, type Path } from './config/path.ts'
import { type Problem, type Reading, readYaml } from './config/read.ts'
import { type Config, type ProviderConfig, schema } from './config/schema.ts'
import { type ShownValue, secretTexts, shownValues } from './config/shown.ts'
import { unusedIn } from './config/used.ts'
import { TirelessError } from './domain/error.ts'
import type { Json } from './domain/json.ts'

export type { Variables } from './config/expand.ts'
export type {
  AgentConfig,
  BudgetConfig,
  Config,
  KernelConfig,
  McpServerConfig,
  ModelsConfig,
  ProviderConfig,
  ResidentConfig,
  ScheduleConfig,
} from './config/schema.ts'
export { jsonSchema } from './config/schema.ts'

export interface LoadedConfig {
  readonly config: Config
  /** The file that was read; null where there was none and the defaults hold. */
  readonly file: string | null
  /** Keys the user set that nothing uses yet. */
  readonly unused: readonly string[]
  /** Where each value comes from: `default`, `file:line` or `env:NAME`. */
  readonly sources: Readonly<Record<string, string>>
}

export function environment(): Variables {
  return process.env
}

/** Where Tireless lives when nobody says otherwise. */
export function defaultHome(env: Variables = environment()): string {
  return env.TIRELESS_HOME || join(env.HOME || homedir(), '.tireless')
}

/** Throws one `config_invalid` that names every problem there is. `required`: the user named the file, so it has to be there. */
export function loadConfig(options: {
  readonly file?: string | undefined
  readonly required?: boolean
  readonly env?: Variables
}): LoadedConfig {
  const { file, required = false, env = environment() } = options
  const source = file === undefined ? undefined : sourceOf(file, required)
  const name = file ?? 'the defaults'
  const reading = readYaml(source ?? '', env)
  if (!reading.parsed) throw refusal(name, reading.problems)

  const data = reading.data ?? {}
  const { output, issues } = validate(data, reading)
  const problems = [...reading.problems, ...problemsOf(issues, reading)]
  if (!output || problems.length > 0) throw refusal(name, problems)

  const config = freeze(withPaths(output, dirname(resolve(name)), env))
  return {
    config,
    file: source === undefined ? null : name,
    unused: unusedIn(data),
    sources: freeze(Object.fromEntries(sourcesOf(config as Json, [], name, reading))),
  }
}

/** Every value with its source; what may be a secret is shown as `(set)`. */
export function explain({ config, sources }: LoadedConfig): readonly ShownValue[] {
  return shownValues(config as Json, sources)
}

/** The texts that must not leave the program: keys as far as they can be resolved, and whatever else may be a secret. */
export function secretsOf({ config, sources }: LoadedConfig): readonly string[] {
  const keys = Object.values(config.models.providers).flatMap((provider) => {
    try {
      return apiKeyOf(provider) ?? []
    } catch {
      return []
    }
  })
  return [...new Set([...keys, ...secretTexts(config as Json, sources)])]
}

/** Contract: undefined where the provider needs no key. Called when the provider is used: one that is not may lack its key. */
export function apiKeyOf(
  provider: Pick<ProviderConfig, 'api_key' | 'api_key_env' | 'api_key_file'>,
  readFile: (path: string) => string = (path) => readFileSync(path, 'utf8'),
  env: Variables = environment(),
): string | undefined {
  const { api_key, api_key_env, api_key_file } = provider
  if (api_key_env !== undefined) return keyFromVariable(api_key_env, env)
  if (api_key_file !== undefined) return keyFromFile(api_key_file, readFile)
  return api_key?.trim() || undefined
}

function keyFromVariable(name: string, env: Variables): string {
  const value = env[name]?.trim()
  if (value) return value
  // Whoever puts the key itself where its variable's name belongs should not find it in a log.
  const told = /^[A-Z][A-Z0-9_]*$/.test(name) ? name : 'that api_key_env names'
  throw new TirelessError('config_invalid', {
    what: `the environment variable ${told} is empty or not set`,
    expected: "the provider's API key in it",
    fix: 'set it, or change api_key_env of the provider',
  })
}

function keyFromFile(path: string, readFile: (path: string) => string): string {
  const told = { where: path, expected: "the provider's API key in this file", fix: 'write it, or change api_key_file' }
  let value: string
  try {
    value = readFile(path).trim()
  } catch (cause) {
    throw new TirelessError('config_invalid', { ...told, what: `cannot be read (${codeOf(cause)})` }, { cause })
  }
  if (value === '') throw new TirelessError('config_invalid', { ...told, what: 'the file is empty' })
  return value
}

/** Contract: undefined where there is no such file and none is required. */
function sourceOf(file: string, required: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'ENOENT' && !required) return undefined
    const [what, fix] =
      code === 'ENOENT'
        ? ['there is no such file', 'check the path, or run "tireless init" to write one']
        : code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
          ? ['the file is not UTF-8 text', 'save it as UTF-8']
          : [`the file cannot be read (${code})`, 'check what it is and who may read it']
    throw new TirelessError('config_invalid', { where: file, what, fix }, { cause })
  }
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown'
}

function refusal(file: string, problems: readonly Problem[]): TirelessError {
  const told = problems
    .toSorted((a, b) => a.place.line - b.place.line || a.place.column - b.place.column)
    .map(({ place, ...complaint }) => ({ ...complaint, where: `${file}:${place.line}:${place.column}` }))
    .map((complaint) => new TirelessError('config_invalid', complaint))
  const [only] = told
  if (only && told.length === 1) return only
  const lines = told.map((problem) => `\n  ${problem.message}`)
  return new TirelessError('config_invalid', `${file}: ${told.length} problems${lines.join('')}`)
}

interface Validation {
  readonly output: Config | undefined
  readonly issues: readonly z.core.$ZodIssue[]
}

/** A variable's value is always text; where the schema wants a number or a truth value, it is read as one. */
function validate(data: Json, reading: Reading): Validation {
  const first = check(data)
  const retyped = retype(data, first.issues, reading)
  return retyped === undefined ? first : check(retyped)
}

function check(data: Json): Validation {
  const result = schema.safeParse(data, { error: expectation, reportInput: true })
  return { output: result.data, issues: (result.error?.issues ?? []).flatMap((issue) => flatten(issue)) }
}

function retype(data: Json, issues: readonly z.core.$ZodIssue[], reading: Reading): Json | undefined {
  const changes = issues.flatMap((issue) => {
    const value =
      issue.code === 'invalid_type' && reading.variables.has(key(issue.path as Path)) ? typed(issue) : undefined
    return value === undefined ? [] : [{ path: issue.path as Path, value }]
  })
  return changes.length === 0
    ? undefined
    : changes.reduce((changed, { path, value }) => put(changed, path, value), data)
}

function typed({ input, expected }: z.core.$ZodIssueInvalidType): Json | undefined {
  if (typeof input !== 'string') return undefined
  if (expected === 'boolean') return input === 'true' ? true : input === 'false' ? false : undefined
  return expected === 'number' && /^-?\d+(\.\d+)?$/.test(input) ? Number(input) : undefined
}

function put(data: Json, [step, ...rest]: Path, value: Json): Json {
  if (step === undefined) return value
  if (Array.isArray(data)) return data.map((item: Json, index) => (index === step ? put(item, rest, value) : item))
  const mapping = data as Readonly<Record<string, Json>>
  return { ...mapping, [step]: put(mapping[step] ?? null, rest, value) }
}

/** Files are named relative to the configuration, whatever folder the program was started in. */
function withPaths(config: Config, folder: string, env: Variables): Config {
  const placed = (path: string) =>
    path.startsWith('~/') ? join(env.HOME || homedir(), path.slice(2)) : resolve(folder, path)
  const providers = Object.entries(config.models.providers).map(([name, provider]) => {
    const { api_key_file } = provider
    return [name, api_key_file === undefined ? provider : { ...provider, api_key_file: placed(api_key_file) }] as const
  })
  return { ...config, models: { ...config.models, providers: Object.fromEntries(providers) } }
}

function* sourcesOf(value: Json, path: Path, file: string, reading: Reading): Generator<[string, string]> {
  const children = typeof value === 'object' && value !== null ? Object.entries(value) : []
  for (const [name, child] of children)
    yield* sourcesOf(child, [...path, Array.isArray(value) ? Number(name) : name], file, reading)
  if (children.length > 0) return
  const [variable] = reading.variables.get(key(path)) ?? []
  const place = reading.places.get(key(path))
  yield [dotted(path), variable ? `env:${variable}` : place ? `${file}:${place.line}` : 'default']
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const child of Object.values(value)) freeze(child)
  return Object.freeze(value)
}
