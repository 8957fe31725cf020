/** Status and lists of the page, fetched from the server into the view. */

import { readCommand } from './api.ts'
import type { Cycle, CycleRecord, Dispatch, Status } from './api-types.ts'
import { isStatus } from './check-answers.ts'
import type { PageView } from './page-state.ts'
import { isLook } from './run-view.ts'

export class FetchedLists {
  readonly #view: PageView
  readonly #onChange: () => void
  /** Versions of status and lists: an answer that arrives after a newer request or event is dropped. */
  readonly #newest = { status: 0, lists: 0 }

  constructor(view: PageView, onChange: () => void) {
    this.#view = view
    this.#onChange = onChange
  }

  replaceStatus(status: Status): void {
    if (!isStatus(status)) return
    this.#newest.status += 1
    this.#view.status = status
  }

  async fetchStatus(): Promise<void> {
    this.#newest.status += 1
    const version = this.#newest.status
    const status = await readCommand('status')
    if (version === this.#newest.status) this.#view.status = status
  }

  /** Contract: resolves with the dispatches that are over, as far as the lists name them. */
  async fetchLists(): Promise<readonly Dispatch[]> {
    this.#newest.lists += 1
    const version = this.#newest.lists
    const view = this.#view
    const [recent, waiting, failed, dead, approvals, unknowns, schedules, cycles] = await Promise.all([
      readCommand('queue list', { limit: 30 }),
      readCommand('queue list', { status: 'waiting', limit: 100 }),
      readCommand('queue list', { status: 'failed', limit: 50 }),
      readCommand('queue list', { status: 'dead', limit: 20 }),
      readCommand('approvals list', { status: 'open', limit: 100 }),
      readCommand('unknowns list'),
      readCommand('schedule list'),
      readCommand('cycles list', { limit: 12 }),
    ])
    const over = [...recent.items.filter(isOver), ...failed.items, ...dead.items]
    if (version !== this.#newest.lists) return over
    view.recent = recent.items.filter(isOver).filter(hasResult).slice(0, 8)
    view.waiting = waiting.items
    view.failures = [...failed.items, ...dead.items]
    view.approvals = approvals.items
    view.unknowns = unknowns.items.filter(({ status }) => status === 'open')
    view.schedules = schedules.items
    view.cycles = cycles.items.map(cycleFromRecord)
    this.#onChange()
    return over
  }
}

const isOver = ({ status }: Dispatch): boolean => !['pending', 'running', 'waiting'].includes(status)

/** Looks that came to nothing would hide everything else; the panel of the residents shows them. */
const hasResult = ({ metadata, status, result }: Dispatch): boolean =>
  !(isLook(metadata.behaviour) && status === 'done' && !result)

const RUNNING_CYCLE: Omit<Cycle, 'cycle_id'> = {
  ...{ status: 'running', dispatched: 0, succeeded: 0, failed: 0, parked: 0, idle_reason: null, error: null },
  ...{ duration_ms: 0, agents: [] },
}

const cycleFromRecord = ({ cycle_id, started_at, result }: CycleRecord): Cycle => ({
  ...(result ?? { ...RUNNING_CYCLE, cycle_id }),
  started_at,
})
