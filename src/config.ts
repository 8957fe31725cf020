/** Loads tireless.yaml: YAML and `${ENV}` → validated, defaulted, frozen Config. */

import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type BehaviourSpecs, loadBehaviourSpecs } from './config/agent-behaviours.ts'
import { environment, userFolder } from './config/environment.ts'
import type { EnvVariables } from './config/expand-env.ts'
import { schemaLevels } from './config/explain-problems.ts'
import { errnoCodeOf, freezeConfig, parseConfigFile, readSource } from './config/parse-file.ts'
import { type ExplainedValue, findSecretTexts, redactedValues, type SecretText } from './config/redacted-values.ts'
import { buildRoster, type RosterEntry } from './config/roster.ts'
import {
  type Config,
  type LarkConfig,
  type ProviderConfig,
  type SourceConfig,
  schema,
  type WebhookConfig,
} from './config/schema.ts'
import { AGENT_ID_MARK } from './config/schema-kernel.ts'
import { defaultState } from './config/seed-state.ts'
import { findUnusedKeys } from './config/unused-keys.ts'
import { TirelessError } from './domain/error.ts'
import type { Json } from './domain/json.ts'

export { capsFromBudget as capsOf, hasMoneySettings as mindsMoney } from './config/caps.ts'
export {
  editConfigFile as changeFile,
  tryConfigFile as tryFile,
} from './config/edit-file.ts'
export { editYaml as edited, keyInFile, yamlTextAt } from './config/edit-yaml.ts'
export { defaultHome, environment, userFolder } from './config/environment.ts'
export { expandVariables } from './config/expand-env.ts'
export type { SecretText } from './config/redacted-values.ts'
export { createAgentFolder as withNewAgent } from './config/roster.ts'
export { type Config, jsonSchema, type SourceConfig } from './config/schema.ts'
export { readableHosts, searchAddress } from './config/search.ts'

/** Folder of the shipped agents; it has the same relative path in the sources and in the compiled package. */
export const SHIPPED_AGENTS = join(import.meta.dirname, '../agents')

export interface LoadedConfig {
  /** The agents in `kernel.agents` are those of tireless.yaml, then those of the agents' folder. */
  readonly config: Config
  /** Each agent with the file that describes it, in the same order. */
  readonly roster: readonly RosterEntry[]
  /** Behaviours that are defined by files, by agent and name. */
  readonly behaviours: BehaviourSpecs
  /** The file that was read; null if there is none and the defaults apply. */
  readonly file: string | null
  /** Keys the user set that have no effect yet. */
  readonly unused: readonly string[]
  /** The source of each value: `default`, `file:line` or `env:NAME`. */
  readonly sources: Readonly<Record<string, string>>
}

/**
 * Throws one `config_invalid` that lists every problem. `required`: the user named the file, so it must exist.
 * `agents`: the folder with one folder per agent. `drafts`: by file, a text to read in place of
 * its content.
 */
export function loadConfig(options: {
  readonly file?: string | undefined
  readonly required?: boolean
  readonly agents?: string | undefined
  readonly drafts?: Readonly<Record<string, string>>
  readonly env?: EnvVariables
}): LoadedConfig {
  const { file, required = false, agents, drafts: instead = {}, env = environment() } = options
  const source = file === undefined ? undefined : (instead[file] ?? readSource(file, required))
  const name = file ?? 'the defaults'
  const { output, data, sources } = parseConfigFile({
    source: source ?? '',
    name,
    env,
    schema,
    validKeys: schemaLevels,
  })
  const roster = buildRoster({ folder: agents, drafts: instead, env }, output.kernel.agents, sources)
  const isSet = sources['kernel.seed_state'] !== 'default'
  const seed_state = isSet ? output.kernel.seed_state : defaultState(output.kernel.agents)
  const kernel = { ...output.kernel, seed_state, agents: roster.agents }
  return {
    config: freezeConfig(resolvePaths({ ...output, kernel }, dirname(resolve(name)), env)),
    roster: freezeConfig(roster.enrolled),
    behaviours: loadBehaviourSpecs([...(agents === undefined ? [] : [agents]), SHIPPED_AGENTS]),
    file: source === undefined ? null : name,
    unused: findUnusedKeys(data),
    sources: freezeConfig({ ...sources, ...roster.sources }),
  }
}

/** Every value with its source; possible secrets are shown as `(set)`. */
export function explainConfig({ config, sources }: LoadedConfig): readonly ExplainedValue[] {
  return redactedValues(config as Json, sources)
}

/** Texts to redact everywhere: the API keys that can be resolved, and every other value that may be a secret. */
export function secretsInConfig({ config, sources }: LoadedConfig): readonly SecretText[] {
  const { webhook, lark } = config.channels
  const keys = [
    ...Object.entries(config.models.providers).map(([name, provider]) => ({
      name: provider.api_key_env ?? `models.providers.${name}.api_key`,
      value: () => resolveApiKey(provider),
    })),
    ...(config.search ? [{ name: 'search.api_key', value: () => resolveApiKey(config.search ?? {}) }] : []),
    ...(webhook ? [{ name: 'channels.webhook.secret', value: () => resolveSecret(webhook, 'channels.webhook') }] : []),
    ...LARK_SECRETS.flatMap((name) =>
      lark ? [{ name: `channels.lark.${name}`, value: () => resolveLarkSecret(lark, name) }] : [],
    ),
    ...Object.entries(config.sources).flatMap(([name, source]) =>
      'secret' in source || 'secret_env' in source || 'secret_file' in source
        ? [{ name: `sources.${name}.secret`, value: () => resolveSecret(source, `sources.${name}`) }]
        : [],
    ),
  ].flatMap(({ name, value: of }): SecretText[] => {
    try {
      const value = of()
      return value === undefined ? [] : [{ name, value, kind: 'secret' }]
    } catch {
      return []
    }
  })
  const known = new Set(keys.map(({ value }) => value))
  return [...keys, ...findSecretTexts(config as Json, sources).filter(({ value }) => !known.has(value))]
}

/**
 * Contract: undefined if the provider needs no key. Called when the key is needed: an unused provider may lack its key.
 */
export function resolveApiKey(
  provider: Pick<ProviderConfig, 'api_key' | 'api_key_env' | 'api_key_file'>,
  readFile: (path: string) => string = (path) => readFileSync(path, 'utf8'),
  env: EnvVariables = environment(),
): string | undefined {
  const { api_key, api_key_env, api_key_file } = provider
  if (api_key_env !== undefined) return secretFromVariable(api_key_env, env)
  if (api_key_file !== undefined) return secretFromFile(api_key_file, readFile)
  return api_key?.trim() || undefined
}

/** Contract: throws `config_invalid` if the secret is not available. `entry`: the key of the mapping that has it. */
export function resolveSecret(
  { secret, secret_env, secret_file }: Pick<WebhookConfig, 'secret' | 'secret_env' | 'secret_file'>,
  entry: string,
  readFile: (path: string) => string = (path) => readFileSync(path, 'utf8'),
  env: EnvVariables = environment(),
): string {
  const source = { label: 'the shared secret', key: `${entry}.secret` }
  if (secret_env !== undefined) return secretFromVariable(secret_env, env, source)
  return secret_file === undefined ? String(secret) : secretFromFile(secret_file, readFile, source)
}

const LARK_SECRETS = ['app_secret', 'encrypt_key', 'verification_token'] as const

/** Contract: undefined if it is not configured; throws `config_invalid` if it is not available. */
export function resolveLarkSecret(lark: LarkConfig, name: (typeof LARK_SECRETS)[number]): string | undefined {
  const source = { label: `the ${name.replace('_', ' ')} of the developer console`, key: `channels.lark.${name}` }
  const { [name]: value, [`${name}_env` as const]: variable, [`${name}_file` as const]: file } = lark
  if (variable !== undefined) return secretFromVariable(variable, environment(), source)
  return file === undefined ? value : secretFromFile(file, (path) => readFileSync(path, 'utf8'), source)
}

/** A secret's description for messages, and its configuration key without the ending `_env` or `_file`. */
interface SecretSource {
  readonly label: string
  readonly key: string
}

const API_KEY: SecretSource = { label: "the provider's API key", key: 'api_key' }

function secretFromVariable(name: string, env: EnvVariables, { label, key }: SecretSource = API_KEY): string {
  const value = env[name]?.trim()
  if (value) return value
  // The user may have written the key itself in place of the variable's name: the key must not reach a log.
  const shownName = /^[A-Z][A-Z0-9_]*$/.test(name) ? name : `named by ${key}_env`
  throw new TirelessError('config_invalid', {
    what: `the environment variable ${shownName} is empty or not set`,
    expected: `${label} in it`,
    fix: `set it in the shell that starts Tireless, then start again; or change ${key}_env`,
  })
}

function secretFromFile(
  path: string,
  readFile: (path: string) => string,
  { label, key }: SecretSource = API_KEY,
): string {
  const problem = { where: path, expected: `${label} in this file`, fix: `write it, or change ${key}_file` }
  let value: string
  try {
    value = readFile(path).trim()
  } catch (cause) {
    throw new TirelessError('config_invalid', { ...problem, what: `cannot be read (${errnoCodeOf(cause)})` }, { cause })
  }
  if (value === '') throw new TirelessError('config_invalid', { ...problem, what: 'the file is empty' })
  return value
}

/** File paths are relative to the configuration file. Agents' paths are relative to the home and resolved there. */
function resolvePaths(config: Config, folder: string, env: EnvVariables): Config {
  const absolute = (path: string) =>
    path.startsWith('~/') ? join(userFolder(env), path.slice(2)) : resolve(folder, path)
  const expandTilde = (path: string) => (path.startsWith('~/') ? absolute(path) : path)
  const agents = config.kernel.agents.map((agent) => ({
    ...agent,
    workspace: agent.workspace && expandTilde(agent.workspace.replace(AGENT_ID_MARK, () => agent.agent_id)),
    watch: agent.watch.map((watched) =>
      typeof watched === 'string' ? expandTilde(watched) : expandTildeIn(watched, expandTilde),
    ),
  }))
  const providers = Object.entries(config.models.providers).map(([name, provider]) => {
    const { api_key_file } = provider
    return [
      name,
      api_key_file === undefined ? provider : { ...provider, api_key_file: absolute(api_key_file) },
    ] as const
  })
  const models = { ...config.models, providers: Object.fromEntries(providers) }
  const mcp_servers = Object.fromEntries(
    Object.entries(config.mcp_servers).map(([name, server]) => [
      name,
      {
        ...server,
        cwd: absolute(server.cwd ?? '.'),
        folders: server.folders.map(absolute),
        reads: server.reads.map(absolute),
      },
    ]),
  )
  const { webhook } = config.channels
  const hook = webhook?.secret_file === undefined ? webhook : { ...webhook, secret_file: absolute(webhook.secret_file) }
  const channels = {
    ...{ ...config.channels, ...(hook && { webhook: hook }) },
    ...(config.channels.lark && { lark: withAbsoluteSecrets(config.channels.lark, absolute) }),
  }
  const key = config.search?.api_key_file
  const search = config.search && { ...config.search, ...(key !== undefined && { api_key_file: absolute(key) }) }
  const sources = Object.fromEntries(
    Object.entries(config.sources).map(([name, source]) => [name, withAbsolutePaths(source, absolute)]),
  )
  return { ...config, kernel: { ...config.kernel, agents }, models, mcp_servers, channels, search, sources }
}

function withAbsoluteSecrets(lark: LarkConfig, absolute: (path: string) => string): LarkConfig {
  const files = LARK_SECRETS.flatMap((name) => {
    const path = lark[`${name}_file`]
    return path === undefined ? [] : [[`${name}_file`, absolute(path)]]
  })
  return { ...lark, ...Object.fromEntries(files) }
}

function withAbsolutePaths(source: SourceConfig, absolute: (path: string) => string): SourceConfig {
  switch (source.type) {
    case 'webhook':
    case 'websocket':
      return source.secret_file === undefined ? source : { ...source, secret_file: absolute(source.secret_file) }
    case 'files':
      return { ...source, paths: source.paths.map(absolute) as [string, ...string[]] }
    case 'process':
      return {
        ...source,
        cwd: absolute(source.cwd ?? '.'),
        folders: source.folders.map(absolute),
        reads: source.reads.map(absolute),
      }
    default:
      return source
  }
}

const expandTildeIn = (
  spec: Readonly<Record<string, Json>>,
  expandTilde: (path: string) => string,
): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(spec).map(([key, value]) => [key, typeof value === 'string' ? expandTilde(value) : value]),
  )
