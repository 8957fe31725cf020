/** What commands can use to share work with other processes on one store. */

import type { ProcessRole } from '../../domain/process-role.ts'
import type { Progress } from './progress.ts'

export interface SharedWork {
  /** Whether other processes, in homes of their own, work on the same store. */
  isShared(): boolean
  /** The role with which this process was started; null: it was not. */
  role(): ProcessRole | null
  /** Contract: whether this process, or another one on a shared store, runs the dispatches of the whole queue. */
  isQueueWorked(): Promise<boolean>
  /** Contract: on a shared store, registers this process, which other processes then see; else does nothing. */
  joinAs(role: ProcessRole): Promise<void>
  /**
   * Contract: runs `work` whenever this process leads the kernel, until `stop` aborts; `signal` aborts when it leads no
   * longer. On a store of one home it always leads.
   */
  whileLeading(work: (signal: AbortSignal) => Promise<unknown>, stop: AbortSignal): Promise<void>
  /**
   * Contract: on a shared store, runs `work` again when the database is back after it rejected with `store_failed`;
   * resolves when the process is told to stop meanwhile. Otherwise settles as `work` does.
   */
  runThroughOutages(work: () => Promise<void>, tell: (progress: Progress) => void): Promise<void>
}
