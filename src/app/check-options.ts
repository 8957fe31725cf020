/** What a program hands to the library, checked before anything is opened. TypeScript is not everybody's, and numbers have no range in it. */

import { TirelessError } from '../domain/error.ts'
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
] as const

/** Contract: throws `usage` naming the option. */
export function checkOptions(options: object): void {
  if (!isMapping(options)) throw wrong('options', options, 'an object')
  for (const key of TEXTS) {
    const value = options[key]
    if (value !== undefined && !isPlainText(value)) throw wrong(key, value, 'text that is not empty')
  }
  for (const key of LISTS)
    if (options[key] !== undefined && !Array.isArray(options[key])) throw wrong(key, options[key], 'a list')
  if (options.model !== undefined) checkModel(options.model)
}

function checkModel(model: unknown): void {
  if (!isMapping(model) || !isPlainText(model.id) || typeof model.call !== 'function')
    throw wrong('model', model, 'an object with the text `id` and the function `call`')
  const { price } = model as unknown as Model
  if (price === undefined || price === null) return
  for (const key of ['input', 'output', 'cached', 'cache_write'] as const)
    if (!isPrice(price[key] ?? (key.startsWith('cache') ? 0 : undefined)))
      throw wrong(`model.price.${key}`, price[key], `US dollars per million tokens, from 0 to ${MAX_PRICE}`)
  if (!isTokenCount(price.max_output))
    throw wrong('model.price.max_output', price.max_output, `a whole number of tokens, at most ${MAX_TOKENS}`)
}

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isPlainText = (value: unknown): boolean =>
  typeof value === 'string' && value.trim() !== '' && value.isWellFormed() && !value.includes('\0')

const wrong = (where: string, got: unknown, expected: string): TirelessError =>
  new TirelessError('usage', {
    what: 'this option cannot be used',
    where,
    got: typeof got === 'object' && got !== null ? 'an object' : String(got).slice(0, 60),
    expected,
  })
