/**
 * Shrinks a failing plan to a smaller one that breaks the same invariant: drops many items at a time, then single ones.
 */

import { itemsOf, type Plan, withoutItems } from './plan.ts'
import { type Report, simulate } from './simulate.ts'
import type { Variant } from './variants.ts'

const MAX_TRIES = 150

export interface ShrunkPlan {
  readonly plan: Plan
  readonly report: Report
  readonly dropped: readonly string[]
  readonly tries: number
}

export async function shrink(plan: Plan, failed: Report, variant: Variant): Promise<ShrunkPlan> {
  const dropped = new Set<string>()
  let best = failed
  let tries = 0
  const stillFails = async (more: readonly string[]): Promise<boolean> => {
    tries += 1
    const report = await simulate(withoutItems(plan, new Set([...dropped, ...more])), { variant })
    if (report.violation?.invariant !== failed.violation?.invariant) return false
    for (const id of more) dropped.add(id)
    best = report
    return true
  }
  for (let size = Math.ceil(itemsOf(plan).length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    let again = true
    while (again && tries < MAX_TRIES) {
      again = false
      const left = itemsOf(withoutItems(plan, dropped)).map(({ id }) => id)
      for (let i = 0; i < left.length && tries < MAX_TRIES; i += size)
        if (await stillFails(left.slice(i, i + size))) again = size === 1
    }
  }
  return { plan: withoutItems(plan, dropped), report: best, dropped: [...dropped], tries }
}
