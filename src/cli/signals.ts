/** SIGTERM and SIGINT: after the first signal running steps may finish; a second signal or the deadline interrupts. */

import { systemClock } from '../adapters/system/clock.ts'
import { createStopControl } from '../app/stop-control.ts'
import type { CommandContext } from '../commands/lib/context.ts'

/** Time for current steps to finish, as long as no open app sets another deadline. */
const DRAIN_MS = 10_000

export interface SignalHandling {
  readonly signals: CommandContext['signals']
  /** From now on the first signal calls `stop`, which also has to interrupt the work at the deadline. */
  delegateStop(stop: () => void): void
  cancelDeadline(): void
  removeHandlers(): void
}

/** `onStop`: called at the first signal of a person. */
export function handleSignals(onStop: () => void = () => {}): SignalHandling {
  const control = createStopControl(systemClock)
  let isStopping = false
  let drainFirst = (): void => control.stop(DRAIN_MS)
  const stop = (): void => {
    if (isStopping) control.interrupt()
    else {
      isStopping = true
      drainFirst()
    }
  }
  const stopForPerson = (): void => {
    if (!isStopping) onStop()
    stop()
  }
  process.on('SIGTERM', stopForPerson)
  process.on('SIGINT', stopForPerson)
  // A write error on stdout means that no program reads the output any more, so it counts as a signal.
  process.stdout.on('error', stop)
  return {
    signals: control.signals,
    delegateStop(stopApp) {
      drainFirst = stopApp
    },
    cancelDeadline: () => control.over(),
    removeHandlers() {
      process.off('SIGTERM', stopForPerson)
      process.off('SIGINT', stopForPerson)
      process.stdout.off('error', stop)
    },
  }
}
