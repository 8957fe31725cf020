/** The configuration of an MCP server. */

import type { Effect } from '../../domain/effect.ts'

export interface ServerOptions {
  readonly command?: readonly string[] | undefined
  readonly url?: string | undefined
  readonly cwd?: string | undefined
  readonly env: Readonly<Record<string, string>>
  /** `off`: the server runs with all rights of the owner. */
  readonly sandbox: 'on' | 'off'
  /** Hosts that the server may reach from its sandbox, through a proxy; `all`: every public host. */
  readonly network: 'none' | 'all' | readonly string[]
  /** `folders`: folders that the server may write; `reads`: paths that it may read; both besides its own folder. */
  readonly folders: readonly string[]
  readonly reads: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** Time limit of a call, in ms. */
  readonly timeout: number
  /** Time limit until the first answer after the start, in ms. */
  readonly start_timeout: number
  /** Trust label of the server's results, unless the effect of the tool sets another. */
  readonly trust: 'trusted' | 'untrusted'
  /** Configured effects of tools. The keys are tool names as the server gives them. */
  readonly effects: Readonly<Record<string, ToolEffect>>
  /** Effect of tools that the server marks as read-only and that have no entry in `effects`. */
  readonly read_only?: ToolEffect | undefined
}

export interface ToolEffect extends Pick<Effect, 'recovery' | 'reach'> {
  /** Names of the arguments that contain the destination of a call. */
  readonly destinations?: readonly string[] | undefined
  readonly gives?: 'trusted' | 'untrusted' | undefined
  readonly private?: boolean | undefined
}

/** For tools without a configured effect: never retried, and every call needs approval. */
export const STRICTEST_EFFECT: ToolEffect = { recovery: 'once', reach: 'destructive' }
