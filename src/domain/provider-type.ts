/** The kinds of model providers that a configuration can name. */

export const PROVIDER_TYPES = [
  'openai-compatible',
  'openai',
  'anthropic',
  'google',
  'openrouter',
  'deepseek',
  'moonshot',
  'dashscope',
  'ollama',
  'lmstudio',
] as const

export type ProviderType = (typeof PROVIDER_TYPES)[number]
