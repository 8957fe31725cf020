/** Runs the parts of the kernel again when a shared database is back: a kernel goes on without a person. */

import type { Progress } from '../commands/lib/progress.ts'
import { asTirelessError, type TirelessError } from '../domain/error.ts'
import type { StopSignals } from '../engine/advance.ts'
import type { Engine } from '../engine/run.ts'
import type { Services } from '../ports/plugin.ts'

interface OutageDeps {
  readonly engine: Pick<Engine, 'store' | 'clock'>
  readonly log: Services['log']
  readonly signals: StopSignals
  /** Contract: the runs of this process that the failure left in the middle are given back when the store works. */
  startOver(): Promise<void>
  tell(progress: Progress): void
}

const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [500, 15_000]

export async function runThroughOutages(deps: OutageDeps, work: () => Promise<void>): Promise<void> {
  const { engine, log, signals, tell } = deps
  const { drain: stop } = signals
  let pauseMs = MIN_PAUSE_MS
  while (!stop.aborted) {
    const began = engine.clock.monotonic()
    try {
      return await work()
    } catch (thrown) {
      const error = asTirelessError(thrown)
      if (error.code !== 'store_failed') throw thrown
      // What this process has not written, another one does again, or this one after its next start.
      if (stop.aborted) return
      log.write('error', 'database away; the kernel waits for it', { message: error.message })
      tell(awayNote(error))
    }
    await deps.startOver()
    // A database that answers may still refuse to commit.
    pauseMs = engine.clock.monotonic() - began < MAX_PAUSE_MS ? Math.min(2 * pauseMs, MAX_PAUSE_MS) : MIN_PAUSE_MS
    await untilReachable(deps, pauseMs, stop)
    if (stop.aborted) return
    log.write('info', 'database back; the kernel goes on', {})
    tell(BACK)
  }
}

async function untilReachable({ engine }: OutageDeps, firstPauseMs: number, stop: AbortSignal): Promise<void> {
  const { store, clock } = engine
  for (let pause = firstPauseMs; !stop.aborted; pause = Math.min(MAX_PAUSE_MS, 2 * pause)) {
    await clock.sleep(pause, stop)
    try {
      return await store.ping?.()
    } catch {
      // Not yet.
    }
  }
}

const awayNote = ({ problem, fix }: TirelessError): Progress => ({
  kind: 'note',
  text: `The kernel waits for its database: ${problem}. It goes on by itself. If it does not: ${fix ?? 'see the log'}`,
  zh: `内核正在等待数据库：${problem}。恢复后会自动继续。`,
})

const BACK: Progress = {
  kind: 'note',
  text: 'The database is back; the kernel goes on.',
  zh: '数据库已恢复；内核继续运行。',
}
