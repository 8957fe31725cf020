/** How to start a server's process, with or without a sandbox. Implemented by the envs. */

import type { ServerOptions } from './server-options.ts'

export interface ProcessStart {
  readonly argv: readonly string[]
  readonly cwd: string | undefined
  /** The complete environment, except `ProcessGroup.env`, which is added at the start. */
  readonly env: Readonly<Record<string, string>>
  /** Text that the process can read from descriptor 3. Secrets are passed there, so no process list shows them. */
  readonly script?: string
  /** Open file descriptors that the process gets, from 4 on. */
  readonly handles?: readonly number[]
  /** Contract: called right after the process has started. `end` ends the process and records the reason. */
  started?(pid: number, end: (reason: string) => void): void
  /** Contract: called after the process has ended or failed to start. */
  close?(): Promise<void>
}

/** Contract: throws `tool_failed` if the server must not be started. Secrets in `options.env` are already filled in. */
export type PrepareStart = (server: string, options: ServerOptions) => Promise<ProcessStart>
