/** Where answers about the past come from. They read only. */

import type { Snapshots } from '../ports/snapshots.ts'
import type { Store } from '../ports/store.ts'
import type { WallClock } from './wall-clock.ts'

/** The next beat of a schedule. */
export interface UpcomingBeat {
  readonly schedule_id: string
  readonly at: number
  readonly agents: readonly string[]
  readonly prompt: string | null
}

export interface PastSources {
  readonly store: Omit<Store, 'commit' | 'close' | 'backup'>
  readonly snapshots: Pick<Snapshots, 'changesOf' | 'versionsOf'>
  readonly kernelId: string
  now(): number
  /** The wall clock of the owner's time zone. */
  clock(): WallClock
  /** Contract: the next beat of each schedule that has one, earliest first. */
  upcoming(): Promise<readonly UpcomingBeat[]>
}
