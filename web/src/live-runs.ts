/** The runs of the page: folded from live events, fetched from their start where events are missing. */

import type { Delta, Event } from '../../src/domain/event.ts'
import { readCommand } from './api.ts'
import type { Dispatch } from './api-types.ts'
import { applyDelta, applyEvent, newRun, type RunView } from './run-view.ts'

const MAX_RUNS = 50
/** How long ended runs stay among the running ones. */
const LINGER_MS = 6000

export class LiveRuns {
  readonly #runs: Map<string, RunView>
  readonly #onChange: () => void
  /** Runs being fetched, with events and deltas that arrived in the meantime. */
  readonly #fetching = new Map<string, (Event | Delta)[]>()

  constructor(runs: Map<string, RunView>, onChange: () => void) {
    this.#runs = runs
    this.#onChange = onChange
  }

  /** Contract: the run of the event; undefined if the run is being fetched, so that the event is applied later. */
  applyEvent(event: Event): RunView | undefined {
    const queued = this.#fetching.get(event.run_id)
    if (queued) {
      queued.push(event)
      return undefined
    }
    const run = this.#runs.get(event.run_id) ?? newRun(event.run_id)
    this.#runs.set(event.run_id, run)
    applyEvent(run, event)
    for (const [id, { to }] of this.#runs) if (this.#runs.size > MAX_RUNS && to !== null) this.#runs.delete(id)
    return run
  }

  applyDelta(delta: Delta): void {
    this.#fetching.get(delta.run_id)?.push(delta)
    const run = this.#runs.get(delta.run_id)
    if (run) applyDelta(run, delta)
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

  /** Fetches a run from its start, then applies what arrived in the meantime. Repeated events are ignored. */
  async fetchRun(id: string, agent: string, task: string): Promise<void> {
    if (this.#fetching.has(id)) return
    const queued: (Event | Delta)[] = []
    this.#fetching.set(id, queued)
    const run = newRun(id, agent, task)
    try {
      const { events } = await readCommand('trace show', { run: id, events: true })
      for (const event of events ?? []) applyEvent(run, event)
      // Apply queued deltas only if the fetched step has no text yet; otherwise the text would repeat.
      const hasText = (run.steps.at(-1)?.text ?? '') !== ''
      for (const item of queued)
        if ('stage' in item) applyEvent(run, item)
        else if (!hasText) applyDelta(run, item)
      keepStreamed(this.#runs.get(id), run)
      this.#runs.set(id, run)
    } finally {
      this.#fetching.delete(id)
      this.#onChange()
    }
  }
}

/** Streamed text is not recorded until the step has its answer, so keep it. */
function keepStreamed(previous: RunView | undefined, run: RunView): void {
  const [old, step] = [previous?.steps.at(-1), run.steps.at(-1)]
  if (old && step && old.id === step.id && old.text.length > step.text.length) step.text = old.text
}

/** Contract: running runs and those that ended just now, oldest first; looks only while they run, as there are many. */
export function visibleRuns(runs: ReadonlyMap<string, RunView>, now: number): readonly RunView[] {
  return [...runs.values()]
    .filter(({ to, isLook }) => to === null || (!isLook && now - to < LINGER_MS))
    .sort((a, b) => a.from - b.from)
}
