/** Known providers: address, environment variable of the key, and default model. Edit freely. */

import type { KeyVariable } from '../../ports/model.ts'

/** Providers in the order of detection. `variable: null`: a local server without a key, detected by a request. */
export const PROVIDERS = {
  anthropic: {
    protocol: 'anthropic',
    base_url: 'https://api.anthropic.com/v1',
    base_url_variables: ['ANTHROPIC_BASE_URL'],
    variable: 'ANTHROPIC_API_KEY',
    token_variable: 'ANTHROPIC_AUTH_TOKEN',
    model: 'claude-sonnet-5-5',
  },
  openai: {
    protocol: 'openai',
    base_url: 'https://api.openai.com/v1',
    base_url_variables: ['OPENAI_BASE_URL'],
    variable: 'OPENAI_API_KEY',
    model: 'gpt-5.6',
  },
  google: {
    protocol: 'google',
    base_url: 'https://generativelanguage.googleapis.com/v1beta',
    base_url_variables: ['GOOGLE_GEMINI_BASE_URL', 'GEMINI_BASE_URL'],
    variable: 'GEMINI_API_KEY',
    model: 'gemini-flash-latest',
  },
  openrouter: {
    protocol: 'openai-compatible',
    base_url: 'https://openrouter.ai/api/v1',
    base_url_variables: ['OPENROUTER_BASE_URL'],
    variable: 'OPENROUTER_API_KEY',
    model: 'openrouter/auto',
  },
  deepseek: {
    protocol: 'openai-compatible',
    base_url: 'https://api.deepseek.com/v1',
    base_url_variables: ['DEEPSEEK_BASE_URL'],
    variable: 'DEEPSEEK_API_KEY',
    model: 'deepseek-chat',
  },
  moonshot: {
    protocol: 'openai-compatible',
    base_url: 'https://api.moonshot.ai/v1',
    base_url_variables: ['MOONSHOT_BASE_URL'],
    variable: 'MOONSHOT_API_KEY',
    model: 'kimi-latest',
  },
  dashscope: {
    protocol: 'openai-compatible',
    base_url: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
    base_url_variables: ['DASHSCOPE_BASE_URL'],
    variable: 'DASHSCOPE_API_KEY',
    model: 'qwen-plus',
  },
  ollama: { protocol: 'openai-compatible', base_url: 'http://127.0.0.1:11434/v1', variable: null, model: null },
  lmstudio: { protocol: 'openai-compatible', base_url: 'http://127.0.0.1:1234/v1', variable: null, model: null },
} as const satisfies Readonly<Record<string, KnownProvider>>

export type ProtocolName = 'openai-compatible' | 'openai' | 'anthropic' | 'google'

interface KnownProvider {
  readonly protocol: ProtocolName
  readonly base_url: string
  /** Variables that replace `base_url`, the first one that is set. */
  readonly base_url_variables?: readonly string[]
  /** The variable of the key; null: a local server without a key. */
  readonly variable: string | null
  /** A variable used if `variable` is not set; its value is sent as `Authorization: Bearer`. */
  readonly token_variable?: string
  /** null: the first model that the server lists. */
  readonly model: string | null
}

/** A known provider with what the environment says about it. */
export interface FoundProvider extends KnownProvider {
  /** The variable that `base_url` is from. */
  readonly base_url_variable?: string
}

export type ProviderEnvironment = Readonly<Record<string, string | undefined>>

const isSet = (env: ProviderEnvironment, name: string): boolean => (env[name]?.trim() ?? '') !== ''

/** Applies variables such as ANTHROPIC_BASE_URL, and OLLAMA_HOST. The address is as written; it may be no URL. */
export function findKnownProvider(name: string, env: ProviderEnvironment): FoundProvider | undefined {
  if (!Object.hasOwn(PROVIDERS, name)) return undefined
  const known: KnownProvider = PROVIDERS[name as keyof typeof PROVIDERS]
  if (name === 'ollama' && env.OLLAMA_HOST) return { ...known, base_url: ollamaAddress(env.OLLAMA_HOST) }
  const variable = known.base_url_variables?.find((one) => isSet(env, one))
  if (variable === undefined) return known
  const base_url = env[variable]?.trim() ?? ''
  return { ...known, protocol: protocolAt(known, base_url), base_url, base_url_variable: variable }
}

/** A server at OPENAI_BASE_URL that is not OpenAI's own may be only compatible with OpenAI. */
const protocolAt = ({ protocol, base_url }: KnownProvider, address: string): ProtocolName =>
  protocol === 'openai' && URL.parse(address)?.host !== URL.parse(base_url)?.host ? 'openai-compatible' : protocol

/** Contract: the variable that has the provider's key; undefined if none is set. */
export const findKeyVariable = (known: KnownProvider, env: ProviderEnvironment): string | undefined =>
  [known.variable, known.token_variable].find((name): name is string => typeof name === 'string' && isSet(env, name))

/** Contract: for each provider with a key: the variable that is set, or else the one to set. */
export const listKeyVariables = (env: ProviderEnvironment): readonly KeyVariable[] =>
  Object.entries<KnownProvider>(PROVIDERS).flatMap(([provider, known]) => {
    const found = findKeyVariable(known, env)
    return known.variable === null ? [] : [{ provider, variable: found ?? known.variable, is_set: found !== undefined }]
  })

/** Whether the variable has a token, which is sent as `Authorization: Bearer` instead of as an API key. */
export const isTokenVariable = (name: string | undefined): boolean =>
  name !== undefined && Object.values<KnownProvider>(PROVIDERS).some(({ token_variable }) => token_variable === name)

/** Parses OLLAMA_HOST as Ollama does: a host, a port, or both; 0.0.0.0 becomes 127.0.0.1. */
function ollamaAddress(host: string): string {
  const url = URL.parse(/^https?:\/\//.test(host) ? host : `http://${host.replace(/^:/, '127.0.0.1:')}`)
  if (!url) return PROVIDERS.ollama.base_url
  const port = url.port || (url.protocol === 'https:' || /:80(\/|$)/.test(host) ? '' : '11434')
  const name = url.hostname === '0.0.0.0' ? '127.0.0.1' : url.hostname
  return `${url.protocol}//${name}${port && `:${port}`}${url.pathname.replace(/\/+$/, '')}/v1`
}
