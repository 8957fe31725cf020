/** What a call's shell becomes once it has reported itself: a plain bash of this machine, or whatever else a launcher says. */

import { accessSync, constants, statSync } from 'node:fs'
import { type FileHandle, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunOptions } from '../../../ports/env.ts'
import type { Bind } from '../sandbox/layout.ts'

export interface Launch extends AsyncDisposable {
  readonly argv: readonly string[]
  /** All of it, but for the marks of the call. */
  readonly env: Readonly<Record<string, string>>
  /** Where it is started; default: the root. */
  readonly cwd?: string
  /** Its standard input; default: /dev/null of the machine. */
  readonly stdin?: FileHandle
  /** What it finds open, from descriptor 4 on. */
  readonly handles: readonly FileHandle[]
  /**
   * Contract: called when it has ended; the process without which none of it can be, because the kernel ends all others before it lets that one go.
   * Undefined where there is none, or it is not known.
   */
  init?(): Promise<number | undefined>
  /** Contract: called when nothing of it runs any more; what whoever asked for it should know, a line each. */
  notes(): Promise<readonly string[]>
}

export interface ToLaunch {
  readonly command: string
  readonly root: string
  /** A real path inside the root. */
  readonly cwd: string
  /** Of the call. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly network: RunOptions['network']
  /** The root is not to be written to, and neither is a home kept: these are laid over it, or beside it. Default: as agents have it. */
  readonly readOnly?: readonly Bind[]
  /** It is no command of an agent's but a program of the owner's: the root is its own, and this is beside it. */
  readonly program?: {
    /** Seen, and not to be written to. */
    readonly seen: readonly string[]
    /** To be written to; what is protected in them stays so. */
    readonly writable: readonly string[]
    readonly environment: Readonly<Record<string, string>>
  }
  /** It is given something to read on its standard input. */
  readonly input?: boolean
}

export interface Launcher {
  /** Contract: throws `tool_failed` where nothing can be run. */
  (wanted: ToLaunch): Promise<Launch>
  /**
   * Contract: ends what runs of a call, named by its folder, and is none of its processes, also where an earlier life of this program began it;
   * says whether there was any. Throws where that cannot be told.
   */
  readonly end?: (folder: string) => Promise<boolean>
}

/**
 * Bash does this first: when it ends, it says where it stands, on a descriptor that nobody uses by accident; and what was left open
 * by whoever started us is shut, because an open folder is a way out of any other.
 */
export const BASH_ENV_TEXT = `unset BASH_ENV
exec 199>&3
for fd in /proc/self/fd/*; do case \${fd##*/} in [012]|199|255) ;; [0-9]*) eval "exec \${fd##*/}>&-" ;; esac; done
unset fd
trap 'pwd -P >&199' EXIT
`

export const plainLauncher: Launcher = async ({ command, cwd, folder, env }) => {
  const first = join(folder, 'bash-env')
  await writeFile(first, BASH_ENV_TEXT, { mode: 0o600 })
  const shell = (env.PATH ?? '').split(':').some((at) => isProgram(join(at, 'bash'))) ? 'bash' : '/bin/sh'
  return {
    ...{ argv: [shell, '-c', '--', command], env: { ...env, BASH_ENV: first }, cwd, handles: [] },
    notes: async () => [],
    async [Symbol.asyncDispose]() {},
  }
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
