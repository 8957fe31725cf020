/** Known providers: address, environment variable of the key, and default model. Edit freely. */

/** Providers in the order of detection. `variable: null`: a local server without a key, detected by a request. */
export const PROVIDERS = {
  anthropic: {
    protocol: 'anthropic',
    base_url: 'https://api.anthropic.com/v1',
    variable: 'ANTHROPIC_API_KEY',
    model: 'claude-sonnet-5-5',
  },
  openai: {
    protocol: 'openai',
    base_url: 'https://api.openai.com/v1',
    variable: 'OPENAI_API_KEY',
    model: 'gpt-5.6',
  },
  google: {
    protocol: 'google',
    base_url: 'https://generativelanguage.googleapis.com/v1beta',
    variable: 'GEMINI_API_KEY',
    model: 'gemini-flash-latest',
  },
  openrouter: {
    protocol: 'openai-compatible',
    base_url: 'https://openrouter.ai/api/v1',
    variable: 'OPENROUTER_API_KEY',
    model: 'openrouter/auto',
  },
  deepseek: {
    protocol: 'openai-compatible',
    base_url: 'https://api.deepseek.com/v1',
    variable: 'DEEPSEEK_API_KEY',
    model: 'deepseek-chat',
  },
  moonshot: {
    protocol: 'openai-compatible',
    base_url: 'https://api.moonshot.ai/v1',
    variable: 'MOONSHOT_API_KEY',
    model: 'kimi-latest',
  },
  dashscope: {
    protocol: 'openai-compatible',
    base_url: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
    variable: 'DASHSCOPE_API_KEY',
    model: 'qwen-plus',
  },
  ollama: { protocol: 'openai-compatible', base_url: 'http://127.0.0.1:11434/v1', variable: null, model: null },
  lmstudio: { protocol: 'openai-compatible', base_url: 'http://127.0.0.1:1234/v1', variable: null, model: null },
} as const satisfies Readonly<Record<string, KnownProvider>>

export type ProtocolName = 'openai-compatible' | 'openai' | 'anthropic' | 'google'

export interface KnownProvider {
  readonly protocol: ProtocolName
  readonly base_url: string
  readonly variable: string | null
  /** null: the first model that the server lists. */
  readonly model: string | null
}

export type ProviderEnvironment = Readonly<Record<string, string | undefined>>

/** Applies OPENAI_BASE_URL and OLLAMA_HOST. A server at OPENAI_BASE_URL may be only compatible with OpenAI. */
export function findKnownProvider(name: string, env: ProviderEnvironment): KnownProvider | undefined {
  if (!Object.hasOwn(PROVIDERS, name)) return undefined
  const known: KnownProvider = PROVIDERS[name as keyof typeof PROVIDERS]
  if (name === 'openai' && env.OPENAI_BASE_URL)
    return { ...known, protocol: 'openai-compatible', base_url: env.OPENAI_BASE_URL }
  if (name === 'ollama' && env.OLLAMA_HOST) return { ...known, base_url: ollamaAddress(env.OLLAMA_HOST) }
  return known
}

/** Parses OLLAMA_HOST as Ollama does: a host, a port, or both; 0.0.0.0 becomes 127.0.0.1. */
function ollamaAddress(host: string): string {
  const url = URL.parse(/^https?:\/\//.test(host) ? host : `http://${host.replace(/^:/, '127.0.0.1:')}`)
  if (!url) return PROVIDERS.ollama.base_url
  const port = url.port || (url.protocol === 'https:' || /:80(\/|$)/.test(host) ? '' : '11434')
  const name = url.hostname === '0.0.0.0' ? '127.0.0.1' : url.hostname
  return `${url.protocol}//${name}${port && `:${port}`}${url.pathname.replace(/\/+$/, '')}/v1`
}
