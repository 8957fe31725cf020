/** Checks the options of library callers: they may use JavaScript, and TypeScript has no number ranges. */

import { readSafely, TirelessError } from '../domain/error.ts'
import { isPrice, isTokenCount, MAX_PRICE, MAX_TOKENS } from '../domain/limits.ts'
import type { Model } from '../ports/model.ts'

const TEXTS = ['home', 'config', 'name', 'agent', 'workspace'] as const
const LISTS = [
  'plugins',
  'channels',
  'tools',
  'behaviours',
  'parsers',
  'memories',
  'critics',
  'gates',
  'hooks',
  'envs',
  'modelProviders',
  'recoveryRules',
  'stopRules',
] as const

/** Contract: throws `usage` with the option's name. */
export function checkOptions(options: object): void {
  readSafely('options', () => checkFields(options))
}

function checkFields(options: object): void {
  if (!isMapping(options)) throw invalidOption('options', options, 'an object')
  for (const key of TEXTS) {
    const value = options[key]
    if (value !== undefined && !isPlainText(value)) throw invalidOption(key, value, 'non-empty text')
  }
  for (const key of LISTS) {
    const list = options[key] ?? []
    if (!Array.isArray(list)) throw invalidOption(key, list, 'a list')
    for (const part of list) readSafely(key, () => part?.name)
  }
  if (options.model !== undefined) checkModel(options.model)
}

function checkModel(model: unknown): void {
  if (!isMapping(model) || !isPlainText(model.id) || typeof model.call !== 'function')
    throw invalidOption('model', model, 'an object with the text `id` and the function `call`')
  const { price } = model as unknown as Model
  if (price === undefined || price === null) return
  for (const key of ['input', 'output', 'cached', 'cache_write'] as const)
    if (!isPrice(price[key] ?? (key.startsWith('cache') ? 0 : undefined)))
      throw invalidOption(`model.price.${key}`, price[key], `US dollars per million tokens, from 0 to ${MAX_PRICE}`)
  if (!isTokenCount(price.max_output))
    throw invalidOption('model.price.max_output', price.max_output, `a whole number of tokens, at most ${MAX_TOKENS}`)
}

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isPlainText = (value: unknown): boolean =>
  typeof value === 'string' && value.trim() !== '' && value.isWellFormed() && !value.includes('\0')

const invalidOption = (where: string, got: unknown, expected: string): TirelessError =>
  new TirelessError('usage', {
    what: 'invalid option',
    where,
    got: typeof got === 'object' && got !== null ? 'an object' : String(got).slice(0, 60),
    expected,
  })
