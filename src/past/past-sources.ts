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

/** An agent as its owner configured it. */
export interface KnownAgent {
  readonly agent_id: string
  readonly enabled: boolean
  /** What starts it, besides people: its own schedule, the kernel's beats, those with a change, or messages. */
  readonly starts: 'schedule' | 'beats' | 'changes' | 'messages'
}

export interface PastSources {
  readonly store: Omit<Store, 'commit' | 'close' | 'backup'>
  readonly snapshots: Pick<Snapshots, 'changesOf' | 'versionsOf'>
  readonly kernelId: string
  now(): number
  /** The wall clock of the owner's time zone. */
  clock(): WallClock
  /** Contract: the agents that are configured now. */
  agents(): readonly KnownAgent[]
  /** Contract: the next beat of each schedule that has one, earliest first. */
  upcoming(): Promise<readonly UpcomingBeat[]>
}
