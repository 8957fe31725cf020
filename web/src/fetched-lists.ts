/** Status and lists of the page, fetched from the server into the view. */

import type { CommandInput } from '../../src/commands/lib/registry.ts'
import { readCommand } from './api.ts'
import type { Cycle, CycleRecord, Dispatch, Status } from './api-types.ts'
import { isStatus } from './check-answers.ts'
import type { PageView } from './page-state.ts'
import { isLook } from './run-view.ts'

type Failures = Readonly<Record<'failed' | 'dead', readonly Dispatch[]>>

/** What was read, as far as it could be. */
interface ListsResult {
  /** Dispatches that are over, as far as the lists name them. */
  readonly over: readonly Dispatch[]
  /** Why some of it could not be read. */
  readonly failures: readonly unknown[]
}

export class FetchedLists {
  readonly #view: PageView
  readonly #onChange: () => void
  #failures: Failures = { failed: [], dead: [] }
  #requests = 0
  /** By what was read, the request whose answer is shown: an answer to an older request is dropped. */
  readonly #shown = new Map<string, number>()

  constructor(view: PageView, onChange: () => void) {
    this.#view = view
    this.#onChange = onChange
  }

  replaceStatus(status: Status): void {
    this.#requests += 1
    if (isStatus(status)) this.#show('status', this.#requests, () => (this.#view.status = status))
  }

  async fetchStatus(): Promise<void> {
    this.#requests += 1
    const request = this.#requests
    const status = await readCommand('status')
    this.#show('status', request, () => (this.#view.status = status))
  }

  /** Contract: what can be read is shown, even if the rest fails or never comes. */
  async fetchLists(): Promise<ListsResult> {
    this.#requests += 1
    const request = this.#requests
    const view = this.#view
    const over: Dispatch[] = []
    const read = async <T>(name: string, answer: Promise<{ items: T[] }>, show: (items: T[]) => void) => {
      const { items } = await answer
      this.#show(name, request, () => show(items))
    }
    const list = (name: string, input: CommandInput<'queue list'>, show: (items: Dispatch[]) => void) =>
      read(name, readCommand('queue list', input), (items) => {
        over.push(...items.filter(isOver))
        show(items)
      })
    const results = await Promise.allSettled([
      list('recent', { limit: 30 }, (items) => (view.recent = items.filter(isOver).filter(hasResult).slice(0, 8))),
      list('waiting', { status: 'waiting', limit: 100 }, (items) => (view.waiting = items)),
      list('failed', { status: 'failed', limit: 50 }, (items) => this.#showFailures({ failed: items })),
      list('dead', { status: 'dead', limit: 20 }, (items) => this.#showFailures({ dead: items })),
      read(
        'approvals',
        readCommand('approvals list', { status: 'open', limit: 100 }),
        (items) => (view.approvals = items),
      ),
      read('unknowns', readCommand('unknowns list', { status: 'open' }), (items) => (view.unknowns = items)),
      read('needs', readCommand('needs list', { limit: 200 }), (items) => (view.needs = items)),
      read('schedules', readCommand('schedule list'), (items) => (view.schedules = items)),
      read('cycles', readCommand('cycles list', { limit: 12 }), (items) => (view.cycles = items.map(cycleFromRecord))),
    ])
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    return { over, failures }
  }

  #showFailures(read: Partial<Failures>): void {
    this.#failures = { ...this.#failures, ...read }
    this.#view.failures = [...this.#failures.failed, ...this.#failures.dead]
  }

  #show(name: string, request: number, show: () => void): void {
    if ((this.#shown.get(name) ?? 0) > request) return
    this.#shown.set(name, request)
    show()
    this.#view.hasNeeds = NEEDS.every((needed) => this.#shown.has(needed))
    this.#onChange()
  }
}

/** The lists of what waits for the owner. */
const NEEDS = ['waiting', 'failed', 'dead', 'approvals', 'unknowns', 'needs']

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
