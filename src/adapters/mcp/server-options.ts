/** The configuration of a server, as far as this folder needs it. */

import type { Effect } from '../../domain/effect.ts'

export interface ServerOptions {
  readonly command?: readonly string[] | undefined
  readonly url?: string | undefined
  readonly cwd?: string | undefined
  readonly env: Readonly<Record<string, string>>
  /** `off`: it runs with all rights of the owner. */
  readonly sandbox: 'on' | 'off'
  /** Hosts that it may reach from its sandbox, through a proxy; `all`: every public host. */
  readonly network: 'none' | 'all' | readonly string[]
  /** Folders that it may write, and paths that it may read, in addition to its own folder. */
  readonly folders: readonly string[]
  readonly reads: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** Time limit of a call, in ms. */
  readonly timeout: number
  /** Time limit until the first answer after the start, in ms. */
  readonly start_timeout: number
  /** Label of its results, unless the tool's effect sets another. */
  readonly trust: 'trusted' | 'untrusted'
  /** Keyed by the server's name of the tool. */
  readonly effects: Readonly<Record<string, ToolEffect>>
  /** Effect of tools that the server marks as read-only and that have no entry in `effects`. */
  readonly read_only?: ToolEffect | undefined
}

export interface ToolEffect extends Pick<Effect, 'recovery' | 'reach'> {
  /** Arguments that hold the destination of a call. */
  readonly destinations?: readonly string[] | undefined
  readonly gives?: 'trusted' | 'untrusted' | undefined
  readonly private?: boolean | undefined
}

/** For tools without a configured effect: never retried, and every call needs approval. */
export const STRICTEST_EFFECT: ToolEffect = { recovery: 'once', reach: 'destructive' }
