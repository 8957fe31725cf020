/**
 * Limits for all commands of a home together: processes, memory and free disk space. The kernel enforces the limits
 * that a cgroup supports. The other limits are checked ten times a second while a command runs: the command that uses
 * the most processes or memory is ended, or the command that fills a disk.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { type CommandGroup, makeCommandGroup } from './cgroup.ts'
import { type ProcessTable, processTable } from './process-table.ts'

export interface ResourceLimits {
  /** Greatest number of processes and threads. */
  readonly processes: number
  readonly memoryBytes: number
  /** A command is ended when a disk has less free space than this. */
  readonly freeDiskBytes: number
}

export interface LimitedCommand {
  /** The command's first process writes 0 to each of these files, to join the cgroup. */
  readonly joinFiles: readonly string[]
  /** `shell`: pid of the command's first process, a session leader. */
  setShell(shell: number): void
  /** Contract: called repeatedly while the command runs; returns why it must end, or undefined. Never rejects. */
  check(): Promise<string | undefined>
  /** Contract: called once, after the command has ended. */
  end(): void
}

export interface CommandLimits {
  /** `folders`: folders that the command can write, at least one on each disk that it can fill. */
  register(folders: readonly string[]): Promise<LimitedCommand>
  /** Describes the limits and how they are enforced, for messages. */
  describe(): string
  close(): void
}

const LEAST_MEMORY = 1024 ** 3
export const DEFAULT_RESOURCE_LIMITS: ResourceLimits = {
  processes: 2048,
  memoryBytes: Math.floor(Math.max(LEAST_MEMORY, totalmem() * 0.75)),
  freeDiskBytes: 1024 ** 3,
}

/** On a disk that is already nearly full, a command may still write this much, because it may be cleaning up. */
const SLACK_BYTES = 64 * 1024 ** 2
const SLACK_FILES = 10_000
/** Percentage of a disk's files (inodes) that must stay free. */
const FREE_FILES_PERCENT = 1
/** Consecutive checks with a full cgroup before a command is ended. */
const MAX_FULL_CHECKS = 5

interface RunningCommand {
  shell: number | undefined
  readonly disks: readonly Disk[]
  /** Why the command must end; undefined while it may run. */
  over: string | undefined
}

export function createCommandLimits(
  limits: ResourceLimits,
  makeGroup = makeCommandGroup,
  table = processTable(),
): CommandLimits {
  return new LimitedCommands(limits, makeGroup, table)
}

class LimitedCommands implements CommandLimits {
  readonly #limits: ResourceLimits
  readonly #makeGroup: typeof makeCommandGroup
  readonly #table: ProcessTable
  #group: CommandGroup | undefined
  #isMade = false
  readonly #running = new Set<RunningCommand>()
  #fullChecks = 0

  constructor(limits: ResourceLimits, makeGroup: typeof makeCommandGroup, table: ProcessTable) {
    this.#limits = limits
    this.#makeGroup = makeGroup
    this.#table = table
  }

  async register(folders: readonly string[]): Promise<LimitedCommand> {
    const command: RunningCommand = { shell: undefined, disks: await disksOf(folders), over: undefined }
    this.#running.add(command)
    return {
      joinFiles: this.#openGroup()?.joinFiles ?? [],
      setShell(shell) {
        command.shell = shell
      },
      check: async () => {
        this.#checkProcesses()
        this.#checkMemory()
        command.over ??= await whyDiskIsFull(command.disks, this.#limits)
        return command.over
      },
      end: () => void this.#running.delete(command),
    }
  }

  describe(): string {
    return describeLimits(this.#limits, this.#openGroup())
  }

  close(): void {
    this.#group?.close()
    this.#group = undefined
    this.#isMade = false
  }

  #openGroup(): CommandGroup | undefined {
    if (!this.#isMade || this.#group?.exists() === false) this.#group = this.#makeGroup(this.#limits)
    this.#isMade = true
    return this.#group
  }

  #checkProcesses(): void {
    const { processes } = this.#limits
    const count = this.#openGroup()?.count()
    const isEnforced = this.#group?.enforces.has('processes') ?? false
    if (isEnforced && count !== undefined) {
      this.#fullChecks = count >= processes - 1 ? this.#fullChecks + 1 : 0
      if (this.#fullChecks < MAX_FULL_CHECKS) return
      this.#fullChecks = 0
    } else if (threadsOfMachine() < processes) return
    const usages = measureUsage([...this.#running], this.#table)
    const total = usages.reduce((sum, { threads }) => sum + threads, 0)
    if (total >= processes - 1 || isEnforced)
      endLargest(usages, 'threads', `more than ${processes} processes of all commands and servers together`)
  }

  #checkMemory(): void {
    const { memoryBytes } = this.#limits
    if (this.#group?.enforces.has('memory') || usedMemory() < memoryBytes) return
    const usages = measureUsage([...this.#running], this.#table)
    if (usages.reduce((sum, { bytes }) => sum + bytes, 0) > memoryBytes)
      endLargest(
        usages,
        'bytes',
        `more than ${megabytes(memoryBytes)} MB of memory of all commands and servers together`,
      )
  }
}

function describeLimits(
  { processes, memoryBytes, freeDiskBytes }: ResourceLimits,
  group: CommandGroup | undefined,
): string {
  const how = (what: 'processes' | 'memory'): string =>
    group?.enforces.has(what)
      ? `enforced by the kernel (cgroup v${group.version})`
      : 'checked ten times a second, because no cgroup can be created; a burst can exceed it'
  return [
    `all commands and servers together: ${processes} processes, ${how('processes')}`,
    `${megabytes(memoryBytes)} MB of memory, ${how('memory')}`,
    `${megabytes(freeDiskBytes)} MB of each disk kept free, checked ten times a second`,
  ].join('; ')
}

const megabytes = (bytes: number): number => Math.floor(bytes / 1024 ** 2)

interface CommandUsage {
  readonly command: RunningCommand
  readonly threads: number
  readonly bytes: number
}

/** Marks the command that uses most, so that it is ended; but only one command at a time: that may free enough. */
function endLargest(usages: readonly CommandUsage[], by: 'threads' | 'bytes', why: string): void {
  if (usages.some(({ command }) => command.over !== undefined)) return
  const largest = usages.toSorted((a, b) => b[by] - a[by])[0]
  if (largest) largest.command.over = why
}

/** Measures the processes that descend from a command's shell, or are in a session that such a process leads. */
function measureUsage(commands: readonly RunningCommand[], table: ProcessTable): readonly CommandUsage[] {
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

/** Reads VmRSS, which is in kilobytes; other files count in pages, whose size differs between machines. */
const residentBytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readText(`/proc/${pid}/status`))?.[1] ?? 0) * 1024

/** The number at index `at` after the process name in a /proc stat file; the name may contain blanks. */
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

/** While the whole machine has fewer threads than the limit, the threads of commands need not be counted. */
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
      return `less than ${megabytes(freeDiskBytes)} MB free on the disk; delete files that are not needed`
    const leastFiles = (now.files * FREE_FILES_PERCENT) / 100
    if (now.files > 0 && now.freeFiles < leastFiles && now.freeFiles < freeFiles - SLACK_FILES)
      return 'the disk has almost no room for more files; delete files that are not needed'
  }
  return undefined
}
