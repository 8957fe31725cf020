/** The home as the page knows it: fetched once, then kept up to date by what is told live. Fetched anew after every gap. */

import type { Delta, Event } from '../../src/domain/event.ts'
import { act, ask, EVENTS, isIn, offered, Refused } from './api.ts'
import { hear, hearDelta, newRun, type ShownRun } from './runs.ts'
import type { Approval, Cycle, CycleRecord, Dispatch, List, Status, Unknown } from './shapes.ts'

/** How long what has ended stays among what runs, so that it is seen to end. */
const LINGER_MS = 6000
const REOPEN_MS = 3000
/** Lists are not fetched more often than this, however much happens. */
const PATIENCE_MS = 800
const MOST_RUNS = 50

export interface HomeView {
  connection: 'connecting' | 'live' | 'lost'
  /** The server's clock less ours. */
  skew: number
  commands: ReadonlySet<string>
  status: Status | null
  cycles: readonly Cycle[]
  recent: readonly Dispatch[]
  waiting: readonly Dispatch[]
  approvals: readonly Approval[]
  unknowns: readonly Unknown[]
  readonly runs: Map<string, ShownRun>
  /** Commands that were asked for and are not done yet. */
  readonly busy: Set<string>
  /** What the last button said when it could not be done. */
  complaint: string | null
}

export interface Home {
  readonly view: HomeView
  /** Contract: runs a command that changes something; what goes wrong is shown. */
  act(command: string): Promise<void>
  close(): void
}

/** Contract: `changed` is called after every change, `locked` when the server does not know us (any more). */
export function openHome(changed: () => void, locked: () => void): Home {
  const view: HomeView = {
    ...{ connection: 'connecting', skew: 0, commands: new Set(), busy: new Set(), status: null, complaint: null },
    ...{ cycles: [], recent: [], waiting: [], approvals: [], unknowns: [], runs: new Map() },
  }
  let source: EventSource | undefined
  let closed = false
  /** Counts what was asked for or told: an answer that comes when there is something newer is late, and not shown. */
  const newest = { status: 0, lists: 0 }
  /** Runs that are being fetched, with what was told of them meanwhile. */
  const filling = new Map<string, (Event | Delta)[]>()

  const guarded = (work: Promise<unknown>): Promise<unknown> =>
    work.catch((thrown) => {
      if (thrown instanceof Refused && thrown.code === 'unauthorized') lock()
    })

  function lock(): void {
    close()
    locked()
  }

  function open(): void {
    if (closed) return
    source = new EventSource(EVENTS)
    source.onerror = () => {
      view.connection = 'lost'
      changed()
      // One that was refused does not try again by itself.
      if (source?.readyState === EventSource.CLOSED) {
        isIn().then(
          (known) => (known ? setTimeout(open, REOPEN_MS) : lock()),
          () => setTimeout(open, REOPEN_MS),
        )
      }
    }
    on('hello', ({ now }: { now: number }) => {
      view.connection = 'live'
      view.skew = now - Date.now()
      void guarded(fetchAll())
    })
    on('reset', () => view.runs.clear())
    on('status', (status: Status) => {
      newest.status += 1
      view.status = status
      lists()
    })
    on('event', (event: Event) => heard(event))
    on('delta', (delta: Delta) => {
      const held = filling.get(delta.run_id)
      if (held) held.push(delta)
      const run = view.runs.get(delta.run_id)
      if (run) hearDelta(run, delta)
    })
  }

  function on<T>(name: string, take: (data: T) => void): void {
    source?.addEventListener(name, ({ data }: MessageEvent<string>) => {
      take(JSON.parse(data) as T)
      changed()
    })
  }

  function heard(event: Event): void {
    const held = filling.get(event.run_id)
    if (held) {
      held.push(event)
      return
    }
    const run = view.runs.get(event.run_id) ?? newRun(event.run_id)
    view.runs.set(event.run_id, run)
    hear(run, event)
    if (run.gap) void guarded(fetchRun(run.id, run.agent, run.task))
    if (run.to !== null) lists()
    for (const [id, { to }] of view.runs) if (view.runs.size > MOST_RUNS && to !== null) view.runs.delete(id)
  }

  /** From its beginning; what is told meanwhile is held back, and heard behind that. An event that comes twice counts once. */
  async function fetchRun(id: string, agent: string, task: string): Promise<void> {
    if (filling.has(id)) return
    const held: (Event | Delta)[] = []
    filling.set(id, held)
    const run = newRun(id, agent, task)
    try {
      const { events } = await ask<{ readonly events: readonly Event[] }>('trace show', { run: id, events: 'true' })
      for (const event of events) hear(run, event)
      // What a step has said in the meantime, unless what was fetched has it already.
      const isSaid = (run.steps.at(-1)?.text ?? '') !== ''
      for (const told of held)
        if ('stage' in told) hear(run, told)
        else if (!isSaid) hearDelta(run, told)
      keepStreamed(view.runs.get(id), run)
      view.runs.set(id, run)
    } finally {
      filling.delete(id)
      changed()
    }
  }

  async function fetchAll(): Promise<void> {
    view.commands = await offered()
    await fetchStatus()
    await fetchLists()
    const { items } = await ask<List<Dispatch>>('queue list', { status: 'running', limit: '20' })
    // One that has only just been claimed has nothing to show yet; its events will be told.
    await Promise.allSettled(items.map(({ dispatch_id, agent_id, title }) => fetchRun(dispatch_id, agent_id, title)))
    changed()
  }

  async function fetchStatus(): Promise<void> {
    newest.status += 1
    const mine = newest.status
    const status = await ask<Status>('status')
    if (mine === newest.status) view.status = status
  }

  const lists = atMostEvery(PATIENCE_MS, () => void guarded(fetchLists()))

  async function fetchLists(): Promise<void> {
    newest.lists += 1
    const mine = newest.lists
    const cycles = view.commands.has('cycles list')
    const [recent, waiting, approvals, unknowns, told] = await Promise.all([
      ask<List<Dispatch>>('queue list', { limit: '30' }),
      ask<List<Dispatch>>('queue list', { status: 'waiting', limit: '10' }),
      ask<List<Approval>>('approvals list', { status: 'open', limit: '10' }),
      ask<List<Unknown>>('unknowns list'),
      cycles ? ask<List<CycleRecord>>('cycles list', { limit: '12' }) : undefined,
    ])
    if (mine !== newest.lists) return
    view.recent = recent.items.filter(({ status }) => !['pending', 'running', 'waiting'].includes(status)).slice(0, 8)
    view.waiting = waiting.items
    view.approvals = approvals.items
    view.unknowns = unknowns.items.filter(({ status }) => status === 'open')
    view.cycles = told ? told.items.map(cycleOf) : lastOf(view.status)
    changed()
  }

  function close(): void {
    closed = true
    source?.close()
  }

  open()
  return {
    view,
    close,
    async act(command) {
      view.complaint = null
      view.busy.add(command)
      changed()
      try {
        await act(command)
        await fetchStatus()
      } catch (thrown) {
        view.complaint = thrown instanceof Error ? thrown.message : String(thrown)
      }
      view.busy.delete(command)
      changed()
    },
  }
}

/** What was streamed of a step is on no record until the step has its answer. */
function keepStreamed(before: ShownRun | undefined, run: ShownRun): void {
  const [old, step] = [before?.steps.at(-1), run.steps.at(-1)]
  if (old && step && old.id === step.id && old.text.length > step.text.length) step.text = old.text
}

const lastOf = (status: Status | null): readonly Cycle[] =>
  status?.kernel.last_cycle ? [status.kernel.last_cycle] : []

const UNDER_WAY = {
  ...{ status: 'running', dispatched: 0, succeeded: 0, failed: 0, parked: 0, idle_reason: null, error: null },
  ...{ duration_ms: 0, agents: [] },
}

const cycleOf = ({ cycle_id, started_at, result }: CycleRecord): Cycle => ({
  ...(result ?? { ...UNDER_WAY, cycle_id }),
  started_at,
})

/** Contract: at once, then again after the pause if it was wanted meanwhile. */
function atMostEvery(ms: number, work: () => void): () => void {
  let state: 'rests' | 'pauses' | 'wanted' = 'rests'
  const go = (): void => {
    state = 'pauses'
    work()
    setTimeout(() => {
      if (state === 'wanted') go()
      else state = 'rests'
    }, ms)
  }
  return () => {
    if (state === 'rests') go()
    else state = 'wanted'
  }
}

/** Contract: what runs, and what has ended only just now; oldest first. */
export function shownRuns({ runs }: HomeView, now: number): readonly ShownRun[] {
  return [...runs.values()].filter(({ to }) => to === null || now - to < LINGER_MS).sort((a, b) => a.from - b.from)
}
