/** Who gets how many tokens: what must be whole first, then the floors, then by priority; what one does not need goes to the next. */

import { TirelessError } from '../domain/error.ts'

export interface Demand {
  readonly name: string
  /** Tokens of all of it. */
  readonly need: number
  /** Never cut. */
  readonly whole: boolean
  /** Less than this is of no use: then it is left out. */
  readonly floor: number
  /** More than this it never gets; null: no limit of its own. */
  readonly ceiling: number | null
  /** Higher first; among equals, the order given. */
  readonly priority: number
}

/**
 * Contract: tokens for each, in the order given; 0: it is left out. Never more than `limit` in all, which is above 0, or null for none.
 * Throws `model_oversize` where not even what must be whole fits.
 */
export function allot(demands: readonly Demand[], limit: number | null): readonly number[] {
  checkLimit(limit)
  const wanted = demands.map(({ need, whole, ceiling }) => (whole ? need : Math.min(need, ceiling ?? need)))
  if (limit === null) return wanted
  const given = demands.map(({ whole, need }) => (whole ? need : 0))
  let left = limit - given.reduce((sum, tokens) => sum + tokens, 0)
  if (left < 0) throw oversize(demands, limit)
  const inOrder = byPriority(demands).filter((i) => !demands[i]?.whole)
  const floors = demands.map(({ floor }, i) => Math.min(floor, wanted[i] ?? 0))
  const fitting = inOrder.filter((i) => {
    const floor = floors[i] ?? 0
    if (floor > left) return false
    given[i] = floor
    left -= floor
    return true
  })
  for (const i of fitting) {
    const more = Math.min(left, (wanted[i] ?? 0) - (given[i] ?? 0))
    given[i] = (given[i] ?? 0) + more
    left -= more
  }
  return given
}

/** Contract: indices, the first to be served first. */
export function byPriority(demands: readonly Pick<Demand, 'priority'>[]): number[] {
  return [...demands.keys()].sort((a, b) => (demands[b]?.priority ?? 0) - (demands[a]?.priority ?? 0) || a - b)
}

function checkLimit(limit: number | null): void {
  if (limit === null || (Number.isFinite(limit) && limit > 0)) return
  throw new TirelessError('config_invalid', {
    what: 'this is no limit for a prompt',
    got: `${limit} tokens`,
    expected: 'a number above 0, or null for no limit',
  })
}

function oversize(demands: readonly Demand[], limit: number): TirelessError {
  const whole = demands.filter((demand) => demand.whole).sort((a, b) => b.need - a.need)
  const listed = whole.map(({ name, need }) => `${name} ${need}`).join(', ')
  return new TirelessError('model_oversize', {
    what: 'what may not be cut does not fit into the prompt',
    got: `${whole.reduce((sum, { need }) => sum + need, 0)} tokens (${listed})`,
    expected: `at most ${limit}`,
    fix: 'shorten the first of these, or take a model with more room',
  })
}
