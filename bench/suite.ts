/** What a suite is asked for, and what every suite's results have in common. */

import type { Bar } from './bars.ts'
import type { Machine } from './machine.ts'
import type { Ratio } from './ratios.ts'

/** `full`: to be believed. `quick`: a first look. `smoke`: seconds; says only that the suite still runs to its end. */
export type Scale = 'full' | 'quick' | 'smoke'

export interface SuiteOptions {
  readonly scale: Scale
  /** Homes and databases are made below it. */
  readonly folder: string
  readonly say: (line: string) => void
}

export interface SuiteResults {
  readonly suite: string
  readonly scale: Scale
  readonly at: string
  readonly machine: Machine
  /** None in a smoke run, except for counts: what takes seconds says nothing about time. */
  readonly bars: readonly Bar[]
  readonly ratios: readonly Ratio[]
}
