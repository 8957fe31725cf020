/** Input fields of a command, for callers that supply strings: the command line and URL queries. */

import type { z } from 'zod'
import type { Command } from './command.ts'

/** The kinds of ids that people may shorten (see resolve-ids.ts); a field declares its kind by the meta key `idOf`. */
export type IdKind =
  | 'agent'
  | 'approval'
  | 'dispatch'
  | 'fact'
  | 'grant'
  | 'mcp_server'
  | 'need'
  | 'schedule'
  | 'session'
  | 'unknown'

export interface InputField {
  readonly key: string
  /** Type name of zod: string, number, boolean, enum, array … */
  readonly type: string
  readonly help: string
  readonly required: boolean
  readonly choices: readonly string[]
  readonly defaultValue: unknown
  readonly isPath: boolean
  /** Defaults to the caller's current folder. */
  readonly defaultsToCwd: boolean
  readonly short: string | undefined
  /** A secret is not accepted on the command line and not shown in errors. */
  readonly isSecret: boolean
  /** Only for callers that read progress; refused over HTTP. */
  readonly isForTerminal: boolean
  readonly idOf: IdKind | undefined
}

export function inputFields(command: Command): readonly InputField[] {
  return Object.entries(command.input.shape).map(([key, schema]) => describeField(key, schema as z.ZodType))
}

function describeField(key: string, schema: z.ZodType): InputField {
  let inner = schema as z.ZodType & {
    def: { type: string; innerType?: z.ZodType; defaultValue?: unknown; entries?: Record<string, string> }
  }
  let required = true
  let fallback: unknown
  let help = schema.description
  const { path, here, short, secret, terminal, idOf } = (schema.meta() ?? {}) as {
    path?: boolean
    here?: boolean
    short?: string
    secret?: boolean
    terminal?: boolean
    idOf?: IdKind
  }
  while (inner.def.innerType) {
    required &&= inner.def.type !== 'optional' && inner.def.type !== 'default'
    if (inner.def.type === 'default') fallback = inner.def.defaultValue
    inner = inner.def.innerType as typeof inner
    help ??= inner.description
  }
  return {
    key,
    type: inner.def.type,
    help: help ?? '',
    required,
    choices: Object.values(inner.def.entries ?? {}),
    defaultValue: fallback,
    isPath: path === true,
    defaultsToCwd: here === true,
    short,
    isSecret: secret === true,
    isForTerminal: terminal === true,
    idOf,
  }
}
