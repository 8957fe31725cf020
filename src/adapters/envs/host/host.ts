/** The host env: files and commands of this machine. Files stay in the workspace; the launcher confines commands. */

import { constants } from 'node:fs'
import { access, mkdir, realpath, stat } from 'node:fs/promises'
import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type Env, type FileOps, type Health, provideOps } from '../../../ports/env.ts'
import { type CommandView, createHostProcesses } from './host-processes.ts'
import type { Launcher } from './launcher.ts'
import { type ProcessTable, processTable } from './process-table.ts'
import type { CommandLimits } from './resource-limits.ts'
import { createRootedFiles } from './rooted-files.ts'

export interface HostOptions {
  /** Folder of the home where running commands are recorded. */
  readonly callsDir: string
  readonly clock: Clock
  /** Environment of commands; only variables in HARMLESS are passed on. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly maxOutputBytes?: number
  /** How commands are started; default: without a sandbox. */
  readonly launcher?: Launcher | undefined
  readonly table?: ProcessTable
  /** Limits for all commands together; default: none. */
  readonly limits?: CommandLimits
}

const MAX_OUTPUT_BYTES = 32 * 1024 * 1024

export interface HostEnvs {
  /** Contract: like `Envs.open`. `view`: for a copy or a read-only env, what its commands see. */
  open(workspace: string, view?: CommandView): Promise<Env>
}

export function hostEnvs(options: HostOptions): HostEnvs {
  const { clock, table = processTable(), maxOutputBytes = MAX_OUTPUT_BYTES, launcher, limits } = options
  const env = harmlessOnly(options.env)
  /** One `FileOps` for each root, because writes to one root must run one after another. */
  const files = new Map<string, FileOps>()
  return {
    async open(workspace, view) {
      const root = await realFolder(workspace)
      const callsDir = await realFolder(options.callsDir, 0o700)
      const file = files.get(root) ?? createRootedFiles(root)
      // The root of a copy is never opened again.
      if (!view?.home) files.set(root, file)
      const process = createHostProcesses({
        root,
        callsDir,
        clock,
        env,
        table,
        maxOutputBytes,
        ...(launcher && { launcher }),
        ...(launcher && view && { view }),
        ...(limits && { limits }),
      })
      return { root, ...provideOps({ file, process }), health: () => healthOf(root), async close() {} }
    },
  }
}

async function realFolder(path: string, mode?: number): Promise<string> {
  try {
    await mkdir(path, { recursive: true, ...(mode === undefined ? {} : { mode }) })
    return await realpath(path)
  } catch (cause) {
    const what = 'the folder cannot be created or opened'
    throw new TirelessError('workspace_refused', { what, where: path, got: messageOf(cause) }, { cause })
  }
}

async function healthOf(root: string): Promise<Health> {
  try {
    if ((await realpath(root)) !== root)
      return { ok: false, reason: `${root} is now a symbolic link to another folder` }
    if (!(await stat(root)).isDirectory()) return { ok: false, reason: `${root} is no longer a folder` }
    await access(root, constants.W_OK | constants.X_OK)
    return { ok: true }
  } catch (thrown) {
    return { ok: false, reason: messageOf(thrown) }
  }
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

const HARMLESS = /^(PATH|HOME|LANG|LC_[A-Z]+|TERM|TZ|TMPDIR|USER|SHELL)$/

/** Keeps only the variables in HARMLESS: API keys in the runtime's environment must not reach a command (case 136). */
function harmlessOnly(env: HostOptions['env']): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) if (value !== undefined && HARMLESS.test(name)) kept[name] = value
  return kept
}
