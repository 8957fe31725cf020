/**
 * Compares the ratios of a run with the stored baseline. Pure. A ratio compares two subjects measured in one run on one
 * machine, so it can be compared with a ratio from another machine; times in ms cannot.
 */

import { table } from './report.ts'

export interface Ratio {
  /** Describes the two values; also the key in the baseline. */
  readonly name: string
  readonly better: 'higher' | 'lower'
  /** Null: not measured. */
  readonly value: number | null
}

interface BaselineRatio {
  readonly value: number
  readonly better: Ratio['better']
  /** Accepted worsening as a fraction of the value: 0.2 is 20 %. */
  readonly tolerance: number
}

interface BaselineSuite {
  /** Describes the run; not used in the comparison. */
  readonly measured: string
  readonly ratios: Readonly<Record<string, BaselineRatio>>
}

export type Baseline = Readonly<Record<string, BaselineSuite>>

type RatioVerdict = 'ok' | 'better' | 'WORSE' | 'NOT MEASURED' | 'new'

interface ComparedRatio {
  readonly name: string
  readonly before: BaselineRatio | undefined
  readonly now: number | null
  readonly verdict: RatioVerdict
}

const DEFAULT_TOLERANCE = 0.25

export const higher = (name: string, value: number | null | undefined): Ratio => ratio(name, 'higher', value)
export const lower = (name: string, value: number | null | undefined): Ratio => ratio(name, 'lower', value)

function ratio(name: string, better: Ratio['better'], value: number | null | undefined): Ratio {
  return { name, better, value: value == null || !Number.isFinite(value) ? null : value }
}

/** Contract: null if one value is missing. */
export const quotient = (part: number | null | undefined, whole: number | null | undefined): number | null =>
  part == null || whole == null || whole === 0 ? null : part / whole

export function compareRatios(baseline: BaselineSuite, ratios: readonly Ratio[]): readonly ComparedRatio[] {
  const values = new Map(ratios.map(({ name, value }) => [name, value]))
  const known = Object.entries(baseline.ratios).map(([name, before]): ComparedRatio => {
    const now = values.get(name) ?? null
    return { name, before, now, verdict: judge(before, now) }
  })
  const added = ratios.filter(({ name }) => !(name in baseline.ratios))
  return [
    ...known,
    ...added.map(({ name, value }) => ({ name, before: undefined, now: value, verdict: 'new' as const })),
  ]
}

function judge({ value, better, tolerance }: BaselineRatio, now: number | null): RatioVerdict {
  if (now === null) return 'NOT MEASURED'
  const change = changeOf(value, now) * (better === 'higher' ? 1 : -1)
  if (change < -tolerance) return 'WORSE'
  return change > tolerance ? 'better' : 'ok'
}

/** A missing value is a failure too, so that a subject that no longer runs is noticed. */
export const isWorse = ({ verdict }: ComparedRatio): boolean => verdict === 'WORSE' || verdict === 'NOT MEASURED'

const changeOf = (before: number, now: number): number => now / before - 1

const figure = (value: number): string => String(Number(value.toPrecision(3)))

export function comparisonTable(compared: readonly ComparedRatio[]): string {
  const percent = (part: number): string => `${part > 0 ? '+' : ''}${(100 * part).toFixed(0)} %`
  return table(
    ['ratio', 'baseline', 'now', 'change', 'allowed', ''],
    compared.map(({ name, before, now, verdict }) => [
      name,
      before ? figure(before.value) : '',
      now === null ? '' : figure(now),
      before && now !== null ? percent(changeOf(before.value, now)) : '',
      before ? percent(before.tolerance * (before.better === 'higher' ? -1 : 1)) : '',
      verdict,
    ]),
  )
}

/** Contract: the measured ratios with their earlier tolerances; ratios that were not measured keep their values. */
export function updateBaseline(
  before: BaselineSuite | undefined,
  measured: string,
  ratios: readonly Ratio[],
): BaselineSuite {
  const updated = Object.fromEntries(
    ratios.flatMap(({ name, better, value }) => {
      const known = before?.ratios[name]
      if (value === null) return known ? [[name, known]] : []
      return [[name, { value: Number(value.toPrecision(3)), better, tolerance: known?.tolerance ?? DEFAULT_TOLERANCE }]]
    }),
  )
  return { measured, ratios: updated }
}
