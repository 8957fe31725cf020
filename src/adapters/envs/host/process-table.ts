/** Who is running on this machine: one row per process, from /proc, or from `ps` where there is no /proc. */

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface Row {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Grows with the moment of birth; with the pid and the boot it names one process for ever. */
  readonly start: number
  /** Dead already, and only waiting for its parent to hear of it. */
  readonly zombie: boolean
}

export interface MarkedRow extends Row {
  readonly marked: boolean
}

/** What every process of a call inherits, unless it takes pains to lose it. */
export interface Mark {
  /** Entries of the environment; all of them are needed. */
  readonly environment: readonly string[]
  /** The file that stdout and stderr go to. */
  readonly output: string
}

export interface ProcessTable {
  /** Names the time since the machine came up: a pid of another boot means nothing. */
  boot(): string
  /** Everybody, with the mark looked for at once in those who were born at or after `since`: a moment later they may be gone. */
  rows(mark: Mark, since: number): readonly MarkedRow[]
  row(pid: number): Row | undefined
  /** A line as `report` prints it. */
  parse(line: string): Row | undefined
  /** Shell code that sets `boot` and `row` for the shell itself, or fails. */
  readonly report: string
}

export function processTable(): ProcessTable {
  return existsSync('/proc/self/stat') ? procTable : psTable
}

/** Synchronous on purpose: a snapshot that takes 3 ms is worth more than one that is smeared over many turns of the loop. */
export const procTable: ProcessTable = {
  boot: () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  /** Looks again until no new pid has come up: a process that forks and dies faster than it is read must not be missed. */
  rows(mark, since) {
    const found = new Map<number, MarkedRow | undefined>()
    for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
      const fresh = pids().filter((pid) => !found.has(pid))
      if (fresh.length === 0) break
      for (const pid of fresh) {
        const row = procTable.row(pid)
        found.set(pid, row && { ...row, marked: row.start >= since && isMarked(pid, mark) })
      }
    }
    return [...found.values()].filter((row) => row !== undefined)
  },
  row(pid) {
    return procTable.parse(readable(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? '')
  },
  /** `pid (name) state ppid pgrp session …`, birth in field 22; the name may hold anything, parentheses too. */
  parse(line) {
    const [state, ...fields] = line.slice(line.lastIndexOf(')') + 2).split(' ')
    return whole({
      pid: Number.parseInt(line, 10),
      parent: Number(fields[0]),
      group: Number(fields[1]),
      session: Number(fields[2]),
      start: Number(fields[18]),
      zombie: state === 'Z' || state === 'X',
    })
  },
  report: 'read -r boot < /proc/sys/kernel/random/boot_id && read -r row < "/proc/$$/stat"',
}

function isMarked(pid: number, mark: Mark): boolean {
  const environment = readable(() => readFileSync(`/proc/${pid}/environ`, 'utf8'))?.split('\0') ?? []
  if (mark.environment.every((entry) => environment.includes(entry))) return true
  return [1, 2].some((fd) => readable(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) === mark.output)
}

function pids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

const MOST_LOOKS = 20
const COLUMNS = 'pid=,ppid=,pgid=,stat=,lstart='
const PS_ROW = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+\w+\s+(\w+)\s+(\d+)\s+(\d\d):(\d\d):(\d\d)\s+(\d{4})\s*$/

/** Sees neither sessions nor environments: a child that left its group and lost its parent is out of reach here. */
export const psTable: ProcessTable = {
  boot: () => 'ps',
  rows: () => ps('-A').flatMap((line) => withoutMark(psTable.parse(line))),
  row: (pid) => ps('-p', String(pid)).flatMap((line) => psTable.parse(line) ?? [])[0],
  /** `pid ppid pgid stat Tue Nov 14 22:13:20 2023`, in UTC. */
  parse(line) {
    const [pid, parent, group, stat = '', month = '', day = '', hour, minute, second, year] =
      PS_ROW.exec(line)?.slice(1) ?? []
    const monthNumber = 'JanFebMarAprMayJunJulAugSepOctNovDec'.indexOf(month) / 3 + 1
    const birth = [year, String(monthNumber).padStart(2, '0'), day.padStart(2, '0'), hour, minute, second].join('')
    return whole({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: Number(group),
      start: Number(birth),
      zombie: stat.startsWith('Z'),
    })
  },
  report: `boot=ps && row=$(LC_ALL=C TZ=UTC ps -o ${COLUMNS} -p $$)`,
}

function withoutMark(row: Row | undefined): MarkedRow[] {
  return row ? [{ ...row, marked: false }] : []
}

function ps(...which: string[]): string[] {
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
  // ps exits with 1 when the process is gone.
  const text = readable(() => execFileSync('ps', [...which, '-o', COLUMNS], { env, encoding: 'utf8' })) ?? ''
  return text.split('\n')
}

function whole(row: Row): Row | undefined {
  return [row.pid, row.parent, row.group, row.session, row.start].every(Number.isInteger) ? row : undefined
}

/** A process may be gone, or another user's, at any moment. */
function readable<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
