/** State of the page: fetched once, then updated by live events; fetched again after a gap. */

import type { Delta, Event } from '../../src/domain/event.ts'
import { ApiError, EVENTS, isLoggedIn, listCommands, readCommand, runCommand } from './api.ts'
import type { Approval, Cycle, CycleRecord, Dispatch, List, Status, Unknown } from './api-types.ts'
import { applyDelta, applyEvent, newRun, type RunView } from './run-view.ts'

/** How long ended runs stay among the running ones. */
const LINGER_MS = 6000
const REOPEN_MS = 3000
/** Minimum time between two fetches of the lists. */
const FETCH_INTERVAL_MS = 800
const MAX_RUNS = 50

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

export interface PageState {
  readonly view: PageView
  /** Contract: runs a command that changes state; its error becomes `errorMessage`. */
  runCommand(command: string): Promise<void>
  close(): void
}

/** Contract: calls `onChange` after every change, and `onLoggedOut` when the login is missing or expired. */
export function openPageState(onChange: () => void, onLoggedOut: () => void): PageState {
  const view: PageView = {
    ...{ connection: 'connecting', skew: 0, commands: new Set(), busy: new Set(), status: null, errorMessage: null },
    ...{ cycles: [], recent: [], waiting: [], approvals: [], unknowns: [], runs: new Map() },
  }
  let source: EventSource | undefined
  let closed = false
  /** Versions of status and lists: an answer that arrives after a newer request or event is dropped. */
  const newest = { status: 0, lists: 0 }
  /** Runs being fetched, with events and deltas that arrived in the meantime. */
  const fetching = new Map<string, (Event | Delta)[]>()

  const endSessionIfUnauthorized = (work: Promise<unknown>): Promise<unknown> =>
    work.catch((thrown) => {
      if (thrown instanceof ApiError && thrown.code === 'unauthorized') endSession()
    })

  function endSession(): void {
    close()
    onLoggedOut()
  }

  function open(): void {
    if (closed) return
    source = new EventSource(EVENTS)
    source.onerror = () => {
      view.connection = 'lost'
      onChange()
      // A refused EventSource does not reconnect by itself.
      if (source?.readyState === EventSource.CLOSED) {
        isLoggedIn().then(
          (hasSession) => (hasSession ? setTimeout(open, REOPEN_MS) : endSession()),
          () => setTimeout(open, REOPEN_MS),
        )
      }
    }
    on('hello', ({ now }: { now: number }) => {
      view.connection = 'live'
      view.skew = now - Date.now()
      void endSessionIfUnauthorized(fetchAll())
    })
    on('reset', () => view.runs.clear())
    on('status', (status: Status) => {
      newest.status += 1
      view.status = status
      fetchListsSoon()
    })
    on('event', (event: Event) => handleEvent(event))
    on('delta', (delta: Delta) => {
      const queued = fetching.get(delta.run_id)
      if (queued) queued.push(delta)
      const run = view.runs.get(delta.run_id)
      if (run) applyDelta(run, delta)
    })
  }

  function on<T>(name: string, handle: (data: T) => void): void {
    source?.addEventListener(name, ({ data }: MessageEvent<string>) => {
      handle(JSON.parse(data) as T)
      onChange()
    })
  }

  function handleEvent(event: Event): void {
    const queued = fetching.get(event.run_id)
    if (queued) {
      queued.push(event)
      return
    }
    const run = view.runs.get(event.run_id) ?? newRun(event.run_id)
    view.runs.set(event.run_id, run)
    applyEvent(run, event)
    if (run.gap) void endSessionIfUnauthorized(fetchRun(run.id, run.agent, run.task))
    if (run.to !== null) fetchListsSoon()
    for (const [id, { to }] of view.runs) if (view.runs.size > MAX_RUNS && to !== null) view.runs.delete(id)
  }

  /** Fetches a run from its start, then applies what arrived in the meantime. Repeated events are ignored. */
  async function fetchRun(id: string, agent: string, task: string): Promise<void> {
    if (fetching.has(id)) return
    const queued: (Event | Delta)[] = []
    fetching.set(id, queued)
    const run = newRun(id, agent, task)
    try {
      const { events } = await readCommand<{ readonly events: readonly Event[] }>('trace show', {
        run: id,
        events: 'true',
      })
      for (const event of events) applyEvent(run, event)
      // Apply queued deltas only if the fetched step has no text yet; otherwise the text would repeat.
      const hasText = (run.steps.at(-1)?.text ?? '') !== ''
      for (const item of queued)
        if ('stage' in item) applyEvent(run, item)
        else if (!hasText) applyDelta(run, item)
      keepStreamed(view.runs.get(id), run)
      view.runs.set(id, run)
    } finally {
      fetching.delete(id)
      onChange()
    }
  }

  async function fetchAll(): Promise<void> {
    view.commands = await listCommands()
    await fetchStatus()
    await fetchLists()
    const { items } = await readCommand<List<Dispatch>>('queue list', { status: 'running', limit: '20' })
    // A run that was just claimed has no trace yet; its events will arrive.
    await Promise.allSettled(items.map(({ dispatch_id, agent_id, title }) => fetchRun(dispatch_id, agent_id, title)))
    onChange()
  }

  async function fetchStatus(): Promise<void> {
    newest.status += 1
    const version = newest.status
    const status = await readCommand<Status>('status')
    if (version === newest.status) view.status = status
  }

  const fetchListsSoon = atMostEvery(FETCH_INTERVAL_MS, () => void endSessionIfUnauthorized(fetchLists()))

  async function fetchLists(): Promise<void> {
    newest.lists += 1
    const version = newest.lists
    const hasCycles = view.commands.has('cycles list')
    const [recent, waiting, approvals, unknowns, stored] = await Promise.all([
      readCommand<List<Dispatch>>('queue list', { limit: '30' }),
      readCommand<List<Dispatch>>('queue list', { status: 'waiting', limit: '10' }),
      readCommand<List<Approval>>('approvals list', { status: 'open', limit: '10' }),
      readCommand<List<Unknown>>('unknowns list'),
      hasCycles ? readCommand<List<CycleRecord>>('cycles list', { limit: '12' }) : undefined,
    ])
    if (version !== newest.lists) return
    view.recent = recent.items.filter(({ status }) => !['pending', 'running', 'waiting'].includes(status)).slice(0, 8)
    view.waiting = waiting.items
    view.approvals = approvals.items
    view.unknowns = unknowns.items.filter(({ status }) => status === 'open')
    view.cycles = stored ? stored.items.map(cycleFromRecord) : lastCycleIn(view.status)
    onChange()
  }

  function close(): void {
    closed = true
    source?.close()
  }

  open()
  return {
    view,
    close,
    async runCommand(command) {
      view.errorMessage = null
      view.busy.add(command)
      onChange()
      try {
        await runCommand(command)
        await fetchStatus()
      } catch (thrown) {
        view.errorMessage = thrown instanceof Error ? thrown.message : String(thrown)
      }
      view.busy.delete(command)
      onChange()
    },
  }
}

/** Streamed text is not recorded until the step has its answer, so keep it. */
function keepStreamed(previous: RunView | undefined, run: RunView): void {
  const [old, step] = [previous?.steps.at(-1), run.steps.at(-1)]
  if (old && step && old.id === step.id && old.text.length > step.text.length) step.text = old.text
}

const lastCycleIn = (status: Status | null): readonly Cycle[] =>
  status?.kernel.last_cycle ? [status.kernel.last_cycle] : []

const RUNNING_CYCLE = {
  ...{ status: 'running', dispatched: 0, succeeded: 0, failed: 0, parked: 0, idle_reason: null, error: null },
  ...{ duration_ms: 0, agents: [] },
}

const cycleFromRecord = ({ cycle_id, started_at, result }: CycleRecord): Cycle => ({
  ...(result ?? { ...RUNNING_CYCLE, cycle_id }),
  started_at,
})

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

/** Contract: running runs and those that ended just now, oldest first. */
export function visibleRuns({ runs }: PageView, now: number): readonly RunView[] {
  return [...runs.values()].filter(({ to }) => to === null || now - to < LINGER_MS).sort((a, b) => a.from - b.from)
}
