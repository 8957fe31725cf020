/** What the error codes of Lark mean: whether to try again, and what the owner can do. No error quotes Lark's text. */

import { type ErrorCode, TirelessError } from '../../../domain/error.ts'

/** An answer of Lark that is no success. */
interface LarkFailure {
  /** The HTTP status. */
  readonly status: number
  /** Lark's code; undefined if the body has none. */
  readonly code: number | undefined
  readonly message: string
  /** Keys in lower case. */
  readonly headers: { get(name: string): string | null }
}

const CONSOLE = 'the developer console (open.feishu.cn/app or open.larksuite.com/app)'
const KEYS = `copy App ID and App Secret from ${CONSOLE}, "Credentials & Basic Info"; see docs/lark.md`
const PERMISSIONS = `add the permissions of docs/lark.md in ${CONSOLE}, "Permissions & Scopes", and publish a version`
const CHAT = 'add the bot to the chat, or choose another one: tireless channels pair lark'

/** The token is missing, invalid or expired: a new one may help. */
const TOKEN_CODES: ReadonlySet<number> = new Set([99991661, 99991663, 99991664, 99991665, 99991668, 99991671])
/** The message that is to be replaced or answered was recalled or deleted, or is too old to be changed. */
const GONE_CODES: ReadonlySet<number> = new Set([230011, 230031, 230050, 230110])
/** Too many requests: of the app, of the app to one chat, of the tenant. */
const LIMIT_CODES: ReadonlySet<number> = new Set([99991400, 11232, 11233, 11247, 230020])
const LIMIT_MS = 1000

const KNOWN: Readonly<Record<number, readonly [ErrorCode, what: string, fix?: string]>> = {
  1: ['channel_unavailable', 'Lark is busy'],
  403: ['channel_refused', 'Lark forbids the long connection', `choose it in ${CONSOLE}, "Events & Callbacks"`],
  514: ['channel_refused', 'Lark does not accept App ID and App Secret', KEYS],
  2200: ['channel_unavailable', 'Lark has an internal error'],
  10003: ['channel_refused', 'Lark does not know the App ID', KEYS],
  10012: ['channel_refused', 'Lark does not know the App ID', KEYS],
  10014: ['channel_refused', 'Lark does not accept the App Secret', KEYS],
  230001: ['channel_refused', 'Lark does not know the chat, or refuses the message', CHAT],
  230002: ['channel_refused', 'the bot is not in the chat', CHAT],
  230006: ['channel_refused', 'the app has no bot', `add the bot in ${CONSOLE}, "Add Features", and publish a version`],
  230013: ['channel_refused', 'the app is not available to this person', `widen its availability in ${CONSOLE}`],
  230018: ['channel_refused', 'the bot may not write in this chat', CHAT],
  230025: ['channel_refused', 'the message is too long for Lark'],
  230027: ['channel_refused', 'the app lacks a permission', PERMISSIONS],
  230035: ['channel_refused', 'the bot may not write in this chat', CHAT],
  230049: ['channel_unavailable', 'Lark is still sending the message'],
  234006: ['channel_refused', 'the file is too large for Lark'],
  99991672: ['channel_refused', 'the app lacks a permission', PERMISSIONS],
  99991679: ['channel_refused', 'the app lacks a permission', PERMISSIONS],
  1000040343: ['channel_unavailable', 'Lark has an internal error'],
  1000040350: ['channel_unavailable', 'too many programs hold a long connection of this app'],
}

/** The failure behind an error of this module; undefined for other errors. */
const failureOf = (thrown: unknown): LarkFailure | undefined =>
  thrown instanceof TirelessError ? (thrown.cause as LarkFailure | undefined) : undefined

export const isTokenRefused = (thrown: unknown): boolean => TOKEN_CODES.has(failureOf(thrown)?.code ?? 0)
export const isMessageGone = (thrown: unknown): boolean => GONE_CODES.has(failureOf(thrown)?.code ?? 0)

export function errorOf(failure: LarkFailure): TirelessError {
  const { status, code } = failure
  const found = `status ${status}${code === undefined ? '' : `, code ${code}`}`
  const options = { cause: failure }
  if (status === 429 || LIMIT_CODES.has(code ?? 0))
    return new TirelessError('channel_limited', `Lark takes no more messages for a moment (${found})`, {
      ...{ ...options, retryAfterMs: waitOf(failure) },
    })
  if (TOKEN_CODES.has(code ?? 0))
    return new TirelessError(
      'channel_refused',
      { what: `Lark refuses the access token (${found})`, fix: KEYS },
      options,
    )
  const known = KNOWN[code ?? 0]
  if (known) {
    const [kind, what, fix] = known
    const scopes = fix === PERMISSIONS ? scopesIn(failure.message) : ''
    return new TirelessError(kind, { what: `${what} (${found})${scopes}`, fix }, options)
  }
  const retryable = status >= 500 || status === 408 || status === 425
  return new TirelessError(retryable ? 'channel_unavailable' : 'channel_refused', `Lark answered ${found}`, options)
}

/** The names of the missing permissions, which Lark lists in its message. */
function scopesIn(message: string): string {
  const scopes = [...new Set(message.slice(0, 5000).match(/\b[a-z]{2,20}:[a-z_.]{2,40}(?::[a-z_]{2,30})?\b/g))]
  return scopes.length === 0 ? '' : `: one of ${scopes.slice(0, 5).join(', ')}`
}

/** Lark says in seconds when the limit ends. */
function waitOf({ headers }: LarkFailure): number {
  const seconds = Number(headers.get('x-ogw-ratelimit-reset') ?? headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds * 1000) : LIMIT_MS
}
