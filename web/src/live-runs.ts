/** The runs of the page: folded from live events, fetched from their start where events are missing. */

import type { Event, LiveDelta } from '../../src/domain/event.ts'
import { readCommand } from './api.ts'
import type { Dispatch } from './api-types.ts'
import { applyDelta, applyEvent, newRun, type RunView } from './run-view.ts'

const MAX_RUNS = 50
/** How long ended runs stay among the running ones. */
const LINGER_MS = 6000

export class LiveRuns {
  readonly #runs: Map<string, RunView>
  readonly #onChange: () => void
  readonly #read: (run: string) => Promise<readonly Event[]>
  /** Runs being fetched, with events and deltas that arrived in the meantime. */
  readonly #fetching = new Map<string, (Event | LiveDelta)[]>()

  constructor(runs: Map<string, RunView>, onChange: () => void, read = readEvents) {
    this.#runs = runs
    this.#onChange = onChange
    this.#read = read
  }

  /** Contract: the run of the event; undefined if the run is being fetched from its start, as events are missing. */
  applyEvent(event: Event): RunView | undefined {
    const queued = this.#fetching.get(event.run_id)
    queued?.push(event)
    const known = this.#runs.get(event.run_id)
    if (queued && !isWhole(known)) return undefined
    const run = known ?? newRun(event.run_id)
    this.#runs.set(event.run_id, run)
    applyEvent(run, event)
    for (const [id, { to }] of this.#runs) if (this.#runs.size > MAX_RUNS && to !== null) this.#runs.delete(id)
    return run
  }

  applyDelta(delta: LiveDelta): void {
    this.#fetching.get(delta.run_id)?.push(delta)
    const run = this.#runs.get(delta.run_id)
    if (run) applyDelta(run, delta)
  }

  /** Events and deltas are missing. */
  reset(): Promise<void> {
    this.#runs.clear()
    for (const id of this.#fetching.keys()) this.#fetching.set(id, [])
    return this.fetchRunning()
  }

  /** Not every end has an event: a run whose process died too often is set aside. */
  endThose(over: readonly Dispatch[]): void {
    for (const { dispatch_id, status, updated_at, error } of over) {
      const run = this.#runs.get(dispatch_id)
      if (!run || run.to !== null) continue
      run.state = status === 'done' ? 'done' : 'failed'
      run.to = Date.parse(updated_at)
      run.reason = error ?? run.reason
    }
  }

  async fetchRunning(): Promise<void> {
    const { items } = await readCommand('queue list', { status: 'running', limit: 20 })
    // A run that was just claimed has no trace yet; its events will arrive.
    await Promise.allSettled(
      items.map(({ dispatch_id, agent_id, title }) => this.fetchRun(dispatch_id, agent_id, title)),
    )
  }

  /** Fetches a run. One without a gap is continued; another is folded anew, with what arrived in the meantime. */
  async fetchRun(id: string, agent: string, task: string): Promise<void> {
    if (this.#fetching.has(id)) return
    this.#fetching.set(id, [])
    try {
      const { events, queued } = await this.#readQueueing(id)
      const known = this.#runs.get(id)
      if (isWhole(known)) for (const event of events) applyEvent(known, event)
      else this.#runs.set(id, foldRun(newRun(id, agent, task), [...events, ...queued]))
    } catch (thrown) {
      this.#keepNew(id, foldRun(newRun(id, agent, task), this.#fetching.get(id) ?? []))
      throw thrown
    } finally {
      this.#fetching.delete(id)
      this.#onChange()
    }
  }

  /** A run that was just claimed may have no trace yet, but all its events have arrived. */
  #keepNew(id: string, run: RunView): void {
    if (run.seq > 0 && isWhole(run) && !this.#runs.has(id)) this.#runs.set(id, run)
  }

  /** Contract: the run's events, and all that arrived since they were asked for; after a reset, it asks again. */
  async #readQueueing(id: string): Promise<Fetched> {
    const queued = this.#fetching.get(id) ?? []
    const events = await this.#read(id)
    return this.#fetching.get(id) === queued ? { events, queued } : this.#readQueueing(id)
  }
}

interface Fetched {
  readonly events: readonly Event[]
  readonly queued: readonly (Event | LiveDelta)[]
}

const readEvents = async (run: string): Promise<readonly Event[]> =>
  (await readCommand('trace show', { run, events: true })).events ?? []

/** Contract: no event of the run is missing, up to its last one. */
const isWhole = (run: RunView | undefined): run is RunView => run?.gap === false

function foldRun(run: RunView, items: readonly (Event | LiveDelta)[]): RunView {
  for (const item of items)
    if ('stage' in item) applyEvent(run, item)
    else applyDelta(run, item)
  return run
}

/** Contract: running runs and those that ended just now, oldest first; looks only while they run, as there are many. */
export function visibleRuns(runs: ReadonlyMap<string, RunView>, now: number): readonly RunView[] {
  return [...runs.values()]
    .filter(({ to, isLook }) => to === null || (!isLook && now - to < LINGER_MS))
    .sort((a, b) => a.from - b.from)
}
