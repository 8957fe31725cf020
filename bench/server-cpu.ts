/** CPU time of a server, from /proc; only on Linux. */

import { readFileSync } from 'node:fs'

/** Clock ticks per second in /proc; 100 on every Linux. */
const TICK_MS = 1000 / 100

/** Contract: of a process and its children, in ms, also of children that have ended; 0 for an unknown process. */
export function serverCpuMs(pid: number): number {
  const own = timesOf(pid)
  const children = contentOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)
  return own.self + own.ended + children.reduce((sum, child) => sum + timesOf(Number(child)).self, 0)
}

function timesOf(pid: number): { readonly self: number; readonly ended: number } {
  const stat = contentOf(`/proc/${pid}/stat`)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number)
  return { self: (user + system) * TICK_MS, ended: (endedUser + endedSystem) * TICK_MS }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
