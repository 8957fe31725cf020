/** The caps that a configuration sets on a day's and a month's work. */

import { type Cap, type CapScope, type CapUnit, MICROS } from '../domain/money.ts'
import type { BudgetConfig, Config } from './schema.ts'

/** Whether the owner has said anything of money: then nothing is taken to be free that is not said to be. */
export function mindsMoney({
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

/** Asked for with every request; a configuration that has changed is another object. */
const known = new WeakMap<BudgetConfig, readonly Cap[]>()

export function capsOf(budget: BudgetConfig): readonly Cap[] {
  const caps = known.get(budget) ?? readCaps(budget)
  known.set(budget, caps)
  return caps
}

function readCaps(budget: BudgetConfig): readonly Cap[] {
  return Object.entries(budget).flatMap(([name, limit]) => {
    const [, scope, unit] = KEY.exec(name) ?? []
    if (scope === undefined || unit === undefined || limit === null) return []
    const amount = unit === 'usd' ? Math.round(limit * MICROS) : limit
    return [{ name, scope: scope as CapScope, unit: unit as CapUnit, limit: amount }]
  })
}
