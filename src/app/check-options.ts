/** Checks the options of library callers: they may use JavaScript, and TypeScript has no number ranges. */

import { readSafely, TirelessError } from '../domain/error.ts'
import { findPriceProblem } from '../domain/limits.ts'
import type { ProviderModel } from '../ports/model.ts'

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

function checkModel(given: unknown): void {
  const isOwn = isMapping(given) && isPlainText(given.id) && typeof given.call === 'function'
  if (!isOwn && !isProviderModel(given) && !(isMapping(given) && isProviderModel(given.model)))
    throw invalidOption(
      'model',
      given,
      'an object with the text `id` and the function `call`, a model object of an AI SDK provider ' +
        `(version ${SDK_VERSIONS.join(', ')}), or { model, price } with such an object`,
    )
  const { price } = given as { readonly price?: unknown }
  const problem = price === undefined || price === null ? undefined : findPriceProblem(price)
  if (problem) throw invalidOption(`model.price.${problem.member}`, problem.value, problem.expected)
}

const SDK_VERSIONS: readonly unknown[] = ['v2', 'v3', 'v4']

/** Some providers return functions that have the members of a model. */
export function isProviderModel(value: unknown): value is ProviderModel {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const { specificationVersion, provider, modelId, doStream } = value as Partial<ProviderModel>
  const isNamed = isPlainText(provider) && isPlainText(modelId)
  return SDK_VERSIONS.includes(specificationVersion) && isNamed && typeof doStream === 'function'
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
