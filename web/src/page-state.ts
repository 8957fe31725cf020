/** State of the page: fetched once, then updated by live events; fetched again after a gap. */

import type { Delta, Event } from '../../src/domain/event.ts'
import { ApiError, EVENTS, isLoggedIn, listCommands, runCommand } from './api.ts'
import type { Approval, Cycle, Dispatch, Status, Unknown } from './api-types.ts'
import { FetchedLists } from './fetched-lists.ts'
import { LiveRuns } from './live-runs.ts'
import type { RunView } from './run-view.ts'

/** How long ended runs stay among the running ones. */
const LINGER_MS = 6000
const REOPEN_MS = 3000
/** Minimum time between two fetches of the lists. */
const FETCH_INTERVAL_MS = 800

export interface PageView {
  connection: 'connecting' | 'live' | 'lost'
  /** Server clock minus browser clock, in milliseconds. */
  skew: number
  commands: ReadonlySet<string>
  status: Status | null
  cycles: readonly Cycle[]
  recent: readonly Dispatch[]
  waiting: readonly Dispatch[]
  approvals: readonly Approval[]
  unknowns: readonly Unknown[]
  readonly runs: Map<string, RunView>
  /** Commands that were started and have not ended. */
  readonly busy: Set<string>
  /** Error of the last command that a button ran. */
  errorMessage: string | null
}

/** Connected to the live events from the start until `close`. */
export class PageState {
  readonly view: PageView
  readonly #onChange: () => void
  readonly #onLoggedOut: () => void
  readonly #lists: FetchedLists
  readonly #runs: LiveRuns
  readonly #fetchListsSoon: () => void
  #source: EventSource | undefined
  #closed = false

  /** Contract: calls `onChange` after every change, and `onLoggedOut` when the login is missing or expired. */
  constructor(onChange: () => void, onLoggedOut: () => void) {
    this.view = {
      ...{ connection: 'connecting', skew: 0, commands: new Set(), busy: new Set(), status: null, errorMessage: null },
      ...{ cycles: [], recent: [], waiting: [], approvals: [], unknowns: [], runs: new Map() },
    }
    this.#onChange = onChange
    this.#onLoggedOut = onLoggedOut
    this.#lists = new FetchedLists(this.view, onChange)
    this.#runs = new LiveRuns(this.view.runs, onChange)
    this.#fetchListsSoon = atMostEvery(FETCH_INTERVAL_MS, () => this.#fetch(this.#lists.fetchLists()))
    this.#open()
  }

  /** Contract: runs a command that changes state; its error becomes `errorMessage`. */
  async runCommand(command: string): Promise<void> {
    const { view } = this
    view.errorMessage = null
    view.busy.add(command)
    this.#onChange()
    try {
      await runCommand(command)
      await this.#lists.fetchStatus()
    } catch (thrown) {
      view.errorMessage = thrown instanceof Error ? thrown.message : String(thrown)
    }
    view.busy.delete(command)
    this.#onChange()
  }

  /** Contract: publishes a message of the owner; throws if the server refuses it. */
  async tellResident(agent: string, text: string): Promise<void> {
    await runCommand('observe', { agent, type: 'user_message', payload: JSON.stringify({ text }) })
    await this.#lists.fetchStatus()
    this.#onChange()
  }

  close(): void {
    this.#closed = true
    this.#source?.close()
  }

  #open(): void {
    if (this.#closed) return
    this.#source = new EventSource(EVENTS)
    this.#source.onerror = () => this.#lostConnection()
    this.#on('hello', ({ now }: { now: number }) => {
      this.view.connection = 'live'
      this.view.skew = now - Date.now()
      this.#fetch(this.#fetchAll())
    })
    this.#on('reset', () => this.view.runs.clear())
    this.#on('status', (status: Status) => {
      this.#lists.replaceStatus(status)
      this.#fetchListsSoon()
    })
    this.#on('event', (event: Event) => this.#handleEvent(event))
    this.#on('delta', (delta: Delta) => this.#runs.applyDelta(delta))
  }

  #on<T>(name: string, handle: (data: T) => void): void {
    this.#source?.addEventListener(name, ({ data }: MessageEvent<string>) => {
      handle(JSON.parse(data) as T)
      this.#onChange()
    })
  }

  #lostConnection(): void {
    this.view.connection = 'lost'
    this.#onChange()
    // A refused EventSource does not reconnect by itself.
    if (this.#source?.readyState !== EventSource.CLOSED) return
    const reopen = (): void => void setTimeout(() => this.#open(), REOPEN_MS)
    isLoggedIn().then((hasSession) => (hasSession ? reopen() : this.#endSession()), reopen)
  }

  #handleEvent(event: Event): void {
    const run = this.#runs.applyEvent(event)
    if (run?.gap) this.#fetch(this.#runs.fetchRun(run.id, run.agent, run.task))
    if (run && run.to !== null) this.#fetchListsSoon()
  }

  async #fetchAll(): Promise<void> {
    this.view.commands = await listCommands()
    await this.#lists.fetchStatus()
    await this.#lists.fetchLists()
    await this.#runs.fetchRunning()
    this.#onChange()
  }

  /** Lets the work go on in the background; the session ends if the login has expired, other errors are ignored. */
  #fetch(work: Promise<unknown>): void {
    void work.catch((thrown) => {
      if (thrown instanceof ApiError && thrown.code === 'unauthorized') this.#endSession()
    })
  }

  #endSession(): void {
    this.close()
    this.#onLoggedOut()
  }
}

/** Contract: runs at once, and again after the pause if called in the meantime. */
function atMostEvery(ms: number, work: () => void): () => void {
  let state: 'idle' | 'waiting' | 'requested' = 'idle'
  const start = (): void => {
    state = 'waiting'
    work()
    setTimeout(() => {
      if (state === 'requested') start()
      else state = 'idle'
    }, ms)
  }
  return () => {
    if (state === 'idle') start()
    else state = 'requested'
  }
}

/** Contract: running runs and those that ended just now, oldest first; looks only while they run, as there are many. */
export function visibleRuns({ runs }: PageView, now: number): readonly RunView[] {
  return [...runs.values()]
    .filter(({ to, isLook }) => to === null || (!isLook && now - to < LINGER_MS))
    .sort((a, b) => a.from - b.from)
}
