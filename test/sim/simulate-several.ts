/** Runs several processes on one store: a phase of faults, then a phase without, in which all of them go on. */

import type { Humans } from './humans.ts'
import { isPendingOrRunning } from './invariants/end-state.ts'
import { planEvents, takeDueEvents } from './planned-events.ts'
import { SimProcess } from './process.ts'
import type { World } from './world.ts'

/** Longer than any call hangs. */
const LONGEST_CALM_MS = 15 * 60_000

export async function runTogether(world: World, humans: Humans): Promise<void> {
  const planned = planEvents(world, humans)
  while (world.events < world.plan.faultEvents && !world.violation) {
    for (const next of takeDueEvents(planned, world, false)) {
      next.perform()
      await world.flushPromises()
    }
    await goOn(world, humans)
  }
}

/** The faults are over: every process works again, until nothing is left to do. Then all are told to stop. */
export async function settleTogether(world: World, humans: Humans, rest: () => Promise<void>): Promise<void> {
  const { processes, homes, several, monotonic } = world
  for (const home of homes) {
    home.setClockRight()
    home.restartAt = monotonic
  }
  for (const proc of processes) {
    if (proc.cut) proc.cut = { ...proc.cut, until: monotonic }
    if (proc.state === 'paused') proc.resumeAt = monotonic
  }
  several.resumeDue()
  const until = monotonic + LONGEST_CALM_MS
  // At least as long as it takes to notice what was lost.
  const notBefore = monotonic + 2 * (world.plan.several?.lease ?? 0)
  while (!world.violation && (world.monotonic < notBefore || openDispatches(world).length > 0)) {
    if (world.monotonic > until)
      return world.fail('liveness', `still open after ${LONGEST_CALM_MS} ms: ${openDispatches(world).join(', ')}`)
    await goOn(world, humans)
  }
  for (const proc of processes) if (proc.state === 'up' && !proc.term.signal.aborted) proc.term.abort()
  await rest()
}

const openDispatches = ({ mirror }: World): readonly string[] =>
  [...mirror.dispatches.values()].filter(isPendingOrRunning).map(({ dispatch_id }) => dispatch_id)

/** One event, or the time until something happens. */
async function goOn(world: World, humans: Humans): Promise<void> {
  for (const reply of humans.dueReplies(world.events, false)) void reply()
  world.several.resumeDue()
  sendSecondSignals(world)
  for (const home of world.homes)
    if (!home.isLocked() && home.restartAt <= world.monotonic) {
      const proc = new SimProcess(world, home)
      proc.startedAs = home.role
      world.logEvent(`${proc.id} starts in home ${home.n} as ${home.role}`)
      proc.runToExit('start', { role: home.role }).catch(() => {})
      await world.flushPromises()
    }
  const next = world.several.nextInstant()
  if (world.isQuiet() && next <= world.nextDueAt()) world.advanceTime(Math.max(0, next - world.monotonic))
  else await world.deliverNext()
}

function sendSecondSignals(world: World): void {
  for (const proc of world.processes)
    if (proc.state === 'up' && proc.abortAt <= world.events && !proc.abort.signal.aborted) {
      world.logEvent(`${proc.id} second SIGTERM`)
      proc.abortedAt = world.monotonic
      proc.abort.abort()
    }
}
