/**
 * Runs commands. A command is a process tree with a call name, by which a restarted runtime can still find the tree.
 * Order: the call's folder and output file are created first; then a shell starts and records itself (boot, pid, start
 * time) before it becomes the command. So a running command can always be found. The launcher decides whether the
 * command runs in a plain shell or in a sandbox.
 */

import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { withDeadline } from '../../../ports/deadline.ts'
import type { ProcessOps, ProcessResult, RunOptions } from '../../../ports/env.ts'
import type { BindMount } from '../sandbox/bubblewrap-command-line.ts'
import {
  callEnvironment,
  callFolder,
  outputFile,
  readExcerpt,
  readKeptOutput,
  readReport,
  reportFile,
} from './call-folder.ts'
import { errno } from './file-errors.ts'
import { hostLauncher, type Launch, type Launcher } from './launcher.ts'
import { OutputTail } from './output-tail.ts'
import type { ProcessMark, ProcessRow, ProcessTable } from './process-table.ts'
import { hasNamespaceEnded, killTree, type ProcessTree } from './process-tree.ts'
import type { CommandLimits, LimitedCommand } from './resource-limits.ts'
import { findStartFolder, readEndFolder } from './working-folder.ts'

/** What commands see of the workspace, if that differs from the root itself. Needs a launcher that is a sandbox. */
export interface CommandView {
  /** The path at which commands see the root. */
  readonly seenAt?: string
  readonly home?: string
  /** Commands cannot write to the workspace; these mounts are added. */
  readonly readOnly?: readonly BindMount[]
}

interface ProcessOptions {
  readonly root: string
  /** Folder for the call folders; a path without symbolic links. */
  readonly callsDir: string
  readonly clock: Clock
  /** Variables that the launcher may pass on to commands. */
  readonly env: Readonly<Record<string, string>>
  readonly launcher?: Launcher
  readonly view?: CommandView
  readonly table: ProcessTable
  /** A command that writes more output than this is killed. */
  readonly maxOutputBytes: number
  /** Limits for all commands together; default: none. */
  readonly limits?: CommandLimits
}

const GRACE_MS = 200
const WATCH_MS = 100
const NOT_RECORDED_EXIT = 125
const NOT_LIMITED_EXIT = 124

/**
 * A shell script. $1 is the call's folder, the other arguments are the program to run. If the shell cannot record
 * itself or join the cgroup, it does not run the program.
 */
const wrapper = (table: ProcessTable, joins: readonly string[]): string => `
{ ${table.reportScript} && printf '%s\\n%s\\n' "$boot" "$row" > "$1/pid"; } || exit ${NOT_RECORDED_EXIT}
${joins.map((file) => `echo 0 > '${file.replaceAll("'", `'\\''`)}' || exit ${NOT_LIMITED_EXIT}`).join('\n')}
shift
exec "$@"`

/** How a command ended. `exceeded`: the limit for which it was killed. */
type Ending = ProcessResult['ended'] | { readonly exceeded: string }

interface Shell {
  readonly row: ProcessRow | undefined
  readonly exited: Promise<{ readonly exit: number | null; readonly signal: string | null }>
}

export function createHostProcesses(options: ProcessOptions): ProcessOps {
  return new HostProcesses(options)
}

class HostProcesses implements ProcessOps {
  readonly #options: ProcessOptions
  readonly #launcher: Launcher

  constructor(options: ProcessOptions) {
    this.#options = options
    this.#launcher = options.launcher ?? hostLauncher
  }

  async run(call: string, command: string, wanted: RunOptions): Promise<ProcessResult> {
    const { root, env, limits } = this.#options
    const seenAt = this.#options.view?.seenAt ?? root
    const { signal } = wanted
    const folder = await this.#freshFolder(call)
    await using output = await open(outputFile(folder), OUTPUT, 0o600)
    await using cwdFile = await open(join(folder, 'cwd'), OUTPUT, 0o600)
    if (signal.aborted)
      return { exit: null, signal: null, output: '', dropped: 0, ended: 'interrupted', cwd: wanted.cwd ?? '' }
    const cwd = await findStartFolder(root, wanted.cwd ?? '')
    await using launch = await this.#launcher({
      command,
      root,
      cwd,
      folder,
      env,
      network: wanted.network,
      ...this.#options.view,
    })
    const limited = await limits?.register([root, folder])
    const shell = startShell(this.#options, { call, folder, launch, joins: limited?.joinFiles ?? [] }, [
      output,
      cwdFile,
    ])
    if (shell.row) limited?.setShell(shell.row.pid)
    let ending: Ending = 'interrupted'
    try {
      ending = await this.#waitForEnd(shell, output, wanted, limited)
    } finally {
      limited?.end()
      await this.#endProcesses(ending, launch, { shell: shell.row, wasOurChild: true, mark: this.#markOf(call) })
      await this.#launcher.end?.(folder)
    }
    const status = await shell.exited
    if (status.exit === NOT_RECORDED_EXIT) await confirmReported(folder)
    const { text, dropped } = await readExcerpt(output)
    const notes = [...(await launch.notes()), ...(typeof ending === 'object' ? [limitNote(ending.exceeded)] : [])]
    return {
      ...{ ...status, dropped, output: [text, ...notes.map((note) => `[${note}]`)].join('\n') },
      ended: typeof ending === 'object' ? 'exited' : ending,
      cwd: await readEndFolder(seenAt, cwdFile, join(seenAt, relative(root, cwd))),
    }
  }

  #markOf(call: string): ProcessMark {
    const { callsDir } = this.#options
    const environment = Object.entries(callEnvironment(callsDir, call)).map(([name, value]) => `${name}=${value}`)
    return { environment, output: outputFile(callFolder(callsDir, call)) }
  }

  async #endProcesses(ending: Ending, launch: Launch, tree: ProcessTree): Promise<void> {
    const { table, clock } = this.#options
    if (typeof ending === 'object') await killNamespace(launch)
    if (ending !== 'exited') await killTree(tree, table, clock, GRACE_MS)
    else if (!(await this.#hasEnded(launch))) await killTree(tree, table, clock, 0)
  }

  async #hasEnded(launch: Launch): Promise<boolean> {
    const init = await launch.init?.()
    return init !== undefined && hasNamespaceEnded(init, this.#options.table, this.#options.clock)
  }

  async #waitForEnd(
    shell: Shell,
    output: FileHandle,
    { timeoutMs, signal, onOutput }: RunOptions,
    limited: LimitedCommand | undefined,
  ): Promise<Ending> {
    const { clock, maxOutputBytes } = this.#options
    const tail = onOutput && new OutputTail(output, onOutput)
    const watchLimits = async (stopped: AbortSignal): Promise<Ending> => {
      while (!stopped.aborted) {
        if ((await output.stat()).size > maxOutputBytes)
          return { exceeded: `more than ${maxOutputBytes} bytes of output` }
        const exceeded = await limited?.check()
        if (exceeded !== undefined) return { exceeded }
        await tail?.poll()
        await clock.sleep(WATCH_MS, stopped)
      }
      return 'interrupted'
    }
    const exited = shell.exited.then((): Ending => 'exited')
    return withDeadline(
      { clock, ms: timeoutMs, stop: signal },
      (over) => Promise.race([exited, watchLimits(over)]),
      () => (signal.aborted ? 'interrupted' : 'timed_out'),
    )
  }

  /** Ends processes of an earlier call with the same name before the name is used again. */
  async #freshFolder(call: string): Promise<string> {
    const folder = callFolder(this.#options.callsDir, call)
    const isFresh = await mkdir(folder, { mode: 0o700 }).then(
      () => true,
      () => false,
    )
    if (isFresh) return folder
    await this.reap(call)
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return folder
  }

  async reap(call: string): ReturnType<ProcessOps['reap']> {
    const folder = callFolder(this.#options.callsDir, call)
    if (!(await exists(folder))) return { output: '', killed: false }
    const { table, clock } = this.#options
    const report = await readReport(folder, table)
    const rebooted = report !== undefined && report.boot !== table.bootId()
    const tree = { shell: report?.shell, wasOurChild: false, mark: this.#markOf(call) }
    const killed = !rebooted && (await killTree(tree, table, clock, GRACE_MS))
    const ended = (await this.#launcher.end?.(folder)) ?? false
    return { output: await readKeptOutput(folder), killed: killed || ended }
  }

  async forget(call: string): Promise<void> {
    await rm(callFolder(this.#options.callsDir, call), { recursive: true, force: true }).catch(() => {})
  }
}

/**
 * Flags for the output file. Append mode: several processes that write do not overwrite each other. The command writes
 * to the file itself, so that its output survives a crash of the runtime.
 */
const OUTPUT = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND | constants.O_NOFOLLOW

interface ToStart {
  readonly call: string
  readonly folder: string
  readonly launch: Launch
  readonly joins: readonly string[]
}

/** The command's descriptors: 1 and 2 are its output, 3 is the file for its last folder, 4 and up the launcher's. */
function startShell(
  options: ProcessOptions,
  { call, folder, launch, joins }: ToStart,
  [output, cwdFile]: readonly [FileHandle, FileHandle],
): Shell {
  const { root, callsDir, table } = options
  const env = { ...launch.env, ...callEnvironment(callsDir, call) }
  try {
    const args = ['-c', wrapper(table, joins), 'tireless', folder, ...launch.argv]
    const stdio = [
      launch.stdin?.fd ?? ('ignore' as const),
      output.fd,
      output.fd,
      cwdFile.fd,
      ...launch.handles.map(({ fd }) => fd),
    ]
    const child = spawn('/bin/sh', args, { cwd: launch.cwd ?? root, env, detached: true, stdio })
    const exited = new Promise<Awaited<Shell['exited']>>((resolve, reject) => {
      child.once('error', (error) => reject(notStarted(error)))
      child.once('exit', (exit, signal) => resolve({ exit, signal }))
    })
    // The row is read in this event loop turn: until the child is reaped, its pid cannot belong to another process.
    return { row: child.pid === undefined ? undefined : table.row(child.pid), exited }
  } catch (error) {
    throw notStarted(error)
  }
}

const limitNote = (exceeded: string): string => `${exceeded}; the whole process tree was killed`

/** Killing the first process of a pid namespace ends the whole namespace, however fast its processes fork. */
export async function killNamespace(launch: Launch): Promise<void> {
  const init = await launch.init?.()
  try {
    if (init !== undefined) process.kill(init, 'SIGKILL')
  } catch {}
}

function notStarted(cause: unknown): TirelessError {
  const what = 'the command could not be started'
  if (errno(cause) === 'E2BIG')
    return new TirelessError(
      'tool_failed',
      { what: `${what}: it is too long`, fix: 'write the command to a file and run the file' },
      { cause },
    )
  return new TirelessError(
    'tool_failed',
    { what, got: cause instanceof Error ? cause.message : String(cause) },
    { cause },
  )
}

async function confirmReported(folder: string): Promise<void> {
  if (await exists(reportFile(folder))) return
  throw notStarted(new Error('the process could not be recorded'))
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
