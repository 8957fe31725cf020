/** One world from beginning to end: a storm of faults, then calm weather until everything has come to rest. */

import { MAX_CYCLE_MS } from '../../src/kernel/loop.ts'
import type { Branch } from './branch-counters.ts'
import { checkReplays } from './check-replays.ts'
import { Humans } from './humans.ts'
import { checkBusy, checkEnd, checkIdle, checkTakenUp, isAtWork, restless } from './invariants/end-state.ts'
import { checkLeft } from './invariants/retention.ts'
import type { Plan } from './plan.ts'
import { Life } from './process.ts'
import { oneOf, whole } from './random.ts'
import { HONEST, type Variant } from './variants.ts'
import { type Violation, World } from './world.ts'

/** So many events without anything but waiting, and a storm is over early. */
const DULL = 20
/** From the first to the second SIGTERM where something hangs, in events. */
const IMPATIENT = 3
const MOST_ROUNDS = 60
const MOST_EVENTS = 6_000

export interface Report {
  readonly seed: number
  /** Of everything that happened, in order: two runs of one plan must agree. */
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
  const world = new World(plan, options.variant ?? HONEST, options)
  try {
    const humans = new Humans(world)
    await storm(world, humans)
    if (!world.violation) await calm(world, humans)
    if (!world.violation) checkEnd(world)
    if (!world.violation && world.variant === HONEST) await checkReplays(world)
    if (!world.violation) await retention(world)
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

interface Planned {
  readonly at: number
  readonly asking?: number | undefined
  go(): void
}

async function storm(world: World, humans: Humans): Promise<void> {
  const planned = calendar(world, humans)
  while (world.events < world.plan.storm && !world.violation) {
    const quiet = world.quiet()
    if (quiet) checkBusy(world)
    for (const next of takeDue(planned, world, quiet)) {
      next.go()
      await world.settle()
    }
    // Where something is late, to wait is what matters.
    const dull = world.events - world.stirred > DULL && !world.plan.kernel?.late
    if (quiet && planned.length === 0 && dull) return
    for (const say of humans.words(world.events, false)) void say()
    wakeAndStop(world)
    if (!world.holder() && !world.held() && (world.quiet() || world.chance('boot', world.events) < 0.3))
      start(world, startInput(world))
    if (!(await world.deliver())) wakePaused(world)
  }
}

/** What is due by now; where nothing else happens, the next thing. */
function takeDue(planned: Planned[], world: World, quiet: boolean): readonly Planned[] {
  const isDue = ({ at, asking }: Planned): boolean => at <= world.events || (asking ?? Infinity) <= world.truth.paid
  const due = planned.filter(isDue)
  const taken = due.length === 0 && quiet ? planned.slice(0, 1) : due
  for (const one of taken) planned.splice(planned.indexOf(one), 1)
  return taken
}

function calendar(world: World, humans: Humans): Planned[] {
  const { tasks, acts, faults } = world.plan
  const planned: Planned[] = [
    ...tasks.map((task) => ({ at: task.at, go: () => void humans.task(task) })),
    ...tasks.flatMap((task) =>
      task.again === undefined ? [] : [{ at: task.again, go: () => void humans.task(task) }],
    ),
    ...acts
      .filter((act) => act.kind !== 'edit' || act.replacing === undefined)
      .map((act) => ({ at: act.at, asking: act.asking, go: () => void humans.act(act) })),
    ...faults.flatMap((fault) => {
      if (fault.kind === 'wall') return [{ at: fault.at, go: () => stepWall(world, fault.by) }]
      return fault.kind === 'term' ? [{ at: fault.at, go: () => terminate(world, fault.patience) }] : []
    }),
  ]
  return planned.sort((a, b) => a.at - b.at)
}

function stepWall(world: World, by: number): void {
  world.counters.add('wall clock stepped')
  world.note(`wall ${by}`)
  world.wall += by
  world.rhythm.excuse()
}

function terminate(world: World, patience: number): void {
  const life = world.holder()
  if (!life || life.term.signal.aborted) return
  world.counters.add('SIGTERM')
  world.note(`${life.id} SIGTERM`)
  life.abortAt = world.events + patience
  life.term.abort()
}

/** Nothing happens until somebody goes on: then some time has passed. */
function wakePaused(world: World): void {
  for (const life of world.lives) if (life.state === 'paused') life.resumeAt = 0
  world.pass(whole(world.plan.seed, 600_000, 'asleep', world.events))
  world.rhythm.excuse()
}

function wakeAndStop(world: World): void {
  for (const life of world.lives) {
    if (life.state === 'paused' && life.resumeAt <= world.events) {
      world.note(`${life.id} goes on`)
      life.state = 'up'
      world.rhythm.excuse()
    }
    if (life.termAt <= world.events && life === world.holder()) {
      life.termAt = Number.POSITIVE_INFINITY
      terminate(world, IMPATIENT)
    }
    if (life.state === 'up' && life.abortAt <= world.events && !life.abort.signal.aborted) {
      world.counters.add('abort')
      world.note(`${life.id} abort`)
      life.abortedAt = world.monotonic
      world.garbage.forget(life)
      life.abort.abort()
    }
  }
}

/** Some are told to stay, some to leave when they are idle, or after some minutes in any case. */
function startInput(world: World): object {
  if (world.plan.kernel?.late || world.chance('stay', world.events) < 0.6) return {}
  return { until_idle: true, max_minutes: oneOf(world.plan.seed, [0.1, 1, 30], 'minutes', world.events) }
}

/** A process that stays, or one for a single cycle. */
function start(world: World, input: object): void {
  if (world.plan.kernel?.single) once(world)
  else stay(world, input)
}

function stay(world: World, input: object): void {
  const life = new Life(world)
  world.note(`${life.id} start ${JSON.stringify(input)}`)
  life.live('start', input).catch(() => {})
}

function once(world: World): void {
  const life = new Life(world)
  world.note(`${life.id} once`)
  const left = new Map([...world.watch.dispatches.values()].filter(isAtWork).map((row) => [row.dispatch_id, row.token]))
  const began = world.monotonic
  const taken = (): void => {
    world.counters.add(left.size > 0 ? 'single cycle takes up what was left' : 'single cycle')
    if (!life.term.signal.aborted && world.monotonic - began < MAX_CYCLE_MS / 2) checkTakenUp(world, left)
  }
  life.live('once', {}).then(taken, () => {})
}

/** No faults any more. Processes come and go, people answer, time passes, until there is nothing left to do. */
async function calm(world: World, humans: Humans): Promise<void> {
  world.faults.over = true
  for (const life of world.lives) if (life.state === 'up' || life.state === 'paused') life.die('killed')
  const rest = (): Promise<void> => untilNobody(world)
  await humans.again(rest)
  for (let round = 0; round < MOST_ROUNDS && !world.violation; round++) {
    start(world, { until_idle: true })
    await rest()
    for (const say of humans.words(world.events, true)) {
      void say()
      await rest()
    }
    const waiting = restless(world)
    const open = [...world.watch.approvals.values()].filter(({ status }) => status === 'open')
    if (waiting.length === 0 && open.length === 0) return idle(world)
    const expiring = open.map(({ expires_at }) => expires_at)
    const due = waiting.flatMap((row) => (row.due === null ? [] : [row.due])).concat(expiring)
    if (due.length > 0) world.pass(Math.max(0, Math.min(...due) - world.wall))
  }
  world.fail('liveness', `no rest after ${MOST_ROUNDS} rounds: ${JSON.stringify(restless(world))}`)
}

/** I8: where nothing is new, a life more changes nothing and asks nobody. */
async function idle(world: World): Promise<void> {
  const before = checkIdle(world)
  start(world, { until_idle: true })
  await untilNobody(world)
  if (checkIdle(world) !== before) world.fail('I8', `an idle life changed something: ${before} → ${checkIdle(world)}`)
  if (world.plan.kernel && !world.violation) await reckoning(world)
}

/** One more cycle, which sends nobody, counts what is over. */
async function reckoning(world: World): Promise<void> {
  once(world)
  await untilNobody(world)
  if (world.violation) return
  world.cycles.checkEnd()
  world.state.checkEnd()
}

/** Much later: everything that is over may go. */
async function retention(world: World): Promise<void> {
  const life = new Life(world)
  world.note(`${life.id} retain`)
  life.live('retain', { before: Number.MAX_SAFE_INTEGER }).catch(() => {})
  await untilNobody(world)
  if (!world.violation) checkLeft(world)
}

async function untilNobody(world: World): Promise<void> {
  const limit = world.events + MOST_EVENTS
  await world.settle()
  while (world.lives.some(({ state }) => state === 'up') && !world.violation) {
    if (world.events > limit) return world.fail('liveness', `no rest after ${MOST_EVENTS} events`)
    if (!(await world.deliver())) return world.fail('liveness', 'a process waits for nothing')
  }
}
