/** The spending caps per day and month from the configuration. */

import { type Cap, type CapScope, type CapUnit, MICROS_PER_USD } from '../domain/money.ts'
import type { BudgetConfig, Config } from './schema.ts'

/** True if the owner set a price or a money limit: then a model without a price does not count as free. */
export function hasMoneySettings({
  config,
  sources,
}: {
  readonly config: Config
  readonly sources: Readonly<Record<string, string>>
}): boolean {
  const set = (key: string): boolean => (sources[key] ?? 'default') !== 'default'
  return (
    Object.keys(config.models.prices).length > 0 ||
    Object.keys(config.budget).some((key) => key.endsWith('_usd') && set(`budget.${key}`))
  )
}

const KEY = /^per_(day|agent|kernel|month)_(usd|calls|tokens)$/

/**
 * The caps of each configuration. They are cached, because every request needs them; a reloaded configuration is a new
 * object.
 */
const capsCache = new WeakMap<BudgetConfig, readonly Cap[]>()

export function capsFromBudget(budget: BudgetConfig): readonly Cap[] {
  const caps = capsCache.get(budget) ?? readCaps(budget)
  capsCache.set(budget, caps)
  return caps
}

function readCaps(budget: BudgetConfig): readonly Cap[] {
  return Object.entries(budget).flatMap(([name, limit]) => {
    const [, scope, unit] = KEY.exec(name) ?? []
    if (scope === undefined || unit === undefined || limit === null) return []
    const amount = unit === 'usd' ? Math.round(limit * MICROS_PER_USD) : limit
    return [{ name, scope: scope as CapScope, unit: unit as CapUnit, limit: amount }]
  })
}
