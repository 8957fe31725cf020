/**
 * List prices of known models, in US dollars per million tokens; `models.prices` overrides them. If a model family has
 * several prices, the highest is listed: a price that is too high ends runs early, one that is too low would overspend
 * a cap.
 */

import { type Price, priceFor } from '../../domain/money.ts'
import { PROVIDERS } from './providers.ts'

type ListPrice = Omit<Price, 'max_output'>

/** For models that run on this machine. */
export const FREE_PRICE: ListPrice = { input: 0, output: 0 }

export const LIST_PRICES: Readonly<Record<string, ListPrice>> = {
  'offline/*': FREE_PRICE,
  'ollama/*': FREE_PRICE,
  'lmstudio/*': FREE_PRICE,
  'anthropic/claude-opus-*': { input: 15, output: 75, cached: 1.5, cache_write: 18.75 },
  'anthropic/claude-sonnet-*': { input: 3, output: 15, cached: 0.3, cache_write: 3.75 },
  'anthropic/claude-haiku-*': { input: 1, output: 5, cached: 0.1, cache_write: 1.25 },
  'openai/gpt-5*': { input: 2.5, output: 15, cached: 0.25 },
  'openai/gpt-5*-pro*': { input: 30, output: 180 },
  'openai/gpt-5*-mini*': { input: 0.75, output: 4.5, cached: 0.075 },
  'openai/gpt-5*-nano*': { input: 0.2, output: 1.25, cached: 0.02 },
  'openai/gpt-4.1*': { input: 2, output: 8, cached: 0.5 },
  'openai/gpt-4o*': { input: 2.5, output: 10, cached: 1.25 },
  'google/gemini-*pro*': { input: 4, output: 18, cached: 0.4 },
  'google/gemini-*flash*': { input: 0.5, output: 3, cached: 0.05 },
  'deepseek/*': { input: 0.6, output: 1.7, cached: 0.07 },
  'moonshot/kimi-*': { input: 1.2, output: 5, cached: 0.15 },
}

/** A well-known paid model, for cost comparisons when the model in use is free. */
export function referencePrice(max_output: number): { readonly id: string; readonly price: Price | null } {
  const id = `anthropic/${PROVIDERS.anthropic.model}`
  const price = priceFor(id, LIST_PRICES)
  return { id, price: price ? { ...price, max_output } : null }
}
