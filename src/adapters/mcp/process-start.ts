/** How to start a server's process, with or without a sandbox. Implemented by the envs. */

import type { ServerOptions } from './server-options.ts'

export interface ProcessStart {
  readonly argv: readonly string[]
  readonly cwd: string | undefined
  /** The complete environment, except the variables of the process group. */
  readonly env: Readonly<Record<string, string>>
  /** Written to file descriptor 3; keeps secrets out of the process list. */
  readonly script?: string
  /** Open file descriptors that the process gets, from 4 on. */
  readonly handles?: readonly number[]
  /** Contract: called right after the process has started. `end` ends it for the given reason. */
  started?(pid: number, end: (reason: string) => void): void
  /** Contract: called after the process has ended or failed to start. */
  close?(): Promise<void>
}

/** Contract: throws `tool_failed` if the server must not be started. `options.env` contains its secrets. */
export type PrepareStart = (server: string, options: ServerOptions) => Promise<ProcessStart>
