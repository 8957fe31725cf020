/** Passes the records of the runs of all processes on to viewers: those of this process always, others if followed. */

import { ignoreProgress, type Progress } from '../commands/lib/progress.ts'
import { deepFreeze } from '../domain/json.ts'
import { notifySafely, type RunSink } from '../ports/run-sink.ts'
import { createEventFolds } from '../trace/event-folds.ts'
import type { JournalFollower } from './journal-follower.ts'
import { RunFeed } from './run-feed.ts'

/** A sink that sees the runs of all processes. */
interface Viewer extends RunSink {
  /** Called if records of other processes were left out: what the viewer knows of their runs is incomplete. */
  onSkipped?(): void
}

export class AllRuns {
  readonly #viewers = new Set<Viewer>()
  readonly #listeners = new Set<(progress: Progress) => void>()
  #follower: Pick<JournalFollower, 'follow'> | undefined
  /** Gets the records of this process, and from the follower those of others. */
  readonly feed: RunFeed

  constructor() {
    this.feed = new RunFeed({
      onRunOpened: (run, past) => this.#tellViewers((viewer) => viewer.onRunOpened(run, past)),
      onRecord: (run, record) => this.#tellViewers((viewer) => viewer.onRecord(run, record)),
      onRunClosed: (run) => this.#tellViewers((viewer) => viewer.onRunClosed(run)),
      delta: (delta) => this.#tellViewers((viewer) => viewer.delta(delta)),
    })
  }

  /** Only on a shared store. Call it before any run starts. */
  connect(follower: Pick<JournalFollower, 'follow'>): void {
    this.#follower = follower
    const folds = createEventFolds((event) => this.tell({ kind: 'event', event }))
    this.addViewer({ ...folds, delta: (delta) => this.tell({ kind: 'delta', delta }) })
  }

  isShared(): boolean {
    return this.#follower !== undefined
  }

  addViewer(viewer: Viewer): void {
    this.#viewers.add(viewer)
  }

  /** Contract: the viewers also see the runs of other processes, until the result is called. */
  follow(): () => void {
    return this.#follower?.follow() ?? (() => {})
  }

  /** Contract: on a shared store, calls `listener` with the progress of all runs, until the result is called. */
  listen(listener: (progress: Progress) => void): () => void {
    if (listener === ignoreProgress) return () => {}
    this.#listeners.add(listener)
    const stopFollowing = this.follow()
    return () => {
      this.#listeners.delete(listener)
      stopFollowing()
    }
  }

  readonly tell = (progress: Progress): void => {
    if (this.#listeners.size === 0) return
    const frozen = deepFreeze(progress)
    for (const listener of this.#listeners) notifySafely(() => listener(frozen))
  }

  tellSkipped(): void {
    this.#tellViewers((viewer) => viewer.onSkipped?.())
  }

  #tellViewers(tell: (viewer: Viewer) => void): void {
    for (const viewer of this.#viewers) notifySafely(() => tell(viewer))
  }
}
