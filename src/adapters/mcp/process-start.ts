/** Prepares the start of a server's process. Implemented by the composition root. */

import type { ProcessStart } from '../../ports/process-start.ts'
import type { ServerOptions } from './server-options.ts'

/** What a process needs to be started. */
export type StartOptions = Pick<ServerOptions, 'command' | 'cwd' | 'env' | 'sandbox' | 'network' | 'folders' | 'reads'>

/** Contract: throws `tool_failed` if the server must not be started. Secrets in `options.env` are already filled in. */
export type PrepareStart = (server: string, options: StartOptions) => Promise<ProcessStart>
