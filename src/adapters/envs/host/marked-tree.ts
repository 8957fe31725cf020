/** A process tree identified by a marker in its environment, so that a restarted runtime can still find and end it. */

import type { Clock } from '../../../ports/clock.ts'
import { type ProcessRow, processTable } from './process-table.ts'
import { killTree } from './process-tree.ts'

export interface MarkedTree {
  /** The marker; the first process must get these variables. */
  readonly env: Readonly<Record<string, string>>
  /** Contract: call it in the same event loop turn in which the first process was started, as a session leader. */
  track(pid: number): void
  /** Contract: when it resolves, no process of the tree is running. */
  end(graceMs: number): Promise<void>
}

export function createMarkedTree(env: Readonly<Record<string, string>>, clock: Clock): MarkedTree {
  const table = processTable()
  // These processes write to pipes, so there is no output file to match.
  const mark = { environment: Object.entries(env).map(([name, value]) => `${name}=${value}`), output: '' }
  let first: ProcessRow | undefined
  return {
    env,
    track(pid) {
      first = table.row(pid)
    },
    async end(graceMs) {
      await killTree({ shell: first, wasOurChild: first !== undefined, mark }, table, clock, graceMs)
      first = undefined
    },
  }
}
