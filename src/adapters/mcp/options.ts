/** What the owner says of a server in the configuration, as far as this folder needs it. */

import type { Effect } from '../../domain/effect.ts'

export interface ServerOptions {
  readonly command?: readonly string[] | undefined
  readonly url?: string | undefined
  readonly cwd?: string | undefined
  readonly env: Readonly<Record<string, string>>
  /** `off`: it runs as its owner does. */
  readonly sandbox: 'on' | 'off'
  /** Hosts that it may reach from its sandbox, through a proxy; `all`: every public one. */
  readonly network: 'none' | 'all' | readonly string[]
  /** What it may write, and what it may see, beside its own folder. */
  readonly folders: readonly string[]
  readonly reads: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds that a call may take. */
  readonly timeout: number
  /** Milliseconds that it may take until it answers the first time. */
  readonly start_timeout: number
  /** What its results are worth, where a tool says nothing else. */
  readonly trust: 'trusted' | 'untrusted'
  /** By the tool's own name. */
  readonly effects: Readonly<Record<string, ToolEffect>>
  /** Of the tools that the server marks as read-only, where `effects` says nothing of them. */
  readonly read_only?: ToolEffect | undefined
}

export interface ToolEffect extends Pick<Effect, 'recovery' | 'reach'> {
  /** Names of the arguments that say where a call goes. */
  readonly destinations?: readonly string[] | undefined
  readonly gives?: 'trusted' | 'untrusted' | undefined
  readonly private?: boolean | undefined
}

/** Of a tool about which nobody has said anything: never run again by itself, never without leave. */
export const STRICTEST: ToolEffect = { recovery: 'once', reach: 'destructive' }
