/** Fork bombs that are bounded, so that a limit that fails costs seconds and not the machine. */

import { readdirSync, readFileSync } from 'node:fs'
import { waitUntil } from '../support/open-app.ts'

/** A tree of at most 2,047 processes, each of which waits. */
export const bomb = (mark: string): string =>
  `b() { if [ $1 -gt 0 ]; then b $(($1 - 1)) & b $(($1 - 1)) & fi; sleep 30; }; : ${mark}; b 10; wait`

/** The number of processes with the mark in their command line. */
export function marked(mark: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)
    } catch {
      return false
    }
  }).length
}

/** The most there were at any time until the work was done. */
export async function peakDuring(mark: string, work: Promise<unknown>): Promise<number> {
  let [peak, over] = [0, false]
  const done = work.finally(() => {
    over = true
  })
  await waitUntil(() => {
    peak = Math.max(peak, marked(mark))
    return over
  })
  await done
  return peak
}
