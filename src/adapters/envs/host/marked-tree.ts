/** A process tree that is known by a mark in its environment: also one that an earlier life of this program has left behind. */

import type { Clock } from '../../../ports/clock.ts'
import { processTable, type Row } from './process-table.ts'
import { killTree } from './process-tree.ts'

export interface MarkedTree {
  /** The mark: what its first process has to be given. */
  readonly env: Readonly<Record<string, string>>
  /** Contract: called before the loop turns after its first process was started, as the leader of a session. */
  hold(pid: number): void
  /** Contract: when it resolves, no process of the tree is left. */
  end(graceMs: number): Promise<void>
}

export function markedTree(env: Readonly<Record<string, string>>, clock: Clock): MarkedTree {
  const table = processTable()
  // They write into pipes, not into a file.
  const mark = { environment: Object.entries(env).map(([name, value]) => `${name}=${value}`), output: '' }
  let first: Row | undefined
  return {
    env,
    hold(pid) {
      first = table.row(pid)
    },
    async end(graceMs) {
      await killTree({ shell: first, held: first !== undefined, mark }, table, clock, graceMs)
      first = undefined
    },
  }
}
