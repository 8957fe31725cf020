/** What was spent in a period: from the books, which are kept by day; of a part of a day, from the journals. */

import { MICROS_PER_USD, type Spend, type SpendGroup } from '../domain/money.ts'
import { findPastRuns } from './past-runs.ts'
import type { PastSources } from './past-sources.ts'
import type { Period } from './period.ts'
import { startOfDay, wallAt, writeDay } from './wall-clock.ts'

interface SpendLine {
  readonly name: string
  readonly usd: number
  readonly calls: number
}

export interface PastSpend {
  readonly usd: number
  /** Calls of models; null if only a part of a day was asked for. */
  readonly calls: number | null
  readonly tokens: number | null
  /** Highest first; days in order. */
  readonly lines: readonly SpendLine[]
  readonly by: SpendGroup
  /** True: calls of unknown price were made, which count as 0. */
  readonly is_partly_unpriced: boolean
}

export async function findPastSpend(
  sources: PastSources,
  period: Pick<Period, 'from' | 'to'>,
  by: SpendGroup = 'agent',
): Promise<PastSpend> {
  const clock = sources.clock()
  const [from, last] = [wallAt(clock, period.from), wallAt(clock, Math.min(period.to, sources.now() + 1) - 1)]
  const isWholeDays =
    period.from === 0 ||
    (startOfDay(from) === from && (period.to > sources.now() || startOfDay(wallAt(clock, period.to)) === last + 1))
  if (!isWholeDays) return spendOfRuns(sources, period, by)
  const rows = await sources.store.spend(writeDay(from), writeDay(last))
  const sum = (of: (row: Spend) => number): number => rows.reduce((all, row) => all + of(row), 0)
  return {
    usd: sum(({ usd, reserved }) => usd + reserved) / MICROS_PER_USD,
    calls: sum(({ calls }) => calls),
    tokens: sum(({ input_tokens, output_tokens }) => input_tokens + output_tokens),
    lines: linesOf(rows, by),
    by,
    is_partly_unpriced: rows.some(({ usd, reserved, calls }) => calls > 0 && usd + reserved === 0),
  }
}

function linesOf(rows: readonly Spend[], by: SpendGroup): readonly SpendLine[] {
  const nameOf = ({ agent_id, model, day }: Spend): string => ({ agent: agent_id, model, day })[by]
  const lines = [...Map.groupBy(rows, nameOf)].map(([name, of]) => ({
    name,
    usd: of.reduce((all, { usd, reserved }) => all + usd + reserved, 0) / MICROS_PER_USD,
    calls: of.reduce((all, { calls }) => all + calls, 0),
  }))
  return by === 'day' ? lines.toSorted((a, b) => (a.name < b.name ? -1 : 1)) : lines.toSorted((a, b) => b.usd - a.usd)
}

/** The journals have no calls by model, so a part of a day is always listed by agent. */
async function spendOfRuns(
  sources: PastSources,
  period: Pick<Period, 'from' | 'to'>,
  by: SpendGroup,
): Promise<PastSpend> {
  const { runs } = await findPastRuns(sources, { period, limit: Number.MAX_SAFE_INTEGER })
  const lines = [...Map.groupBy(runs, ({ agent_id }) => agent_id)].map(([name, of]) => ({
    ...{ name, usd: of.reduce((all, { usd }) => all + (usd ?? 0), 0), calls: of.length },
  }))
  return {
    ...{ usd: lines.reduce((all, { usd }) => all + usd, 0), calls: null, tokens: null },
    ...{ lines: by === 'agent' ? lines : [], by, is_partly_unpriced: runs.some(({ usd }) => usd === null) },
  }
}
