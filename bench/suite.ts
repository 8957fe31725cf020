/** Options and results that all suites share. */

import type { Bar } from './bars.ts'
import type { Machine } from './machine.ts'
import type { Ratio } from './ratios.ts'

/** `full`: reliable values. `quick`: rough values. `smoke`: takes seconds and only checks that the suite works. */
export type Scale = 'full' | 'quick' | 'smoke'

export interface SuiteOptions {
  readonly scale: Scale
  /** Homes and databases are created in this folder. */
  readonly folder: string
  readonly say: (line: string) => void
}

export interface SuiteResults {
  readonly suite: string
  readonly scale: Scale
  readonly at: string
  readonly machine: Machine
  /** Empty in a smoke run, except for bars that count instead of measuring time. */
  readonly bars: readonly Bar[]
  readonly ratios: readonly Ratio[]
}
