/**
 * Which processes belong to a call, and their end.
 * Invariants: a process is killed only on proof (it is the shell by pid and birth, it is marked, it descends from one that
 * belongs, or it lives in a session that one of those leads); nothing older than the shell, nothing of our own session and never
 * ourselves; it goes on until a look at the whole machine finds nobody.
 */

import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Mark, MarkedRow, ProcessTable, Row } from './process-table.ts'
import { errno } from './refusal.ts'

export interface Tree {
  /** The call's shell, which leads its own session and group; unknown when its report was lost. */
  readonly shell: Pick<Row, 'pid' | 'start'> | undefined
  /** The shell was our own child until now, so its session is its own even though it may be gone. */
  readonly held: boolean
  readonly mark: Mark
}

/** Pure. `self` is us. */
export function membersOf(
  rows: readonly MarkedRow[],
  { shell, held }: Pick<Tree, 'shell' | 'held'>,
  self: Pick<Row, 'pid' | 'session'>,
): Row[] {
  const eligible = rows.filter(
    (row) => row.pid > 1 && row.pid !== self.pid && row.session !== self.session && row.start >= (shell?.start ?? 0),
  )
  const members = new Map<number, Row>()
  const sessions = new Set<number>()
  const add = (row: Row) => {
    members.set(row.pid, row)
    if (row.session === row.pid) sessions.add(row.session)
  }
  const isShell = (row: Row) => row.pid === shell?.pid && row.start === shell.start
  const marked = eligible.filter((row) => isShell(row) || row.marked)
  for (const row of marked) add(row)
  if (shell && ownsItsSession(rows, shell, held, marked)) sessions.add(shell.pid)
  for (let size = -1; size !== members.size + sessions.size; ) {
    size = members.size + sessions.size
    for (const row of eligible) if (members.has(row.parent) || sessions.has(row.session)) add(row)
  }
  return [...members.values()].filter((row) => !row.zombie)
}

/** The kernel gives a number away again only when no process, group or session uses it: one proven user keeps it ours. */
function ownsItsSession(
  rows: readonly Row[],
  shell: Pick<Row, 'pid' | 'start'>,
  held: boolean,
  marked: readonly Row[],
): boolean {
  const leader = rows.find((row) => row.pid === shell.pid)
  if (leader) return leader.start === shell.start
  return held || marked.some((row) => row.session === shell.pid)
}

/** Between two looks: short at first, because most of what is killed is gone at once. */
const SETTLE_MS = [1, 2, 4, 10]
const GIVE_UP_MS = 10_000
const MOST_TURNS = 30

/** Contract: when it returns, no process of the tree is left; says whether there was one. Throws where SIGKILL does not help. */
export async function killTree(tree: Tree, table: ProcessTable, clock: Clock, graceMs: number): Promise<boolean> {
  const find = finder(tree, table)
  let left = find()
  if (left.members.length === 0) return false
  let looks = 0
  const settle = () => clock.sleep(SETTLE_MS[looks++] ?? SETTLE_MS.at(-1) ?? 0)
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
 * Contract: whether the init of a process namespace is gone, which proves that everybody in there is: a look at one process, instead of one at all.
 * False is no answer. Another process that has got its number by now makes it false.
 */
export async function isGoneWithAll(init: number, table: ProcessTable, clock: Clock): Promise<boolean> {
  const isOver = (): boolean => !isThere(init) || table.row(init)?.zombie === true
  // It takes the kernel less than any clock can sleep.
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    if (isOver()) return true
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const ms of SETTLE_MS) {
    if (isOver()) return true
    await clock.sleep(ms)
  }
  return false
}

/** The kernel's own word: there may be processes that /proc does not show. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (thrown) {
    return errno(thrown) !== 'ESRCH'
  }
}

interface Found {
  readonly rows: readonly Row[]
  readonly members: readonly Row[]
}

/** Who was proven once stays proven, also when the parent that proved it has died since. */
function finder(tree: Tree, table: ProcessTable): () => Found {
  const births = new Map<number, number>()
  const self = { pid: process.pid, session: table.row(process.pid)?.session ?? -1 }
  return () => {
    const looked = table.rows(tree.mark, tree.shell?.start ?? 0)
    const rows = looked.map((row) => ({ ...row, marked: row.marked || births.get(row.pid) === row.start }))
    const members = membersOf(rows, tree, self)
    for (const row of members) births.set(row.pid, row.start)
    return { rows, members }
  }
}

/**
 * Pure: whom to signal; a negative number is a group. A group goes as one wherever it is ours entirely, because a process that forks
 * as fast as we look cannot run away from that. Never group 0 (our own) or 1 (everybody, as a target).
 */
export function targetsOf(rows: readonly Row[], members: readonly Row[]): number[] {
  const ours = new Set(members.map((row) => row.pid))
  return [...new Set(members.map((row) => row.group))].flatMap((group) => {
    const pids = rows.filter((row) => row.group === group && !row.zombie).map((row) => row.pid)
    return group > 1 && pids.every((pid) => ours.has(pid)) ? [-group] : pids.filter((pid) => ours.has(pid))
  })
}

function signal({ rows, members }: Found, name: 'SIGTERM' | 'SIGKILL'): void {
  for (const target of targetsOf(rows, members)) send(target, name)
}

/** Gone already, or not ours to signal: the next look tells. */
function send(target: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(target, name)
  } catch {}
}

function unkillable(left: readonly Row[]): TirelessError {
  return new TirelessError('tool_failed', {
    what: 'processes of the command cannot be killed',
    got: `pid ${left.map((row) => row.pid).join(', ')} still running after ${GIVE_UP_MS / 1000} s of SIGKILL`,
    fix: 'look at them with ps; they may belong to another user or hang in the kernel',
  })
}
