/**
 * What all commands of a home together may take of the machine: processes, memory, and the last of the disk. The kernel holds what it can
 * (`command-group.ts`); the rest is looked at ten times a second while a command runs, and the command that takes most of it is ended.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { type CommandGroup, makeCommandGroup } from './command-group.ts'
import { type ProcessTable, processTable } from './process-table.ts'

export interface ResourceLimits {
  /** Processes and threads. */
  readonly processes: number
  readonly memoryBytes: number
  /** Commands are ended before they leave less of a disk. */
  readonly freeDiskBytes: number
}

export interface LimitedCommand {
  /** Files that its first process writes a 0 to. */
  readonly joins: readonly string[]
  /** `shell`: its first process, which leads a session. */
  started(shell: number): void
  /** Contract: called now and then while it runs; why it has to end, where it has. Never rejects. */
  check(): Promise<string | undefined>
  /** Contract: called once, when nothing of it runs any more. */
  leave(): void
}

export interface CommandLimits {
  /** `folders`: on the disks that it can fill. */
  enter(folders: readonly string[]): Promise<LimitedCommand>
  /** How they are held, for people. */
  describe(): string
  close(): void
}

const LEAST_MEMORY = 1024 ** 3
export const DEFAULT_LIMITS: ResourceLimits = {
  processes: 2048,
  memoryBytes: Math.floor(Math.max(LEAST_MEMORY, totalmem() * 0.75)),
  freeDiskBytes: 1024 ** 3,
}

/** A command that begins on a disk that is nearly full may still write this much: it may be the one that tidies up. */
const SLACK_BYTES = 64 * 1024 ** 2
const SLACK_FILES = 10_000
/** As many as that, of a hundred, are left to others. */
const FREE_FILES_PERCENT = 1
/** Looks in a row at which the group is full, until a command is ended for it. */
const MOST_FULL_LOOKS = 5

interface Running {
  shell: number | undefined
  readonly disks: readonly Disk[]
  /** Why it has to end. */
  over: string | undefined
}

export function commandLimits(
  limits: ResourceLimits,
  makeGroup = makeCommandGroup,
  table = processTable(),
): CommandLimits {
  let group: CommandGroup | undefined
  let isMade = false
  const running = new Set<Running>()
  let fullLooks = 0
  const open = (): CommandGroup | undefined => {
    if (!isMade || group?.exists() === false) group = makeGroup(limits)
    isMade = true
    return group
  }

  function lookAtProcesses(): void {
    const count = open()?.count()
    if (group?.holds.has('processes') && count !== undefined) {
      fullLooks = count >= limits.processes - 1 ? fullLooks + 1 : 0
      if (fullLooks < MOST_FULL_LOOKS) return
      fullLooks = 0
    } else if (threadsOfMachine() < limits.processes) return
    const taken = takenBy([...running], table)
    const total = taken.reduce((sum, { threads }) => sum + threads, 0)
    if (total >= limits.processes - 1 || group?.holds.has('processes'))
      endLargest(taken, 'threads', `more than ${limits.processes} processes of all commands and servers together`)
  }

  function lookAtMemory(): void {
    if (group?.holds.has('memory') || usedMemory() < limits.memoryBytes) return
    const taken = takenBy([...running], table)
    if (taken.reduce((sum, { bytes }) => sum + bytes, 0) > limits.memoryBytes)
      endLargest(
        taken,
        'bytes',
        `more than ${megabytes(limits.memoryBytes)} MB of memory of all commands and servers together`,
      )
  }

  return {
    async enter(folders) {
      const command: Running = { shell: undefined, disks: await disksOf(folders), over: undefined }
      running.add(command)
      return {
        joins: open()?.joins ?? [],
        started(shell) {
          command.shell = shell
        },
        async check() {
          lookAtProcesses()
          lookAtMemory()
          command.over ??= await whyDiskIsFull(command.disks, limits)
          return command.over
        },
        leave: () => void running.delete(command),
      }
    },
    describe: () => describeLimits(limits, open()),
    close() {
      group?.close()
      group = undefined
      isMade = false
    },
  }
}

function describeLimits(
  { processes, memoryBytes, freeDiskBytes }: ResourceLimits,
  group: CommandGroup | undefined,
): string {
  const how = (what: 'processes' | 'memory'): string =>
    group?.holds.has(what)
      ? `held by the kernel (cgroup v${group.version})`
      : 'counted ten times a second, because no cgroup can be made: a burst can exceed it'
  return [
    `all commands and servers together: ${processes} processes, ${how('processes')}`,
    `${megabytes(memoryBytes)} MB of memory, ${how('memory')}`,
    `${megabytes(freeDiskBytes)} MB of each disk left free, looked at ten times a second`,
  ].join('; ')
}

const megabytes = (bytes: number): number => Math.floor(bytes / 1024 ** 2)

interface Taken {
  readonly command: Running
  readonly threads: number
  readonly bytes: number
}

function endLargest(taken: readonly Taken[], by: 'threads' | 'bytes', why: string): void {
  const largest = taken.toSorted((a, b) => b[by] - a[by])[0]
  if (largest) largest.command.over ??= why
}

/** Whoever descends from the shell of a command, or is in a session that a descendant leads. */
function takenBy(commands: readonly Running[], table: ProcessTable): readonly Taken[] {
  const rows = pids().flatMap((pid) => table.row(pid) ?? [])
  return commands.map((command) => {
    const members = new Set<number>(command.shell === undefined ? [] : [command.shell])
    for (let size = -1; size !== members.size; ) {
      size = members.size
      for (const row of rows) if (members.has(row.parent) || members.has(row.session)) members.add(row.pid)
    }
    const [threads, bytes] = [...members].reduce(
      ([sum, memory], pid) => [sum + numberIn(`/proc/${pid}/stat`, 17, 1), memory + residentBytes(pid)],
      [0, 0],
    )
    return { command, threads, bytes }
  })
}

/** In kilobytes, because pages differ in size from one machine to the next. */
const residentBytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readText(`/proc/${pid}/status`))?.[1] ?? 0) * 1024

/** The word at that place, behind the name where there is one; names may hold blanks. */
function numberIn(file: string, at: number, otherwise: number): number {
  const text = readText(file)
  const words = text
    .slice(text.lastIndexOf(')') + 1)
    .trim()
    .split(/\s+/)
  const value = Number(words[at])
  return text !== '' && Number.isFinite(value) ? value : otherwise
}

const pids = (): readonly number[] => {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
  } catch {
    return []
  }
}

/** One look instead of thousands: as long as the whole machine has fewer, nobody has to be counted. */
const threadsOfMachine = (): number =>
  Number(/\/(\d+) /.exec(readText('/proc/loadavg'))?.[1] ?? Number.MAX_SAFE_INTEGER)

function usedMemory(): number {
  const available = Number(/^MemAvailable:\s+(\d+)/m.exec(readText('/proc/meminfo'))?.[1] ?? 0) * 1024
  return totalmem() - available
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

interface Disk {
  readonly folder: string
  readonly freeBytes: number
  readonly freeFiles: number
}

const diskOf = async (folder: string): Promise<(Disk & { readonly files: number }) | undefined> => {
  const stats = await statfs(folder).catch(() => undefined)
  return stats && { folder, freeBytes: stats.bavail * stats.bsize, freeFiles: stats.ffree, files: stats.files }
}

const disksOf = async (folders: readonly string[]): Promise<readonly Disk[]> =>
  (await Promise.all(folders.map(diskOf))).flatMap((disk) => disk ?? [])

async function whyDiskIsFull(before: readonly Disk[], { freeDiskBytes }: ResourceLimits): Promise<string | undefined> {
  for (const { folder, freeBytes, freeFiles } of before) {
    const now = await diskOf(folder)
    if (!now) continue
    if (now.freeBytes < freeDiskBytes && now.freeBytes < freeBytes - SLACK_BYTES)
      return `less than ${megabytes(freeDiskBytes)} MB free on the disk; remove what is not needed`
    const leastFiles = (now.files * FREE_FILES_PERCENT) / 100
    if (now.files > 0 && now.freeFiles < leastFiles && now.freeFiles < freeFiles - SLACK_FILES)
      return 'hardly room for more files on the disk; remove what is not needed'
  }
  return undefined
}
