/**
 * Cycle: the kernel's work on one beat: read documents and agents, plan, dispatch, wait, record.
 * Must not know: when beats come, how dispatches run.
 * Invariants: I1 (a cycle only enqueues dispatches; the queue runs them), I5 (a deadline keeps a hanging dispatch from
 * blocking a cycle), I6 (every cycle is recorded, whatever happens in it).
 */

import { type CycleResult, errorCycleResult } from '../../domain/cycle.ts'
import type { Dispatch, NewDispatch } from '../../domain/dispatch.ts'
import { asTirelessError } from '../../domain/error.ts'
import type { OwnerNote } from '../../domain/owner-note.ts'
import { textOutsideBlock } from '../../domain/runtime-block.ts'
import { commitOne, type Op } from '../../ports/store.ts'
import { bareAgent, buildDispatch } from '../queue/build-dispatch.ts'
import { enqueueWithCanary, type QueuedPlan } from '../queue/key-canary.ts'
import { beatIntervalMs, nextBeatTime } from '../schedule/beat-timing.ts'
import type { KernelDeps } from '../settings.ts'
import type { PromptValues } from './agent-prompt.ts'
import { changeFingerprint } from './change-fingerprint.ts'
import { asPartial, buildOutcome, idleReason, readResults, waitForDispatches } from './cycle-end.ts'
import { hybridPlanner } from './planners/hybrid.ts'
import { llmPlanner } from './planners/llm.ts'
import type { AgentCandidate, BeatTiming, PlannedDispatch, Planner, PlanningContext } from './planners/planner.ts'
import { staticPlanner } from './planners/static.ts'
import { renderHistoryTable, renderResultsTable } from './recorder.ts'

/** What started a cycle, and its limits. */
export interface CycleTrigger {
  readonly name: string
  /** Schedule and instant of the beat; null for a manual cycle. */
  readonly beat: { readonly schedule_id: string; readonly due: number } | null
  /** Agents that are due by their own schedules; null: all agents without an own schedule. */
  readonly agents: readonly string[] | null
  /** Prompt that replaces the agents' own prompts; null: none. */
  readonly prompt: string | null
  /** The instant until which the cycle waits for its dispatches: the next beat or the configured timeout. */
  readonly deadline: number
  /** Aborts when another cycle is queued; then this cycle stops waiting for its dispatches. */
  readonly giveWay: AbortSignal
  /** Dispatches to wait for besides the cycle's own: `left` (all that earlier cycles left unfinished), or this list. */
  readonly waitsFor: 'left' | readonly string[]
  /** Called when the plan is made, before its dispatches are queued. */
  readonly planned: () => void
}

/** How many of an agent's last dispatches a planner sees. */
const MAX_RECENT = 12

export interface CycleOutcome {
  readonly result: CycleResult
  readonly notes: readonly OwnerNote[]
  /** Unfinished dispatches; a later cycle reports them. */
  readonly open: readonly string[]
  /** The instant at which the cycle stopped waiting for unfinished dispatches; undefined: none was unfinished. */
  readonly freeSince?: number | undefined
}

/** Contract: rejects only if the store fails; other problems are in the result, which is then on disk. */
export async function runCycle(
  deps: KernelDeps,
  trigger: CycleTrigger,
  update: (outcome: CycleOutcome) => Promise<readonly Op[]>,
  signal: AbortSignal,
): Promise<CycleOutcome> {
  const { store, clock, ids } = deps
  const cycle_id = `run-${ids.next()}`
  const startedAt = clock.monotonic()
  const { left, repeated } = await begin(deps, cycle_id, trigger)
  const outcome = repeated
    ? buildOutcome(cycle_id, await readResults(deps, left), { idle_reason: 'this beat has already fired', sent: [] })
    : await planAndDispatch(deps, cycle_id, trigger, left, signal)
  const duration_ms = Math.round(clock.monotonic() - startedAt)
  const finished: CycleOutcome = { ...outcome, result: { ...outcome.result, duration_ms } }
  const ops = await update(finished)
  await commitOne(store, [{ op: 'cycle_end', result: finished.result, open: finished.open, now: clock.now() }, ...ops])
  deps.onCycleEnd(finished.result)
  logCycle(deps, trigger.name, finished.result)
  return finished
}

/** Writes one log line per cycle (E20). */
function logCycle({ log }: KernelDeps, trigger: string, { agents: _, failed_agents, ...result }: CycleResult): void {
  const level = result.status === 'error' ? 'error' : result.status === 'failed' ? 'warn' : 'info'
  log(level, 'cycle', { ...result, trigger, failed_agents: failed_agents.join(', ') })
}

/**
 * Stores the start of the cycle before any work. In the result, `left`: unfinished dispatches of earlier cycles;
 * `repeated`: an earlier cycle already ran for this beat.
 */
async function begin(
  { store, clock, settings }: KernelDeps,
  cycle_id: string,
  { name: trigger, beat }: CycleTrigger,
): Promise<{ left: readonly string[]; repeated: boolean }> {
  const { id: kernel_id } = settings()
  const now = clock.now()
  const op = { op: 'cycle_begin', cycle_id, kernel_id, trigger, due: beat?.due ?? null, now } as const
  const [{ left }, fired] = beat
    ? await commitOne(store, [op, { op: 'schedule_fired', id: beat.schedule_id, instant: beat.due }])
    : [...(await commitOne(store, [op])), { first: true }]
  return { left, repeated: !fired.first }
}

async function planAndDispatch(
  deps: KernelDeps,
  cycle_id: string,
  trigger: CycleTrigger,
  left: readonly string[],
  signal: AbortSignal,
): Promise<CycleOutcome> {
  const { clock, log } = deps
  try {
    const at = clock.now()
    await readDocuments(deps)
    await deps.documents.commit(`pre-cycle ${cycle_id}`)
    // Must follow the reading of the documents, because that takes over edits of their files, which count as changes.
    const candidates = await findCandidates(deps, trigger)
    // Read again after the fingerprints: a prompt older than its fingerprint would hide a change from the agent.
    const { state, goal } = await readDocuments(deps)
    const isManual = trigger.beat === null
    const occasion: PlanningContext = {
      cycle_id,
      at,
      state,
      goal,
      candidates,
      isManual: isManual,
      rhythm: currentRhythm(deps, at),
    }
    const plan = await choosePlanner(deps).plan(occasion, signal)
    trigger.planned()
    if (plan.kind === 'error') throw new Error(`plan: ${plan.error}`)
    const planned =
      plan.kind === 'plan' ? plan.planned.map((item) => ({ prompt: trigger.prompt ?? undefined, ...item })) : []
    // The process was stopped while planning: nothing is dispatched, and the next cycle plans again.
    const isCancelled = signal.aborted && planned.length > 0
    const sent = planned.length > 0 && !isCancelled ? await act(deps, occasion, planned, signal) : NONE_SENT
    const isSingle = trigger.waitsFor === 'left'
    const awaited = [...(trigger.waitsFor === 'left' ? left : trigger.waitsFor), ...sent.ids]
    const freeSince = await waitForDispatches(deps, awaited, trigger, signal)
    const results = await readResults(deps, [...left, ...sent.ids])
    const idle_reason = isCancelled
      ? CANCELLED
      : plan.kind === 'idle'
        ? idleReason(plan.reason, results, isSingle)
        : null
    const outcome = buildOutcome(cycle_id, results, { idle_reason, sent: sent.ids }, [...plan.notes, ...sent.notes])
    const unfinished =
      isSingle && (isCancelled || results.some(({ status }) => status === 'pending' || status === 'running'))
    return { ...(unfinished ? asPartial(outcome) : outcome), freeSince }
  } catch (thrown) {
    const error = asTirelessError(thrown)
    if (error.code.startsWith('store_')) throw error
    log('error', 'cycle failed', { cycle_id, message: error.message })
    const sent = (await deps.store.dispatchesOf(cycle_id)).map(({ dispatch_id }) => dispatch_id)
    return { result: errorCycleResult(cycle_id, error.message, 0), notes: [], open: [...left, ...sent] }
  }
}

const CANCELLED = 'stopped before any dispatch was queued'

async function readDocuments(deps: KernelDeps): Promise<{ readonly state: string; readonly goal: string }> {
  const state = await readKernelState(deps)
  return { state, goal: (await deps.documents.read('GOAL.md'))?.text ?? '' }
}

/**
 * The text of STATE.md without the runtime block. A missing STATE.md is created with the configured first text, which
 * is also used if STATE.md cannot be read.
 */
export async function readKernelState({ documents, settings, log }: KernelDeps): Promise<string> {
  const { seed_state } = settings()
  const { text } = await documents.seed('STATE.md', seed_state)
  const latest = await documents.read('STATE.md').catch((thrown) => {
    log('warn', 'state unreadable', { message: asTirelessError(thrown).message })
    return undefined
  })
  return textOutsideBlock(latest?.text ?? text)
}

/** The agents that could be dispatched, with their last dispatches (none if these cannot be read) and fingerprints. */
export async function findCandidates(
  deps: KernelDeps,
  { agents: due }: Pick<CycleTrigger, 'agents'>,
): Promise<readonly AgentCandidate[]> {
  const { store, settings, log } = deps
  const { id, agents } = settings()
  const selected = due
    ? due.map((name) => agents.find(({ agent_id }) => agent_id === name) ?? bareAgent(name))
    : agents.filter((agent) => agent.schedule === null)
  return Promise.all(
    selected.map(async (agent): Promise<AgentCandidate> => {
      const recent = await store.recent(id, agent.agent_id, MAX_RECENT).catch((thrown): readonly Dispatch[] => {
        log('warn', 'recent dispatches unreadable', {
          agent_id: agent.agent_id,
          message: asTirelessError(thrown).message,
        })
        return []
      })
      return { agent, recent, fingerprint: await changeFingerprint(deps, agent), due: due !== null }
    }),
  )
}

function choosePlanner(deps: KernelDeps): Planner {
  const { mode } = deps.settings().planner
  if (mode === 'static') return staticPlanner
  const llm = llmPlanner(deps)
  return mode === 'llm' ? llm : hybridPlanner(llm)
}

function currentRhythm({ settings }: KernelDeps, now: number): BeatTiming {
  const current = settings()
  return { beatMs: beatIntervalMs(current, now), nextBeat: (instant) => nextBeatTime(current, instant, now) }
}

const NONE_SENT: QueuedPlan = { ids: [], notes: [] }

/** Queues the planned dispatches, all or none. If it is unknown whether a provider accepts its key, one goes first. */
async function act(
  deps: KernelDeps,
  occasion: PlanningContext,
  planned: readonly PlannedDispatch[],
  signal: AbortSignal,
): Promise<QueuedPlan> {
  const insertions = await readPromptValues(deps, occasion)
  const notes: OwnerNote[] = []
  const dispatches: NewDispatch[] = []
  for (const item of planned) {
    const candidate = occasion.candidates.find(({ agent }) => agent.agent_id === item.agent_id)
    if (!candidate) continue
    try {
      dispatches.push(
        await buildDispatch(deps, { cycle_id: occasion.cycle_id, candidate, planned: item, insertions }, notes),
      )
    } catch (thrown) {
      const { code, message } = asTirelessError(thrown)
      if (code !== 'workspace_refused') throw thrown
      notes.push({
        about: `behind ${item.agent_id}`,
        text: `${item.agent_id} was not dispatched: ${message}`,
        zh: `${item.agent_id} 未能派发：${message}`,
      })
    }
  }
  const sent = await enqueueWithCanary(deps, dispatches, signal)
  return { ...sent, notes: [...notes, ...sent.notes] }
}

/** The values that are the same for every agent, so without `{WATCHED}` and the folder. */
export async function readPromptValues(
  { store, settings, documents }: KernelDeps,
  { state, goal, at: now }: Pick<PlanningContext, 'state' | 'goal' | 'at'>,
): Promise<Omit<PromptValues, 'watched' | 'folder'>> {
  const { id, max_cycle_history } = settings()
  const cycles = await store.cycles(id, { limit: max_cycle_history + 1 })
  return {
    ...{ state, goal, now },
    recent_results: renderResultsTable(cycles),
    cycle_history: renderHistoryTable(cycles, max_cycle_history),
    state_label: await documents.label('STATE.md'),
  }
}
