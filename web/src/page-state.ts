/** State of the page: fetched once, then updated by live events; fetched again after a gap. */

import type { CommandInput, CommandName, CommandOutput } from '../../src/commands/lib/registry.ts'
import type { Event, LiveDelta } from '../../src/domain/event.ts'
import { ApiError, isUnauthorized, runCommand } from './api.ts'
import type { Approval, Cycle, Dispatch, ListedNeed, Schedule, Status, Unknown } from './api-types.ts'
import { atMostEvery } from './at-most-every.ts'
import { FetchedLists } from './fetched-lists.ts'
import { LiveConnection } from './live-connection.ts'
import { LiveRuns } from './live-runs.ts'
import type { Address } from './outbox.ts'
import { Retry } from './retry.ts'
import type { RunView } from './run-view.ts'
import { Toasts } from './shell/toasts.tsx'
import { Conversation, PAGE_CHAT } from './talk/conversation.ts'

/** Minimum time between two fetches of the lists. */
const FETCH_INTERVAL_MS = 800
/** A second click of a double click comes within this time. */
const DOUBLE_CLICK_MS = 500

export interface PageView {
  connection: 'connecting' | 'live' | 'lost'
  /** Server clock minus browser clock, in milliseconds. */
  skew: number
  status: Status | null
  cycles: readonly Cycle[]
  schedules: readonly Schedule[]
  recent: readonly Dispatch[]
  waiting: readonly Dispatch[]
  approvals: readonly Approval[]
  unknowns: readonly Unknown[]
  /** Everything that waits for the owner, as `needs list` has it. */
  needs: readonly ListedNeed[]
  /** Dispatches that failed in the last days, newest first. */
  failures: readonly Dispatch[]
  /** Whether everything that waits for the owner was read at least once. */
  hasNeeds: boolean
  /** Something could not be read; it is tried again. */
  isIncomplete: boolean
  readonly runs: Map<string, RunView>
  /** Commands that were started and have not ended. */
  readonly busy: Set<string>
}

export interface Feedback<Name extends CommandName> {
  /** What is busy meanwhile; default: the command. */
  readonly busy?: string
  /** What the owner reads when it is done. */
  readonly done: string | ((output: CommandOutput<Name>) => string)
  /** Contract: true if the place shows the refusal itself; then no toast does. */
  readonly refused?: (error: ApiError) => boolean
}

/** What the owner reads when a command fails. */
interface FailureTexts {
  failed(reason: string): string
  readonly noAnswerFromServer: string
}

interface PageEvents {
  /** After every change. */
  onChange(): void
  /** The login is missing or expired. */
  onLoggedOut(): void
  /** Contract: texts in the current language. */
  texts(): FailureTexts
}

/** Connected to the live events from the start until `close`. */
export class PageState {
  readonly view: PageView
  readonly toasts: Toasts
  readonly conversation: Conversation
  readonly #events: PageEvents
  readonly #lists: FetchedLists
  readonly #runs: LiveRuns
  readonly #fetchListsSoon: () => void
  readonly #live: LiveConnection
  /** Commands with their input that run, or have begun just now. */
  readonly #recent = new Set<string>()
  readonly #retry = new Retry(() => void this.#fetchAll())
  readonly #refreshers = new Set<() => Promise<unknown>>()
  readonly #listeners = new Set<(event: Event) => void>()
  #isClosed = false

  constructor(events: PageEvents) {
    this.view = {
      ...{ connection: 'connecting', skew: 0, busy: new Set(), status: null, hasNeeds: false, isIncomplete: false },
      ...{ cycles: [], schedules: [], recent: [], waiting: [], approvals: [], unknowns: [], failures: [], needs: [] },
      runs: new Map(),
    }
    this.#events = events
    const onChange = (): void => events.onChange()
    this.toasts = new Toasts(onChange)
    this.conversation = new Conversation(onChange)
    this.#lists = new FetchedLists(this.view, onChange)
    this.#runs = new LiveRuns(this.view.runs, onChange)
    this.#fetchListsSoon = atMostEvery(FETCH_INTERVAL_MS, () => this.#read([this.#fetchLists()]))
    this.#live = new LiveConnection({
      onMessage: (name, data) => this.#handleMessage(name, data),
      onLost: () => {
        this.view.connection = 'lost'
        onChange()
        void this.#readWithoutEvents()
      },
      onGlance: () => {
        this.view.connection = 'connecting'
        void this.#fetch(this.#glance())
      },
      onUnauthorized: () => this.#endSession(),
    })
  }

  /**
   * Contract: runs a command that changes state, and says by a toast what came of it. undefined: it failed, or exactly
   * the same runs already.
   */
  async run<Name extends CommandName>(
    command: Name,
    input: CommandInput<Name>,
    { busy = command, done, refused }: Feedback<Name>,
  ): Promise<CommandOutput<Name> | undefined> {
    const { view } = this
    // The second click of a double click, or a key that is pressed twice.
    const exactly = `${command} ${JSON.stringify(input)}`
    if (this.#recent.has(exactly)) return undefined
    this.#recent.add(exactly)
    view.busy.add(busy)
    this.#events.onChange()
    const started = Date.now()
    try {
      const output = await runCommand(command, input)
      this.toasts.removeOffline()
      // The command has succeeded, even if the status cannot be read.
      await this.#fetch(this.#lists.fetchStatus())
      this.#fetchListsSoon()
      const text = typeof done === 'string' ? done : done(output)
      if (text !== '') this.toasts.add('live', text)
      return output
    } catch (thrown) {
      if (!(thrown instanceof ApiError && refused?.(thrown))) this.reportFailure(thrown)
      return undefined
    } finally {
      view.busy.delete(busy)
      this.#events.onChange()
      setTimeout(() => this.#recent.delete(exactly), Math.max(0, started + DOUBLE_CLICK_MS - Date.now()))
    }
  }

  /** Contract: sends the owner's message to a session; if it is not accepted, it goes back to where it was written. */
  async sendTo(address: Address, text: string, feedback: Feedback<'send'>): Promise<void> {
    await this.conversation.outbox.send(address, text, async (input) => {
      const output = await this.run('send', { ...input, chat: PAGE_CHAT }, feedback)
      return output !== undefined
    })
  }

  /** Contract: what is shown is fetched again; call it after a command that was not run by `run`. */
  refresh(): void {
    void this.#fetch(this.#lists.fetchStatus())
    this.#fetchListsSoon()
  }

  /** Contract: shows the failure of a request as a toast; an expired login ends the session. */
  reportFailure(thrown: unknown): void {
    const { failed, noAnswerFromServer } = this.#events.texts()
    if (isUnauthorized(thrown)) this.#endSession()
    else if (thrown instanceof ApiError) this.toasts.add('fault', failed(thrown.message))
    else this.toasts.add('fault', noAnswerFromServer, true)
  }

  /** Contract: runs `fetch` now and whenever something may have changed, not too often; call the result to stop. */
  keepFresh(fetch: () => Promise<unknown>): () => void {
    this.#refreshers.add(fetch)
    void this.#fetch(fetch()).then((isRead) => isRead || this.#noteRead(false))
    return () => this.#refreshers.delete(fetch)
  }

  /** Contract: what the place shows is fetched anew when it resolves. */
  async refetch(): Promise<void> {
    await Promise.allSettled([...this.#refreshers].map((fetch) => fetch()))
  }

  /** Contract: calls `listener` with every live event of a run; call the result to stop. */
  listen(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Contract: the run is in `view.runs` with all its steps, however long ago it ended. */
  async loadRun({ dispatch_id, agent_id, title }: { dispatch_id: string; agent_id: string; title: string }) {
    await this.#runs.fetchRun(dispatch_id, agent_id, title).catch((thrown) => this.reportFailure(thrown))
  }

  close(): void {
    this.#isClosed = true
    this.#retry.stop()
    this.#live.close()
  }

  #handleMessage(name: string, data: unknown): void {
    if (name === 'hello') this.#connected((data as { readonly now: number }).now)
    else if (name === 'reset') this.#reset()
    else if (name === 'status') {
      this.#lists.replaceStatus(data as Status)
      this.#fetchListsSoon()
    } else if (name === 'event') this.#handleEvent(data as Event)
    else if (name === 'delta') this.#runs.applyDelta(data as LiveDelta)
    this.#events.onChange()
  }

  /** What happened while there was no connection is fetched, whether or not its events are sent again. */
  #connected(now: number): void {
    this.view.connection = 'live'
    this.view.skew = now - Date.now()
    this.toasts.removeOffline()
    void this.#fetchAll()
  }

  /** Events are missing. */
  #reset(): void {
    void this.#fetch(this.#runs.reset())
    this.#fetchListsSoon()
  }

  #handleEvent(event: Event): void {
    for (const listener of this.#listeners) listener(event)
    const run = this.#runs.applyEvent(event)
    if (run?.gap) void this.#fetch(this.#runs.fetchRun(run.id, run.agent, run.task))
    // A result may have ticked off a todo, or passed a message on.
    if ((run && run.to !== null) || event.stage === 'action_results') this.#fetchListsSoon()
  }

  async #fetchLists(): Promise<void> {
    const { over, failures } = await this.#lists.fetchLists()
    this.#runs.endThose(over)
    void this.#fetch(this.conversation.settle((thrown) => this.reportFailure(thrown)))
    // An expired login is the one to act on.
    if (failures.length > 0) throw failures.find(isUnauthorized) ?? failures[0]
  }

  /** For the title of a hidden tab. */
  async #glance(): Promise<void> {
    const before = JSON.stringify(countsOf(this.view.status))
    await this.#lists.fetchStatus()
    if (JSON.stringify(countsOf(this.view.status)) !== before) this.#fetchListsSoon()
    this.#events.onChange()
  }

  async #fetchAll(): Promise<void> {
    await this.#read([this.#lists.fetchStatus(), this.#fetchLists(), this.#runs.fetchRunning()])
  }

  /** Reads these and what the place shows. */
  async #read(parts: readonly Promise<unknown>[]): Promise<void> {
    const all = [...parts, ...[...this.#refreshers].map((refresh) => refresh())]
    const results = await Promise.all(all.map(this.#fetch))
    this.#noteRead(!results.includes(false))
  }

  /** If something could not be read, everything is read again, later each time. */
  #noteRead(isComplete: boolean): void {
    this.view.isIncomplete = !isComplete
    this.#events.onChange()
    if (isComplete) this.#retry.succeeded()
    // Without a connection, everything is read when there is one again.
    else if (this.view.connection === 'live' && !this.#isClosed) this.#retry.failed()
  }

  /** The server may refuse the events alone: it sends them to so many viewers at most. */
  async #readWithoutEvents(): Promise<void> {
    if (await this.#fetch(this.#lists.fetchStatus())) this.#fetchListsSoon()
  }

  /** Contract: never rejects; false: it failed. The session ends if the login has expired. */
  readonly #fetch = (work: Promise<unknown>): Promise<boolean> =>
    work.then(
      () => true,
      (thrown: unknown) => {
        if (isUnauthorized(thrown)) this.#endSession()
        return false
      },
    )

  #endSession(): void {
    this.close()
    this.#events.onLoggedOut()
  }
}

const countsOf = (status: Status | null) =>
  status && [status.queue, status.approvals, status.questions, status.unknowns, status.needs]
