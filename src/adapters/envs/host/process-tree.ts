/**
 * Finds the processes of a call and kills them.
 * Invariants: a process is killed only if it provably belongs to the call: it is the shell (same pid and start time),
 * it is marked, it descends from a member, or it is in a session that a member leads. Processes older than the shell,
 * this process and its session are never killed. Killing repeats until a scan of the whole machine finds no member.
 */

import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { errno } from './file-errors.ts'
import type { MarkedProcessRow, ProcessMark, ProcessRow, ProcessTable } from './process-table.ts'

export interface ProcessTree {
  /** The call's shell, which leads its own session and group; undefined if its report was lost. */
  readonly shell: Pick<ProcessRow, 'pid' | 'start'> | undefined
  /** True if this process started the shell: then no other process has reused the shell's session id. */
  readonly wasOurChild: boolean
  readonly mark: ProcessMark
}

/** The running processes of a call. Pure. `self`: the process that calls this function. */
export function findMembers(
  rows: readonly MarkedProcessRow[],
  { shell, wasOurChild }: Pick<ProcessTree, 'shell' | 'wasOurChild'>,
  self: Pick<ProcessRow, 'pid' | 'session'>,
): ProcessRow[] {
  const eligible = rows.filter(
    (row) => row.pid > 1 && row.pid !== self.pid && row.session !== self.session && row.start >= (shell?.start ?? 0),
  )
  const members = new Map<number, ProcessRow>()
  const sessions = new Set<number>()
  const add = (row: ProcessRow) => {
    members.set(row.pid, row)
    if (row.session === row.pid) sessions.add(row.session)
  }
  const isShell = (row: ProcessRow) => row.pid === shell?.pid && row.start === shell.start
  const marked = eligible.filter((row) => isShell(row) || row.marked)
  for (const row of marked) add(row)
  if (shell && ownsItsSession(rows, shell, wasOurChild, marked)) sessions.add(shell.pid)
  for (let size = -1; size !== members.size + sessions.size; ) {
    size = members.size + sessions.size
    for (const row of eligible) if (members.has(row.parent) || sessions.has(row.session)) add(row)
  }
  return [...members.values()].filter((row) => !row.zombie)
}

/**
 * True if the session with the shell's pid still belongs to the call. The kernel reuses a pid only if no process, group
 * or session has it, so one proven member of the session keeps the number reserved.
 */
function ownsItsSession(
  rows: readonly ProcessRow[],
  shell: Pick<ProcessRow, 'pid' | 'start'>,
  wasOurChild: boolean,
  marked: readonly ProcessRow[],
): boolean {
  const leader = rows.find((row) => row.pid === shell.pid)
  if (leader) return leader.start === shell.start
  return wasOurChild || marked.some((row) => row.session === shell.pid)
}

/** Waits between scans; short at first, because most killed processes end at once. */
const SETTLE_MS = [1, 2, 4, 10]
const GIVE_UP_MS = 10_000
const MAX_TURNS = 30

/** Contract: ends all processes of the tree; returns whether any was running. Throws if a process survives SIGKILL. */
export async function killTree(
  tree: ProcessTree,
  table: ProcessTable,
  clock: Clock,
  graceMs: number,
): Promise<boolean> {
  const find = memberFinder(tree, table)
  let left = find()
  if (left.members.length === 0) return false
  let scans = 0
  const settle = () => clock.sleep(SETTLE_MS[scans++] ?? SETTLE_MS.at(-1) ?? 0)
  if (graceMs > 0) {
    signal(left, 'SIGTERM')
    const until = clock.monotonic() + graceMs
    while (left.members.length > 0 && clock.monotonic() < until) {
      await settle()
      left = find()
    }
  }
  const until = clock.monotonic() + GIVE_UP_MS
  while (left.members.length > 0) {
    if (clock.monotonic() > until) throw unkillable(left.members)
    signal(left, 'SIGKILL')
    await settle()
    left = find()
  }
  return true
}

/**
 * Contract: true if the first process of a pid namespace has ended, which proves that the whole namespace has; this is
 * cheaper than a scan of all processes. False proves nothing: another process may have the same pid by now.
 */
export async function hasNamespaceEnded(init: number, table: ProcessTable, clock: Clock): Promise<boolean> {
  const hasEnded = (): boolean => !exists(init) || table.row(init)?.zombie === true
  // First waits without sleeping: the kernel usually ends a namespace in less time than the shortest sleep.
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    if (hasEnded()) return true
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const ms of SETTLE_MS) {
    if (hasEnded()) return true
    await clock.sleep(ms)
  }
  return false
}

/** Sends signal 0, because /proc may hide processes of other users. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (thrown) {
    return errno(thrown) !== 'ESRCH'
  }
}

interface Found {
  readonly rows: readonly ProcessRow[]
  readonly members: readonly ProcessRow[]
}

/** Remembers the members it found: a process stays a member even after the parent by which it was found has exited. */
function memberFinder(tree: ProcessTree, table: ProcessTable): () => Found {
  const startTimes = new Map<number, number>()
  const self = { pid: process.pid, session: table.row(process.pid)?.session ?? -1 }
  return () => {
    const found = table.rows(tree.mark, tree.shell?.start ?? 0)
    const rows = found.map((row) => ({ ...row, marked: row.marked || startTimes.get(row.pid) === row.start }))
    const members = findMembers(rows, tree, self)
    for (const row of members) startTimes.set(row.pid, row.start)
    return { rows, members }
  }
}

/**
 * The pids to signal. Pure. A negative number is a process group: a group that contains only members is signalled as a
 * whole, because processes that fork quickly cannot escape that. Group 0 (our own) and group 1 (as -1: all processes)
 * are never signalled.
 */
export function signalTargets(rows: readonly ProcessRow[], members: readonly ProcessRow[]): number[] {
  const ours = new Set(members.map((row) => row.pid))
  return [...new Set(members.map((row) => row.group))].flatMap((group) => {
    const pids = rows.filter((row) => row.group === group && !row.zombie).map((row) => row.pid)
    return group > 1 && pids.every((pid) => ours.has(pid)) ? [-group] : pids.filter((pid) => ours.has(pid))
  })
}

function signal({ rows, members }: Found, name: 'SIGTERM' | 'SIGKILL'): void {
  for (const target of signalTargets(rows, members)) send(target, name)
}

/** Errors are ignored: the next scan shows whether the process is still running. */
function send(target: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(target, name)
  } catch {}
}

function unkillable(left: readonly ProcessRow[]): TirelessError {
  return new TirelessError('tool_failed', {
    what: 'cannot kill processes of the command',
    got: `pid ${left.map((row) => row.pid).join(', ')} still running after ${GIVE_UP_MS / 1000} s of SIGKILL`,
    fix: 'inspect them with ps; they may belong to another user or hang in the kernel',
  })
}
