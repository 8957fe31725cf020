/** Bounded fork bombs: a limit that fails costs seconds, not the machine. */

import { readdirSync, readFileSync } from 'node:fs'
import { waitUntil } from '../support/open-app.ts'

/** A tree of at most 2,047 processes, all of which wait. */
export const forkBomb = (mark: string): string =>
  `b() { if [ $1 -gt 0 ]; then b $(($1 - 1)) & b $(($1 - 1)) & fi; sleep 30; }; : ${mark}; b 10; wait`

/** Counts the processes with the mark in their command line. */
export function countMarked(mark: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)
    } catch {
      return false
    }
  }).length
}

/** The highest count until the work was done. */
export async function peakDuring(mark: string, work: Promise<unknown>): Promise<number> {
  let [peak, over] = [0, false]
  const done = work.finally(() => {
    over = true
  })
  await waitUntil(() => {
    peak = Math.max(peak, countMarked(mark))
    return over
  })
  await done
  return peak
}
