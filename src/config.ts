/** YAML + `${ENV}` → validated, defaulted, frozen Config. */

import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { environment, userFolder } from './config/environment.ts'
import type { Variables } from './config/expand.ts'
import { levels } from './config/explain.ts'
import { codeOf, freeze, parsed, sourceOf } from './config/parse.ts'
import { type Enrolled, rosterOf } from './config/roster.ts'
import { type Config, type ProviderConfig, schema, type WebhookConfig } from './config/schema.ts'
import { type SecretText, type ShownValue, secretTexts, shownValues } from './config/shown.ts'
import { unusedIn } from './config/used.ts'
import { TirelessError } from './domain/error.ts'
import type { Json } from './domain/json.ts'

export { capsOf, mindsMoney } from './config/caps.ts'
export { changeFile, edited } from './config/edit.ts'
export { defaultHome, environment, userFolder } from './config/environment.ts'
export type { Variables } from './config/expand.ts'
export { type Enrolled, withNewAgent } from './config/roster.ts'
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
  WebhookConfig,
} from './config/schema.ts'
export { jsonSchema } from './config/schema.ts'
export type { SecretText } from './config/shown.ts'

export interface LoadedConfig {
  /** Its agents are the whole roster: those of the file, then those of the agents' folder. */
  readonly config: Config
  /** Where each of its agents is described, in their order. */
  readonly roster: readonly Enrolled[]
  /** The file that was read; null where there was none and the defaults hold. */
  readonly file: string | null
  /** Keys the user set that nothing uses yet. */
  readonly unused: readonly string[]
  /** Where each value comes from: `default`, `file:line` or `env:NAME`. */
  readonly sources: Readonly<Record<string, string>>
}

/**
 * Throws one `config_invalid` that names every problem there is. `required`: the user named the file, so it has to be there. `agents`: the
 * folder with an agent in each of its folders. `instead`: drafts that are read in place of the files they are for.
 */
export function loadConfig(options: {
  readonly file?: string | undefined
  readonly required?: boolean
  readonly agents?: string | undefined
  readonly instead?: Readonly<Record<string, string>>
  readonly env?: Variables
}): LoadedConfig {
  const { file, required = false, agents, instead = {}, env = environment() } = options
  const source = file === undefined ? undefined : sourceOf(instead[file] ?? file, required)
  const name = file ?? 'the defaults'
  const { output, data, sources } = parsed({ source: source ?? '', name, env, schema, known: levels })
  const roster = rosterOf({ folder: agents, instead, env }, output.kernel.agents, sources)
  const kernel = { ...output.kernel, agents: roster.agents }
  return {
    config: freeze(withPaths({ ...output, kernel }, dirname(resolve(name)), env)),
    roster: freeze(roster.enrolled),
    file: source === undefined ? null : name,
    unused: unusedIn(data),
    sources: freeze({ ...sources, ...roster.sources }),
  }
}

/** Every value with its source; what may be a secret is shown as `(set)`. */
export function explain({ config, sources }: LoadedConfig): readonly ShownValue[] {
  return shownValues(config as Json, sources)
}

/** The texts that must not leave the program: keys as far as they can be resolved, and whatever else may be a secret. */
export function secretsOf({ config, sources }: LoadedConfig): readonly SecretText[] {
  const { webhook } = config.channels
  const keys = [
    ...Object.entries(config.models.providers).map(([name, provider]) => ({
      name: provider.api_key_env ?? `models.providers.${name}.api_key`,
      value: () => apiKeyOf(provider),
    })),
    ...(webhook ? [{ name: 'channels.webhook.secret', value: () => webhookSecretOf(webhook) }] : []),
  ].flatMap(({ name, value: of }): SecretText[] => {
    try {
      const value = of()
      return value === undefined ? [] : [{ name, value, kind: 'secret' }]
    } catch {
      return []
    }
  })
  const known = new Set(keys.map(({ value }) => value))
  return [...keys, ...secretTexts(config as Json, sources).filter(({ value }) => !known.has(value))]
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

/** Contract: throws `config_invalid` where it is not to be had. */
export function webhookSecretOf(
  { secret, secret_env, secret_file }: Pick<WebhookConfig, 'secret' | 'secret_env' | 'secret_file'>,
  readFile: (path: string) => string = (path) => readFileSync(path, 'utf8'),
  env: Variables = environment(),
): string {
  const kept = { whose: "the webhook's secret", key: 'channels.webhook.secret' }
  if (secret_env !== undefined) return keyFromVariable(secret_env, env, kept)
  return secret_file === undefined ? String(secret) : keyFromFile(secret_file, readFile, kept)
}

/** What is looked for, and the key that says where, without its ending. */
interface Kept {
  readonly whose: string
  readonly key: string
}

const API_KEY: Kept = { whose: "the provider's API key", key: 'api_key' }

function keyFromVariable(name: string, env: Variables, { whose, key }: Kept = API_KEY): string {
  const value = env[name]?.trim()
  if (value) return value
  // Whoever puts the key itself where its variable's name belongs should not find it in a log.
  const told = /^[A-Z][A-Z0-9_]*$/.test(name) ? name : `that ${key}_env names`
  throw new TirelessError('config_invalid', {
    what: `the environment variable ${told} is empty or not set`,
    expected: `${whose} in it`,
    fix: `set it, or change ${key}_env`,
  })
}

function keyFromFile(path: string, readFile: (path: string) => string, { whose, key }: Kept = API_KEY): string {
  const told = { where: path, expected: `${whose} in this file`, fix: `write it, or change ${key}_file` }
  let value: string
  try {
    value = readFile(path).trim()
  } catch (cause) {
    throw new TirelessError('config_invalid', { ...told, what: `cannot be read (${codeOf(cause)})` }, { cause })
  }
  if (value === '') throw new TirelessError('config_invalid', { ...told, what: 'the file is empty' })
  return value
}

/** Files are named relative to the configuration, whatever folder the program was started in; those of agents are the home's to place. */
function withPaths(config: Config, folder: string, env: Variables): Config {
  const placed = (path: string) =>
    path.startsWith('~/') ? join(userFolder(env), path.slice(2)) : resolve(folder, path)
  const away = (path: string) => (path.startsWith('~/') ? placed(path) : path)
  const agents = config.kernel.agents.map((agent) => ({
    ...agent,
    workspace: agent.workspace && away(agent.workspace),
    watch: agent.watch.map((watched) => (typeof watched === 'string' ? away(watched) : awayIn(watched, away))),
  }))
  const providers = Object.entries(config.models.providers).map(([name, provider]) => {
    const { api_key_file } = provider
    return [name, api_key_file === undefined ? provider : { ...provider, api_key_file: placed(api_key_file) }] as const
  })
  const models = { ...config.models, providers: Object.fromEntries(providers) }
  const mcp_servers = Object.fromEntries(
    Object.entries(config.mcp_servers).map(([name, server]) => [
      name,
      {
        ...server,
        cwd: placed(server.cwd ?? '.'),
        folders: server.folders.map(placed),
        reads: server.reads.map(placed),
      },
    ]),
  )
  const { webhook } = config.channels
  const hook = webhook?.secret_file === undefined ? webhook : { ...webhook, secret_file: placed(webhook.secret_file) }
  const channels = { ...config.channels, ...(hook && { webhook: hook }) }
  return { ...config, kernel: { ...config.kernel, agents }, models, mcp_servers, channels }
}

const awayIn = (watched: Readonly<Record<string, Json>>, away: (path: string) => string): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(watched).map(([key, value]) => [key, typeof value === 'string' ? away(value) : value]),
  )
