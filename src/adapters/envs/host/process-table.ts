/** The processes of this machine, one row each: read from /proc, or from `ps` if there is no /proc. */

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface ProcessRow {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Start time, in a unit that depends on the table. Start time, pid and boot id identify a process for ever. */
  readonly start: number
  /** True if the process has exited, but its parent has not yet read its exit status. */
  readonly zombie: boolean
}

export interface MarkedProcessRow extends ProcessRow {
  readonly marked: boolean
}

/** Traits by which processes of a call are recognised; one is enough. Children inherit both, unless they drop them. */
export interface ProcessMark {
  /** Entries of the environment; a process must have all of them. */
  readonly environment: readonly string[]
  /** The file to which stdout or stderr is written. */
  readonly output: string
}

export interface ProcessTable {
  /** Identifies the current boot of the machine; pids of another boot are meaningless. */
  bootId(): string
  /** All processes. A process that started at or after `since` is checked for the mark at once, as it may soon exit. */
  rows(mark: ProcessMark, since: number): readonly MarkedProcessRow[]
  row(pid: number): ProcessRow | undefined
  /** Parses the `row` that `reportScript` sets. */
  parse(line: string): ProcessRow | undefined
  /** Shell code that sets the variables `boot` and `row` for the shell itself, or fails. */
  readonly reportScript: string
}

export function processTable(): ProcessTable {
  return existsSync('/proc/self/stat') ? procTable : psTable
}

/** Reads /proc synchronously: a snapshot then takes 3 ms and is not spread over many event loop turns. */
export const procTable: ProcessTable = {
  bootId: () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  /** Lists /proc until no new pid appears, so that processes that fork and exit quickly are not missed. */
  rows(mark, since) {
    const found = new Map<number, MarkedProcessRow | undefined>()
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
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
    return procTable.parse(tryRead(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? '')
  },
  /** A line is `pid (name) state ppid pgrp session …`; field 22 is the start time; a name may contain parentheses. */
  parse(line) {
    const [state, ...fields] = line.slice(line.lastIndexOf(')') + 2).split(' ')
    return validRow({
      pid: Number.parseInt(line, 10),
      parent: Number(fields[0]),
      group: Number(fields[1]),
      session: Number(fields[2]),
      start: Number(fields[18]),
      zombie: state === 'Z' || state === 'X',
    })
  },
  reportScript: 'read -r boot < /proc/sys/kernel/random/boot_id && read -r row < "/proc/$$/stat"',
}

function isMarked(pid: number, mark: ProcessMark): boolean {
  const environment = tryRead(() => readFileSync(`/proc/${pid}/environ`, 'utf8'))?.split('\0') ?? []
  if (mark.environment.every((entry) => environment.includes(entry))) return true
  return [1, 2].some((fd) => tryRead(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) === mark.output)
}

function pids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

const MAX_LOOKS = 20
const COLUMNS = 'pid=,ppid=,pgid=,stat=,lstart='
const PS_ROW = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+\w+\s+(\w+)\s+(\d+)\s+(\d\d):(\d\d):(\d\d)\s+(\d{4})\s*$/

/** `ps` shows no sessions or environments, so a child is missed if it left its group and its parent has exited. */
export const psTable: ProcessTable = {
  bootId: () => 'ps',
  rows: () => ps('-A').flatMap((line) => withoutMark(psTable.parse(line))),
  row: (pid) => ps('-p', String(pid)).flatMap((line) => psTable.parse(line) ?? [])[0],
  /** A line is `pid ppid pgid stat Tue Nov 14 22:13:20 2023`, with the start time in UTC. */
  parse(line) {
    const [pid, parent, group, stat = '', month = '', day = '', hour, minute, second, year] =
      PS_ROW.exec(line)?.slice(1) ?? []
    const monthNumber = 'JanFebMarAprMayJunJulAugSepOctNovDec'.indexOf(month) / 3 + 1
    const startedAt = [year, String(monthNumber).padStart(2, '0'), day.padStart(2, '0'), hour, minute, second].join('')
    return validRow({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: Number(group),
      start: Number(startedAt),
      zombie: stat.startsWith('Z'),
    })
  },
  reportScript: `boot=ps && row=$(LC_ALL=C TZ=UTC ps -o ${COLUMNS} -p $$)`,
}

function withoutMark(row: ProcessRow | undefined): MarkedProcessRow[] {
  return row ? [{ ...row, marked: false }] : []
}

function ps(...which: string[]): string[] {
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
  // ps exits with 1 if the process does not exist.
  const text = tryRead(() => execFileSync('ps', [...which, '-o', COLUMNS], { env, encoding: 'utf8' })) ?? ''
  return text.split('\n')
}

function validRow(row: ProcessRow): ProcessRow | undefined {
  return [row.pid, row.parent, row.group, row.session, row.start].every(Number.isInteger) ? row : undefined
}

/** Contract: undefined if reading fails, because the process has exited or belongs to another user. */
function tryRead<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
