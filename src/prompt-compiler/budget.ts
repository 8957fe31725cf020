/**
 * Divides a token limit among sections: first the `whole` sections, then the `floor` of each other section, then the
 * rest by priority.
 */

import { TirelessError } from '../domain/error.ts'

export interface TokenDemand {
  readonly name: string
  /** Tokens of the complete section. */
  readonly need: number
  /** The section is never truncated. */
  readonly whole: boolean
  /** With fewer tokens the section is useless and is left out. */
  readonly floor: number
  /** Maximum tokens of the section; null: no maximum. */
  readonly ceiling: number | null
  /** Sections with a higher priority get tokens first; equal priorities in the given order. */
  readonly priority: number
}

/**
 * Contract: returns the tokens of each section, in the given order; 0 means that the section is left out. The sum is at
 * most `limit` (above 0; null: no limit). Throws `model_oversize` if the `whole` sections alone do not fit.
 */
export function allotTokens(demands: readonly TokenDemand[], limit: number | null): readonly number[] {
  checkLimit(limit)
  const demanded = demands.map(({ need, whole, ceiling }) => (whole ? need : Math.min(need, ceiling ?? need)))
  if (limit === null) return demanded
  const allotted = demands.map(({ whole, need }) => (whole ? need : 0))
  let left = limit - allotted.reduce((sum, tokens) => sum + tokens, 0)
  if (left < 0) throw oversizeError(demands, limit)
  const flexible = byPriority(demands).filter((i) => !demands[i]?.whole)
  const floors = demands.map(({ floor }, i) => Math.min(floor, demanded[i] ?? 0))
  const fitting = flexible.filter((i) => {
    const floor = floors[i] ?? 0
    if (floor > left) return false
    allotted[i] = floor
    left -= floor
    return true
  })
  for (const i of fitting) {
    const more = Math.min(left, (demanded[i] ?? 0) - (allotted[i] ?? 0))
    allotted[i] = (allotted[i] ?? 0) + more
    left -= more
  }
  return allotted
}

/** Contract: indices by descending priority. */
export function byPriority(demands: readonly Pick<TokenDemand, 'priority'>[]): number[] {
  return [...demands.keys()].sort((a, b) => (demands[b]?.priority ?? 0) - (demands[a]?.priority ?? 0) || a - b)
}

function checkLimit(limit: number | null): void {
  if (limit === null || (Number.isFinite(limit) && limit > 0)) return
  throw new TirelessError('config_invalid', {
    what: 'the token limit of the prompt is not valid',
    got: `${limit} tokens`,
    expected: 'a number above 0, or null for no limit',
  })
}

function oversizeError(demands: readonly TokenDemand[], limit: number): TirelessError {
  const whole = demands.filter((demand) => demand.whole).sort((a, b) => b.need - a.need)
  const listed = whole.map(({ name, need }) => `${name} ${need}`).join(', ')
  return new TirelessError('model_oversize', {
    what: 'the sections that must not be truncated do not fit into the prompt',
    got: `${whole.reduce((sum, { need }) => sum + need, 0)} tokens (${listed})`,
    expected: `at most ${limit}`,
    fix: 'shorten the first of these sections, or use a model with a larger context',
  })
}
