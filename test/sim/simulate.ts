/** Runs one world from start to end: a phase of faults, then a calm phase until everything has come to rest. */

import { MAX_CYCLE_MS } from '../../src/kernel/loop.ts'
import type { Branch } from './branch-counters.ts'
import { checkReplays } from './check-replays.ts'
import { Humans } from './humans.ts'
import {
  checkEndState,
  checkNoIdleWorker,
  checkResumed,
  describeIdleState,
  isPendingOrRunning,
  unfinishedDispatches,
} from './invariants/end-state.ts'
import { checkNothingPrunable } from './invariants/retention.ts'
import type { Plan } from './plan.ts'
import { planEvents, takeDueEvents, terminate } from './planned-events.ts'
import { SimProcess } from './process.ts'
import { integerBelow, oneOf } from './random.ts'
import { runTogether, settleTogether } from './simulate-several.ts'
import { UNBROKEN, type Variant } from './variants.ts'
import { type Violation, World } from './world.ts'

/** After so many events of mere waiting the fault phase ends early. */
const MAX_QUIET_EVENTS = 20
/** Events between the first and the second SIGTERM when a tool hangs. */
const ABORT_DELAY_EVENTS = 3
const MAX_ROUNDS = 60
const MAX_EVENTS = 6_000

export interface Report {
  readonly seed: number
  /** Hash of all logged events, in order: two runs of one plan must agree. */
  readonly hash: string
  readonly events: number
  readonly violation: Violation | undefined
  readonly counts: readonly (readonly [Branch, number])[]
  readonly log: readonly string[] | undefined
}

export async function simulate(
  plan: Plan,
  options: { readonly variant?: Variant; readonly log?: boolean } = {},
): Promise<Report> {
  const world = new World(plan, options.variant ?? UNBROKEN, options)
  try {
    const humans = new Humans(world)
    await (plan.several ? runTogether(world, humans) : runFaultPhase(world, humans))
    if (!world.violation) await runCalmPhase(world, humans)
    if (!world.violation) checkEndState(world)
    if (!world.violation) world.several.deliveries.checkEnd()
    if (!world.violation && world.variant === UNBROKEN) await checkReplays(world)
    if (!world.violation) await checkRetention(world)
    return {
      seed: plan.seed,
      hash: world.hash(),
      events: world.events,
      violation: world.violation,
      counts: world.counters.all(),
      log: world.log,
    }
  } finally {
    world.db.close()
  }
}

async function runFaultPhase(world: World, humans: Humans): Promise<void> {
  const planned = planEvents(world, humans)
  while (world.events < world.plan.faultEvents && !world.violation) {
    const quiet = world.isQuiet()
    if (quiet) checkNoIdleWorker(world)
    for (const next of takeDueEvents(planned, world, quiet)) {
      next.perform()
      await world.flushPromises()
    }
    // A world with a late dispatch must wait for it.
    const isDull = world.events - world.lastActivity > MAX_QUIET_EVENTS && !world.plan.kernel?.late
    if (quiet && planned.length === 0 && isDull) return
    for (const reply of humans.dueReplies(world.events, false)) void reply()
    resumeAndSignal(world)
    if (!world.homeHolder() && !world.isHomeLocked() && (world.isQuiet() || world.chance('boot', world.events) < 0.3))
      startProcess(world, startInput(world))
    if (!(await world.deliverNext())) resumePaused(world)
  }
}

/** Every process is paused: lets time pass, then resumes them. */
function resumePaused(world: World): void {
  for (const proc of world.processes) if (proc.state === 'paused') proc.resumeAt = 0
  world.advanceTime(integerBelow(world.plan.seed, 600_000, 'asleep', world.events))
  world.beatTiming.excuseDelay()
}

function resumeAndSignal(world: World): void {
  for (const proc of world.processes) {
    if (proc.state === 'paused' && proc.resumeAt <= world.events) {
      world.logEvent(`${proc.id} resumes`)
      proc.state = 'up'
      world.beatTiming.excuseDelay()
    }
    if (proc.termAt <= world.events && proc === world.homeHolder()) {
      proc.termAt = Number.POSITIVE_INFINITY
      terminate(world, ABORT_DELAY_EVENTS)
    }
    if (proc.state === 'up' && proc.abortAt <= world.events && !proc.abort.signal.aborted) {
      world.counters.add('second SIGTERM')
      world.logEvent(`${proc.id} second SIGTERM`)
      proc.abortedAt = world.monotonic
      world.garbage.forgetProcess(proc)
      proc.abort.abort()
    }
  }
}

/** Some processes stay, some exit when idle, or after some minutes. */
function startInput(world: World): object {
  if (world.plan.kernel?.late || world.chance('stay', world.events) < 0.6) return {}
  return { until_idle: true, max_minutes: oneOf(world.plan.seed, [0.1, 1, 30], 'minutes', world.events) }
}

/** Starts a process that stays, or one for a single cycle. */
function startProcess(world: World, input: object): void {
  if (world.plan.kernel?.single) startSingleCycle(world)
  else startKernelProcess(world, input)
}

function startKernelProcess(world: World, input: object): void {
  const proc = new SimProcess(world)
  world.logEvent(`${proc.id} start ${JSON.stringify(input)}`)
  proc.runToExit('start', input).catch(() => {})
}

function startSingleCycle(world: World): void {
  const proc = new SimProcess(world)
  world.logEvent(`${proc.id} once`)
  const left = new Map(
    [...world.mirror.dispatches.values()].filter(isPendingOrRunning).map((row) => [row.dispatch_id, row.token]),
  )
  const began = world.monotonic
  const taken = (): void => {
    world.counters.add(left.size > 0 ? 'single cycle resumes dispatches of an earlier process' : 'single cycle')
    if (!proc.term.signal.aborted && world.monotonic - began < MAX_CYCLE_MS / 2) checkResumed(world, left)
  }
  proc.runToExit('once', {}).then(taken, () => {})
}

/** No more faults: processes start and exit, users reply and time passes until nothing is left to do. */
async function runCalmPhase(world: World, humans: Humans): Promise<void> {
  world.faults.ended = true
  const rest = (): Promise<void> => runUntilAllExit(world)
  if (world.plan.several) await settleTogether(world, humans, rest)
  for (const proc of world.processes) if (proc.state === 'up' || proc.state === 'paused') proc.crash('killed')
  await humans.retryUnanswered(rest)
  for (let round = 0; round < MAX_ROUNDS && !world.violation; round++) {
    startProcess(world, { until_idle: true })
    await rest()
    for (const reply of humans.dueReplies(world.events, true)) {
      void reply()
      await rest()
    }
    const waiting = unfinishedDispatches(world)
    const open = [...world.mirror.approvals.values()].filter(({ status }) => status === 'open')
    const messages = world.several.deliveries.pendingDues()
    if (waiting.length === 0 && open.length === 0 && messages.length === 0 && !world.looks.hasUnread())
      return checkIdleProcess(world)
    const expiring = open.map(({ expires_at }) => expires_at)
    const due = waiting.flatMap((row) => (row.due === null ? [] : [row.due])).concat(expiring, messages)
    if (due.length > 0) world.advanceTime(Math.max(0, Math.min(...due) - world.wall))
  }
  world.fail('liveness', `not at rest after ${MAX_ROUNDS} rounds: ${JSON.stringify(unfinishedDispatches(world))}`)
}

/** I8: without new input, one more process changes nothing and calls no model. */
async function checkIdleProcess(world: World): Promise<void> {
  const before = describeIdleState(world)
  startProcess(world, { until_idle: true })
  await runUntilAllExit(world)
  if (describeIdleState(world) !== before)
    world.fail('I8', `an idle process changed something: ${before} → ${describeIdleState(world)}`)
  if (world.plan.kernel && !world.violation) await checkFinalCycle(world)
}

/** Runs one more cycle, which dispatches nothing and counts what has ended. */
async function checkFinalCycle(world: World): Promise<void> {
  startSingleCycle(world)
  await runUntilAllExit(world)
  if (world.violation) return
  world.cycles.checkEnd()
  world.stateDocument.checkEnd()
}

/** Much later: every finished session may be deleted. */
async function checkRetention(world: World): Promise<void> {
  const proc = new SimProcess(world)
  world.logEvent(`${proc.id} retain`)
  proc.runToExit('retain', { before: Number.MAX_SAFE_INTEGER }).catch(() => {})
  await runUntilAllExit(world)
  if (!world.violation) checkNothingPrunable(world)
}

async function runUntilAllExit(world: World): Promise<void> {
  const limit = world.events + MAX_EVENTS
  await world.flushPromises()
  while (world.processes.some(({ state }) => state === 'up') && !world.violation) {
    if (world.events > limit) return world.fail('liveness', `not at rest after ${MAX_EVENTS} events`)
    if (!(await world.deliverNext())) return world.fail('liveness', 'a process waits for nothing')
  }
}
