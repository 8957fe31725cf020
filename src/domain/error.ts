/**
 * The one error class, and the one table of error codes. `retry`: whether to try again; `exit`: the exit code of the
 * command.
 */

type Retry = 'now' | 'later' | 'never'

export const ERROR_CODES = {
  usage: { retry: 'never', exit: 2 },
  confirmation_needed: { retry: 'never', exit: 2 },
  config_invalid: { retry: 'never', exit: 1 },
  not_found: { retry: 'never', exit: 1 },
  conflict: { retry: 'never', exit: 1 },
  /** A stored version of a file is missing or damaged. */
  snapshot_lost: { retry: 'never', exit: 1 },
  /** An undo stopped in the middle; its owner finishes it or gives it up. */
  undo_unfinished: { retry: 'never', exit: 1 },
  home_locked: { retry: 'later', exit: 75 },
  workspace_refused: { retry: 'never', exit: 2 },
  sandbox_missing: { retry: 'never', exit: 1 },
  unauthorized: { retry: 'never', exit: 1 },
  forbidden: { retry: 'never', exit: 1 },
  /** A request with more bytes than its receiver takes. */
  request_oversize: { retry: 'never', exit: 1 },

  plugin_invalid: { retry: 'never', exit: 1 },
  plugin_failed: { retry: 'never', exit: 1 },
  /** The owner has not approved the plugin, or its files changed since. */
  plugin_unapproved: { retry: 'never', exit: 1 },
  /** A text file of src/prompts is missing, or has a placeholder that the program does not fill. */
  prompt_invalid: { retry: 'never', exit: 1 },

  store_fenced: { retry: 'never', exit: 1 },
  store_sequence: { retry: 'never', exit: 1 },
  /** One batch holds a value that could not be read back; the store itself is intact. */
  store_invalid: { retry: 'never', exit: 1 },
  /** One stored row does not pass this version's checks; the store and every other row are intact. */
  row_unreadable: { retry: 'never', exit: 1 },
  store_failed: { retry: 'never', exit: 1 },
  store_closed: { retry: 'never', exit: 1 },
  store_unsupported: { retry: 'never', exit: 1 },

  model_auth: { retry: 'never', exit: 1 },
  model_refused: { retry: 'never', exit: 1 },
  model_oversize: { retry: 'never', exit: 1 },
  model_unknown: { retry: 'never', exit: 2 },
  /** The request never left this machine, so it cost nothing. */
  model_unsent: { retry: 'never', exit: 1 },
  model_limited: { retry: 'later', exit: 1 },
  model_unavailable: { retry: 'later', exit: 1 },
  model_timeout: { retry: 'later', exit: 1 },
  model_cut: { retry: 'later', exit: 1 },
  model_garbled: { retry: 'later', exit: 1 },
  model_empty: { retry: 'later', exit: 1 },

  budget_money: { retry: 'never', exit: 1 },
  /** Other runs have reserved the rest of the budget; the part they do not spend is released. */
  budget_busy: { retry: 'later', exit: 1 },
  budget_calls: { retry: 'never', exit: 1 },
  budget_tokens: { retry: 'never', exit: 1 },
  budget_unpriced: { retry: 'never', exit: 1 },

  /** A resident has too many unread observations. */
  bus_full: { retry: 'later', exit: 1 },
  channel_unavailable: { retry: 'later', exit: 1 },
  /** The receiver takes no more messages for a while (`retryAfterMs`). */
  channel_limited: { retry: 'later', exit: 1 },
  channel_refused: { retry: 'never', exit: 1 },

  /** A source does not run, or no resident listens to it. */
  source_unavailable: { retry: 'later', exit: 1 },

  decision_invalid: { retry: 'never', exit: 1 },
  decision_empty: { retry: 'never', exit: 1 },
  state_invalid: { retry: 'never', exit: 1 },
  document_refused: { retry: 'never', exit: 1 },
  tool_failed: { retry: 'never', exit: 1 },
  path_refused: { retry: 'never', exit: 1 },
  /** A file could not be written, for example on a full disk; it is as it was before. */
  not_written: { retry: 'never', exit: 1 },
  egress_refused: { retry: 'never', exit: 1 },
  aborted: { retry: 'never', exit: 1 },
  internal: { retry: 'never', exit: 1 },
} as const satisfies Record<string, { retry: Retry; exit: number }>

export type ErrorCode = keyof typeof ERROR_CODES

export type ErrorCategory = 'model_error' | 'parse_error' | 'state_error' | 'tool_error' | 'env_error' | 'system_error'

const ENV_CODES: readonly ErrorCode[] = ['path_refused', 'workspace_refused', 'egress_refused']

/**
 * The category follows from the code, never from the message: a tool's text "file not found" is not a `not_found`
 * error.
 */
export function categoryOf(code: ErrorCode): ErrorCategory {
  if (code.startsWith('model_')) return 'model_error'
  if (code.startsWith('decision_')) return 'parse_error'
  if (code === 'state_invalid') return 'state_error'
  if (code === 'tool_failed') return 'tool_error'
  return ENV_CODES.includes(code) ? 'env_error' : 'system_error'
}

/** The parts of an error message; unknown parts are left out. */
export interface ErrorParts {
  readonly what: string
  readonly where?: string | undefined
  readonly got?: string | undefined
  readonly expected?: string | undefined
  readonly fix?: string | undefined
}

export class TirelessError extends Error {
  readonly code: ErrorCode
  readonly retry: Retry
  /** The provider's Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined
  readonly parts: ErrorParts
  /** The message without the remedy. */
  readonly problem: string
  /** The remedy, if the error names one. */
  readonly fix: string | undefined

  constructor(
    code: ErrorCode,
    parts: string | ErrorParts,
    options: { cause?: unknown; retryAfterMs?: number | undefined } = {},
  ) {
    const named = typeof parts === 'string' ? { what: parts } : parts
    super(formatMessage(named), { cause: options.cause })
    this.name = 'TirelessError'
    this.code = code
    this.retry = ERROR_CODES[code].retry
    this.retryAfterMs = options.retryAfterMs
    this.parts = named
    this.problem = formatMessage({ ...named, fix: undefined })
    this.fix = named.fix
  }
}

const formatMessage = (parts: ErrorParts): string => describeParts(parts).join('; ')

/** The sentences of a message: what happened, got, expected, do this. */
export function describeParts({ what, where, got, expected, fix }: ErrorParts): readonly string[] {
  const parts = [where ? `${where}: ${what}` : what]
  if (got !== undefined) parts.push(`got ${got}`)
  if (expected !== undefined) parts.push(`expected ${expected}`)
  if (fix !== undefined) parts.push(`do this: ${fix}`)
  return parts
}

const OWN_FOLDER = 'let your user write in its folder'

/** By error code of the system: what is wrong, and what to do. */
const DISK_ERRORS: Readonly<Record<string, readonly [got: string, fix: string]>> = {
  ENOSPC: ['no space is left on the disk', 'free some space on this disk, then try again'],
  EDQUOT: ['your quota of this disk is used up', 'free some space on this disk, then try again'],
  EROFS: ['the disk is mounted read-only', 'mount it writable, or choose another folder'],
  EACCES: ['no permission to write', OWN_FOLDER],
  EPERM: ['no permission to write', OWN_FOLDER],
  ENOENT: ['its folder does not exist', 'create the folder, or choose another one'],
  ELOOP: ['links that lead to each other', 'replace the link by a file'],
  EIO: ['the disk reports an error', 'check the disk'],
}

/** Why a file could not be written, in words; the system's own message for a reason that is not known. */
export function describeDiskError(cause: unknown): { readonly got: string; readonly fix?: string } {
  const { code = '', message } = cause as NodeJS.ErrnoException
  const [got, fix] = DISK_ERRORS[code] ?? []
  return got === undefined || fix === undefined ? { got: String(message ?? cause) } : { got: `${got} (${code})`, fix }
}

const isDiskFull = (thrown: unknown): boolean =>
  thrown instanceof Error && ['ENOSPC', 'EDQUOT', 'EROFS'].includes((thrown as NodeJS.ErrnoException).code ?? '')

const NO_MESSAGE = 'an error without a message was thrown'

/**
 * Contract: never throws; returns an error that has a message. Call it once, at a boundary. `code`: used for errors
 * that have no code.
 */
export function asTirelessError(thrown: unknown, code: ErrorCode = 'internal'): TirelessError {
  try {
    // A plugin may throw a TirelessError with an unknown code.
    if (thrown instanceof TirelessError && Object.hasOwn(ERROR_CODES, thrown.code)) return thrown
    if (code === 'internal' && isDiskFull(thrown)) {
      const what = 'nothing more can be written'
      return new TirelessError('not_written', { what, ...describeDiskError(thrown) }, { cause: thrown })
    }
    if (thrown instanceof Error)
      return new TirelessError(code, String(thrown.message || thrown.name || NO_MESSAGE), { cause: thrown })
    return new TirelessError(code, String(thrown) || NO_MESSAGE)
  } catch {
    return new TirelessError(code, 'the thrown value cannot be read')
  }
}

/** Contract: throws `usage` in place of the raw error of a value that cannot be read, such as a revoked proxy. */
export function readSafely<T>(where: string, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof TirelessError) throw thrown
    const got = asTirelessError(thrown).message
    throw new TirelessError('usage', { what: 'the value cannot be read', where, got }, { cause: thrown })
  }
}

export function assertNever(value: never): never {
  throw new TirelessError('internal', `unexpected value: ${JSON.stringify(value)}`)
}
