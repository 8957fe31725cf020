/** How a server's process is started: as it is, or in a sandbox. Whoever knows sandboxes says so. */

import type { ServerOptions } from './options.ts'

export interface ProcessStart {
  readonly argv: readonly string[]
  readonly cwd: string | undefined
  /** All of it, but for the leash's own. */
  readonly env: Readonly<Record<string, string>>
  /** Written to descriptor 3, where there is any: what nobody may read in the list of processes. */
  readonly script?: string
  /** Open descriptors that it finds from 4 on. */
  readonly handles?: readonly number[]
  /** Contract: called once it is over, or was not started. */
  close?(): Promise<void>
}

/** Contract: throws `tool_failed` where it must not be started. `options.env` has its secrets in it. */
export type StartFor = (server: string, options: ServerOptions) => Promise<ProcessStart>
