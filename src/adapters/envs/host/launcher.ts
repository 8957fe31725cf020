/** How a command is started: by a plain shell of this machine, or by another launcher such as the sandbox. */

import { accessSync, constants, statSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../../files/whole-files.ts'
import type { RunOptions } from '../../../ports/env.ts'
import type { BindMount } from '../sandbox/bubblewrap-command-line.ts'

export interface Launch extends AsyncDisposable {
  readonly argv: readonly string[]
  /** The complete environment, except for the variables that mark the call's processes. */
  readonly env: Readonly<Record<string, string>>
  /** The folder in which `argv` starts; default: the workspace's root. */
  readonly cwd?: string
  /** Standard input; default: /dev/null of the machine. */
  readonly stdin?: FileHandle
  /** Files that the command inherits, as descriptors 4 and up. */
  readonly handles: readonly FileHandle[]
  /**
   * Contract: called after the command has ended. Returns the pid of the first process of the command's pid namespace;
   * the kernel ends all other processes of the namespace before that process. Undefined if there is no namespace, or
   * the pid is unknown.
   */
  init?(): Promise<number | undefined>
  /** Contract: called after all processes of the command have ended; returns lines to append to its output. */
  notes(): Promise<readonly string[]>
}

export interface LaunchRequest {
  readonly command: string
  readonly root: string
  /** The folder in which the command starts: inside the root, without symbolic links. */
  readonly cwd: string
  /** The call's folder. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly network: RunOptions['network']
  /**
   * If set, the root is read-only, $HOME is empty, and these mounts are added. Default: the root is writable, and
   * protected names in it are guarded.
   */
  readonly readOnly?: readonly BindMount[]
  /** Where the command sees the root; default: at its own path. */
  readonly seenAt?: string | undefined
  /** The folder that is $HOME; default: one per root, kept for later commands. */
  readonly home?: string | undefined
  /** Set for a program that the owner configured (an MCP server). Then the root is the program's own folder. */
  readonly program?: {
    /** Paths that the program sees read-only. */
    readonly seen: readonly string[]
    /** Folders that the program may write; protected names in them stay guarded. */
    readonly writable: readonly string[]
    readonly environment: Readonly<Record<string, string>>
  }
  /** True if the command reads its standard input. */
  readonly input?: boolean
}

export interface Launcher {
  /** Contract: prepares the start of a command; throws `tool_failed` if commands cannot run. */
  (wanted: LaunchRequest): Promise<Launch>
  /**
   * Contract: ends the containers of a call, which are not child processes, also containers that an earlier runtime
   * process started. `folder`: the call's folder. Returns whether there was a container; throws if it cannot tell.
   */
  readonly end?: (folder: string) => Promise<boolean>
}

/**
 * Bash runs this first. At exit, bash reports its folder on descriptor 199, which commands do not use by accident. All
 * other inherited descriptors are closed, because an open folder is a way out of the workspace.
 */
export const BASH_ENV_TEXT = `unset BASH_ENV
exec 199>&3
for fd in /proc/self/fd/*; do case \${fd##*/} in [012]|199|255) ;; [0-9]*) eval "exec \${fd##*/}>&-" ;; esac; done
unset fd
trap 'pwd -P >&199' EXIT
`

export const hostLauncher: Launcher = async ({ command, cwd, folder, env }) => {
  const bashEnvFile = join(folder, 'bash-env')
  replaceFile(bashEnvFile, BASH_ENV_TEXT, { mode: 0o600, isFlushed: false })
  const shell = (env.PATH ?? '').split(':').some((at) => isExecutableFile(join(at, 'bash'))) ? 'bash' : '/bin/sh'
  return {
    ...{ argv: [shell, '-c', '--', command], env: { ...env, BASH_ENV: bashEnvFile }, cwd, handles: [] },
    notes: async () => [],
    async [Symbol.asyncDispose]() {},
  }
}

export function isExecutableFile(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
