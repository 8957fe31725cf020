/** The host env: real files and real processes of this machine, confined to a workspace as far as files go. No sandbox. */

import { mkdir, realpath } from 'node:fs/promises'
import type { Clock } from '../../../ports/clock.ts'
import type { Envs, FileOps } from '../../../ports/env.ts'
import { rootedFiles } from './files.ts'
import { type ProcessTable, processTable } from './process-table.ts'
import { hostProcesses } from './processes.ts'

export interface HostOptions {
  /** Where running commands are recorded; a folder of the home. */
  readonly callsDir: string
  readonly clock: Clock
  /** Where the environment of commands is taken from; only harmless names pass. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly maxOutputBytes?: number
  readonly table?: ProcessTable
}

const MAX_OUTPUT_BYTES = 32 * 1024 * 1024

export function hostEnvs(options: HostOptions): Envs {
  const { clock, table = processTable(), maxOutputBytes = MAX_OUTPUT_BYTES } = options
  const env = harmless(options.env)
  /** One per root, because writes of one root stand in line. */
  const files = new Map<string, FileOps>()
  return {
    async open(workspace) {
      const root = await realFolder(workspace)
      const callsDir = await realFolder(options.callsDir, 0o700)
      const file = files.get(root) ?? rootedFiles(root)
      files.set(root, file)
      return { root, file, process: hostProcesses({ root, callsDir, clock, env, table, maxOutputBytes }) }
    },
  }
}

async function realFolder(path: string, mode?: number): Promise<string> {
  await mkdir(path, { recursive: true, ...(mode === undefined ? {} : { mode }) })
  return realpath(path)
}

const HARMLESS = /^(PATH|HOME|LANG|LC_[A-Z]+|TERM|TZ|TMPDIR|USER|SHELL)$/

/** An allow-list: a key that somebody exported for us must not reach a command (case 136). */
function harmless(env: HostOptions['env']): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) if (value !== undefined && HARMLESS.test(name)) kept[name] = value
  return kept
}
