/** A process tree identified by a marker in its environment, so that a restarted runtime can still find and end it. */

import type { Clock } from '../../../ports/clock.ts'
import { type ProcessRow, processTable } from './process-table.ts'
import { killTree } from './process-tree.ts'

interface MarkedTree {
  /** The marker: environment variables that the first process must get. */
  readonly env: Readonly<Record<string, string>>
  /** Contract: called in the event loop turn in which the first process started. That process leads its own session. */
  track(pid: number): void
  /** Contract: when it resolves, no process of the tree is running. */
  end(graceMs: number): Promise<void>
}

export function createMarkedTree(env: Readonly<Record<string, string>>, clock: Clock): MarkedTree {
  const table = processTable()
  // Processes of such a tree write to pipes, so they cannot be recognised by an output file.
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
