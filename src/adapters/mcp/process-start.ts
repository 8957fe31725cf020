/** Prepares the start of a server's process. Implemented by the composition root. */

import type { ProcessStart } from '../../ports/process-start.ts'
import type { ServerOptions } from './server-options.ts'

/** Contract: throws `tool_failed` if the server must not be started. Secrets in `options.env` are already filled in. */
export type PrepareStart = (server: string, options: ServerOptions) => Promise<ProcessStart>
