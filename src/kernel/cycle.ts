/**
 * Cycle: one beat of the kernel: perceive, orient, decide, act, update.
 * Must not know: when beats come, how work is done.
 * Invariants: I1 (it only enqueues; the queue runs), I5 (a dispatch that hangs stops no cycle: there is a deadline), I6 (whatever happens in
 * one, it is recorded).
 */

import { type CycleResult, errorResult } from '../domain/cycle.ts'
import type { Dispatch, NewDispatch } from '../domain/dispatch.ts'
import { asTirelessError } from '../domain/error.ts'
import type { Note } from '../domain/note.ts'
import { outsideBlock } from '../domain/runtime-block.ts'
import { commitOne, type Op } from '../ports/store.ts'
import { inPart, over, resultsOf, settled, whyIdle } from './cycle-end.ts'
import { dispatchFor, nobodySpecial } from './dispatch-for.ts'
import type { Insertions } from './layers.ts'
import { hybridPlanner } from './planners/hybrid.ts'
import { llmPlanner } from './planners/llm.ts'
import type { Candidate, Occasion, Planned, Planner, Rhythm } from './planners/planner.ts'
import { staticPlanner } from './planners/static.ts'
import { enqueueProbed, type Sent } from './probe.ts'
import { historyTable, resultsTable } from './recorder.ts'
import { beatMs, nextBeatTime } from './rhythm.ts'
import type { Surroundings } from './settings.ts'
import { sightOf } from './sight.ts'

/** What a cycle was begun by. */
export interface Trigger {
  readonly name: string
  /** The beat's schedule and instant, where there is one. */
  readonly beat: { readonly schedule_id: string; readonly due: number } | null
  /** Those that are due by schedules of their own; null: everybody who has none. */
  readonly agents: readonly string[] | null
  /** Instead of the agents' own. */
  readonly prompt: string | null
  /** When the next beat comes, as far as is known: until then it waits for what it began. */
  readonly deadline: number
  /** Aborts when another cycle stands in line: then it waits no longer. */
  readonly giveWay: AbortSignal
  /** What it waits for besides what it sends itself: everything that earlier cycles left, or what the one before it handed over. */
  readonly waitsFor: 'left' | readonly string[]
  /** Told once it is decided who goes. */
  readonly planned: () => void
}

/** How many of an agent's dispatches are looked at. */
const LOOKED_AT = 12

export interface Cycled {
  readonly result: CycleResult
  /** For the owner. */
  readonly notes: readonly Note[]
  /** Still under way: a later cycle counts them. */
  readonly open: readonly string[]
  /** Since when it only waited for what it had begun, and would not have had to; undefined: it was at work to its end. */
  readonly freeSince?: number | undefined
}

/** Contract: rejects only where the store fails; every other trouble is in the result, which is on record when this resolves. */
export async function runCycle(
  around: Surroundings,
  trigger: Trigger,
  update: (cycled: Cycled) => Promise<readonly Op[]>,
  signal: AbortSignal,
): Promise<Cycled> {
  const { store, clock, ids } = around
  const cycle_id = `run-${ids.next()}`
  const began = clock.monotonic()
  const { left, repeated } = await begin(around, cycle_id, trigger)
  const cycled = repeated
    ? over(cycle_id, await resultsOf(around, left), { idle_reason: 'this beat has fired already', sent: [] })
    : await attempt(around, cycle_id, trigger, left, signal)
  const duration_ms = Math.round(clock.monotonic() - began)
  const done: Cycled = { ...cycled, result: { ...cycled.result, duration_ms } }
  const more = await update(done)
  await commitOne(store, [{ op: 'cycle_end', result: done.result, open: done.open, now: clock.now() }, ...more])
  around.ended(done.result)
  tellLog(around, trigger.name, done.result)
  return done
}

/** One line for each cycle (E20). */
function tellLog({ log }: Surroundings, trigger: string, { agents: _, failed_agents, ...result }: CycleResult): void {
  const level = result.status === 'error' ? 'error' : result.status === 'failed' ? 'warn' : 'info'
  log(level, 'cycle', { ...result, trigger, failed_agents: failed_agents.join(', ') })
}

/** On record before anything is done. `left`: what earlier cycles did not live to count. */
async function begin(
  { store, clock, settings }: Surroundings,
  cycle_id: string,
  { name: trigger, beat }: Trigger,
): Promise<{ left: readonly string[]; repeated: boolean }> {
  const { id: kernel_id } = settings()
  const now = clock.now()
  const op = { op: 'cycle_begin', cycle_id, kernel_id, trigger, due: beat?.due ?? null, now } as const
  const [{ left }, fired] = beat
    ? await commitOne(store, [op, { op: 'schedule_fired', id: beat.schedule_id, instant: beat.due }])
    : [...(await commitOne(store, [op])), { first: true }]
  return { left, repeated: !fired.first }
}

async function attempt(
  around: Surroundings,
  cycle_id: string,
  trigger: Trigger,
  left: readonly string[],
  signal: AbortSignal,
): Promise<Cycled> {
  const { clock, log } = around
  try {
    const at = clock.now()
    await readDocuments(around)
    await around.documents.commit(`pre-cycle ${cycle_id}`)
    // After the documents were read: edits of their files are news.
    const candidates = await orient(around, trigger)
    // Once more: what an agent is told may be newer than what it is said to have seen, never older, or a change would be lost on it.
    const { state, goal } = await readDocuments(around)
    const isByHand = trigger.beat === null
    const occasion: Occasion = { cycle_id, at, state, goal, candidates, isByHand, rhythm: rhythmOf(around, at) }
    const plan = await plannerOf(around).plan(occasion, signal)
    trigger.planned()
    if (plan.kind === 'error') throw new Error(`plan: ${plan.error}`)
    const planned =
      plan.kind === 'plan' ? plan.planned.map((one) => ({ prompt: trigger.prompt ?? undefined, ...one })) : []
    // Told to stop while it planned: whoever is next plans anew.
    const isCalledOff = signal.aborted && planned.length > 0
    const sent = planned.length > 0 && !isCalledOff ? await act(around, occasion, planned, signal) : NOTHING_SENT
    const isSingle = trigger.waitsFor === 'left'
    const awaited = [...(trigger.waitsFor === 'left' ? left : trigger.waitsFor), ...sent.ids]
    const freeSince = await settled(around, awaited, trigger, signal)
    const results = await resultsOf(around, [...left, ...sent.ids])
    const idle_reason = isCalledOff ? CALLED_OFF : plan.kind === 'idle' ? whyIdle(plan.reason, results, isSingle) : null
    const cycled = over(cycle_id, results, { idle_reason, sent: sent.ids }, [...plan.notes, ...sent.notes])
    const unfinished =
      isSingle && (isCalledOff || results.some(({ status }) => status === 'pending' || status === 'running'))
    return { ...(unfinished ? inPart(cycled) : cycled), freeSince }
  } catch (thrown) {
    const error = asTirelessError(thrown)
    if (error.code.startsWith('store_')) throw error
    log('error', 'cycle failed', { cycle_id, message: error.message })
    const sent = (await around.store.dispatchesOf(cycle_id)).map(({ dispatch_id }) => dispatch_id)
    return { result: errorResult(cycle_id, error.message, 0), notes: [], open: [...left, ...sent] }
  }
}

const CALLED_OFF = 'told to stop before anything was sent'

async function readDocuments(around: Surroundings): Promise<{ readonly state: string; readonly goal: string }> {
  const state = await perceive(around)
  return { state, goal: (await around.documents.read('GOAL.md'))?.text ?? '' }
}

/** STATE.md, seeded where there is none; where it cannot be read, what it would be seeded with. */
export async function perceive({ documents, settings, log }: Surroundings): Promise<string> {
  const { seed_state } = settings()
  const { text } = await documents.seed('STATE.md', seed_state)
  const latest = await documents.read('STATE.md').catch((thrown) => {
    log('warn', 'state unreadable', { message: asTirelessError(thrown).message })
    return undefined
  })
  return outsideBlock(latest?.text ?? text)
}

/** Who could be dispatched, and how each stands. Without its past an agent is as good as new. */
export async function orient(
  around: Surroundings,
  { agents: due }: Pick<Trigger, 'agents'>,
): Promise<readonly Candidate[]> {
  const { store, settings, log } = around
  const { id, agents } = settings()
  const asked = due
    ? due.map((name) => agents.find(({ agent_id }) => agent_id === name) ?? nobodySpecial(name))
    : agents.filter((agent) => agent.schedule === null)
  return Promise.all(
    asked.map(async (agent) => {
      const recent = await store.recent(id, agent.agent_id, LOOKED_AT).catch((thrown): readonly Dispatch[] => {
        log('warn', 'recent dispatches unreadable', {
          agent_id: agent.agent_id,
          message: asTirelessError(thrown).message,
        })
        return []
      })
      return { agent, recent, sight: await sightOf(around, agent), due: due !== null }
    }),
  )
}

function plannerOf(around: Surroundings): Planner {
  const { mode } = around.settings().planner
  if (mode === 'static') return staticPlanner
  const llm = llmPlanner(around)
  return mode === 'llm' ? llm : hybridPlanner(llm)
}

function rhythmOf({ settings }: Surroundings, now: number): Rhythm {
  const its = settings()
  return { beatMs: beatMs(its, now), nextBeat: (instant) => nextBeatTime(its, instant, now) }
}

const NOTHING_SENT: Sent = { ids: [], notes: [] }

/** All or none. Where nobody knows yet whether the provider takes the key, one goes first. */
async function act(
  around: Surroundings,
  occasion: Occasion,
  planned: readonly Planned[],
  signal: AbortSignal,
): Promise<Sent> {
  const insertions = await insertionsFor(around, occasion)
  const notes: Note[] = []
  const made: NewDispatch[] = []
  for (const one of planned) {
    const candidate = occasion.candidates.find(({ agent }) => agent.agent_id === one.agent_id)
    if (!candidate) continue
    try {
      made.push(await dispatchFor(around, occasion.cycle_id, candidate, one, insertions, notes))
    } catch (thrown) {
      const { code, message } = asTirelessError(thrown)
      if (code !== 'workspace_refused') throw thrown
      notes.push({
        about: `behind ${one.agent_id}`,
        text: `${one.agent_id} had to stay behind: ${message}`,
        zh: `${one.agent_id} 未能派发：${message}`,
      })
    }
  }
  const sent = await enqueueProbed(around, made, signal)
  return { ...sent, notes: [...notes, ...sent.notes] }
}

/** What an agent's prompt can be filled in with. */
export async function insertionsFor(
  { store, settings, documents }: Surroundings,
  { state, goal, at: now }: Pick<Occasion, 'state' | 'goal' | 'at'>,
): Promise<Omit<Insertions, 'watched'>> {
  const { id, max_cycle_history } = settings()
  const cycles = await store.cycles(id, { limit: max_cycle_history + 1 })
  return {
    ...{ state, goal, now },
    recent_results: resultsTable(cycles),
    cycle_history: historyTable(cycles, max_cycle_history),
    state_label: await documents.label('STATE.md'),
  }
}
