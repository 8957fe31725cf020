/** What a plan has happen at a chosen moment: what people do, signals, and clocks that jump. */

import { isTerminal } from '../../src/domain/dispatch.ts'
import { homeFor } from './homes.ts'
import type { Humans } from './humans.ts'
import type { World } from './world.ts'

interface PlannedEvent {
  readonly at: number
  readonly duringRequest?: number | undefined
  readonly duringMove?: number | undefined
  readonly afterEnds?: number | undefined
  perform(): void
}

/** Takes the events that are due; when nothing else can happen, the next one. */
export function takeDueEvents(planned: PlannedEvent[], world: World, quiet: boolean): readonly PlannedEvent[] {
  const ends = [...world.mirror.dispatches.values()].filter(({ status }) => isTerminal(status)).length
  const isDue = ({ at, duringRequest, duringMove, afterEnds }: PlannedEvent): boolean =>
    at <= world.events ||
    (afterEnds ?? Infinity) <= ends ||
    (duringRequest ?? Infinity) <= world.truth.paid ||
    (duringMove ?? Infinity) <= world.moves.count
  const due = planned.filter(isDue)
  const isNext = ({ afterEnds }: PlannedEvent): boolean => afterEnds === undefined
  const taken = due.length === 0 && quiet ? planned.filter(isNext).slice(0, 1) : due
  for (const one of taken) planned.splice(planned.indexOf(one), 1)
  return taken
}

export function planEvents(world: World, humans: Humans): PlannedEvent[] {
  const { tasks, actions, faults } = world.plan
  const planned: PlannedEvent[] = [
    ...tasks.map((task) => ({ at: task.at, perform: () => void humans.requestTask(task) })),
    ...tasks.flatMap((task) =>
      task.repeatedAt === undefined ? [] : [{ at: task.repeatedAt, perform: () => void humans.requestTask(task) }],
    ),
    ...actions
      .filter((action) => action.kind !== 'edit' || action.duringReplace === undefined)
      .map((action) => ({
        at: action.at,
        duringRequest: action.duringRequest,
        duringMove: action.duringMove,
        afterEnds: action.afterEnds,
        perform: () => void humans.perform(action),
      })),
    ...faults.flatMap((fault) => {
      if (fault.kind === 'clock') return [{ at: fault.at, perform: () => jumpClock(world, fault.home, fault.by) }]
      if (fault.kind === 'wall') return [{ at: fault.at, perform: () => stepWallClock(world, fault.by) }]
      return fault.kind === 'term' ? [{ at: fault.at, perform: () => terminate(world, fault.patience) }] : []
    }),
  ]
  return planned.sort((a, b) => a.at - b.at)
}

function stepWallClock(world: World, by: number): void {
  world.counters.add('wall clock stepped')
  world.logEvent(`wall clock stepped by ${by} ms`)
  world.wall += by
  world.beatTiming.excuseDelay()
}

function jumpClock(world: World, home: number, by: number): void {
  const jumping = world.homes[home % world.homes.length]
  if (!jumping) return
  world.counters.add('clock of a machine jumped')
  world.logEvent(`the clock of home ${jumping.n} jumps by ${by} ms`)
  jumping.jump(by)
}

export function terminate(world: World, patience: number): void {
  const home = homeFor(world, 'term', world.events)
  const proc = home ? home.holder() : world.homeHolder()
  if (!proc || proc.term.signal.aborted) return
  world.counters.add('SIGTERM')
  world.logEvent(`${proc.id} SIGTERM`)
  proc.abortAt = world.events + patience
  proc.term.abort()
}
