/**
 * From anything thrown by the SDK, fetch or the socket to one TirelessError. By types, statuses and codes; by prose only that a prompt is
 * too long, because most providers have no code for it.
 */

import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider'
import { type ErrorCode, TirelessError } from '../../../domain/error.ts'
import { describeMismatch } from '../../../domain/mismatch.ts'

export interface Circumstances {
  readonly where: string
  /** The head of a response had come. */
  readonly responded: boolean
  /** Something of the protocol had come. */
  readonly spoke: boolean
  /** Wall time, for a Retry-After that is a date. */
  readonly now: number
  /** Never repeated in a message. */
  readonly secret: string | undefined
}

/** The provider's own word in the middle of a stream, with the status that it would have had as a response. */
export class ErrorChunk extends Error {
  readonly status: number | undefined
  readonly body: unknown

  constructor(error: unknown) {
    const { message, statusCode } = (typeof error === 'object' && error !== null ? error : {}) as ErrorWords
    super(String(message ?? error))
    this.status = typeof statusCode === 'number' ? statusCode : undefined
    this.body = error
  }
}

interface ErrorWords {
  readonly message?: unknown
  readonly statusCode?: unknown
  readonly code?: unknown
  readonly type?: unknown
  readonly error?: unknown
  readonly data?: unknown
}

export function failureOf(thrown: unknown, at: Circumstances): TirelessError {
  if (thrown instanceof TirelessError) return thrown
  if (APICallError.isInstance(thrown) && thrown.statusCode !== undefined && !isOk(thrown.statusCode)) {
    return byStatus(thrown.statusCode, thrown.message, thrown.data ?? thrown.responseBody, thrown.responseHeaders, at)
  }
  // What a provider says in the middle of an answer is a broken answer, unless it is something that will be so again.
  if (thrown instanceof ErrorChunk && thrown.status !== undefined && LASTING.has(thrown.status))
    return byStatus(thrown.status, thrown.message, thrown.body, {}, at)
  const [code, what] = kindOf([...causes(thrown)], at)
  const got = clean(innermost(thrown), at.secret)
  // Not the SDK's error itself: it holds the whole prompt.
  const cause = APICallError.isInstance(thrown) ? thrown.cause : thrown
  return new TirelessError(code, { what, where: at.where, got }, { cause })
}

const LASTING: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 413, 429])

const isOk = (status: number) => status >= 200 && status < 300

function kindOf(chain: readonly Error[], { responded, spoke }: Circumstances): [ErrorCode, string] {
  const code = chain.map(codeOf).find((found) => found !== undefined)
  if (chain.some((error) => error instanceof ErrorChunk)) {
    return ['model_cut', 'the provider failed in the middle of the answer']
  }
  if (chain.some((error) => JSONParseError.isInstance(error) || TypeValidationError.isInstance(error))) {
    return ['model_garbled', "the answer is not the provider's protocol"]
  }
  // The SDK says "ended without a finish reason" also of a body that held no event at all (an HTML page, say).
  if (chain.some((error) => InvalidResponseDataError.isInstance(error) || EmptyResponseBodyError.isInstance(error))) {
    return spoke
      ? ['model_cut', 'the answer broke off']
      : ['model_garbled', "the answer is not the provider's protocol"]
  }
  if (code?.startsWith('HPE_')) return ['model_garbled', 'the answer is not HTTP']
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return ['model_timeout', 'the provider went silent']
  }
  if (code !== undefined && responded) return ['model_cut', 'the connection broke in the middle of the answer']
  if (code !== undefined) return ['model_unavailable', 'the provider cannot be reached']
  // The SDK stumbles over what it did not expect; nothing of ours runs while it reads.
  return responded
    ? ['model_garbled', "the answer is not the provider's protocol"]
    : ['internal', 'the model adapter failed']
}

function byStatus(
  status: number,
  words: string,
  body: unknown,
  headers: Readonly<Record<string, string>> | undefined,
  { where, now, secret }: Circumstances,
): TirelessError {
  const got = clean(`${status} ${words}`, secret)
  const retryAfterMs = retryAfter(headers ?? {}, now)
  const fail = (code: ErrorCode, what: string, fix?: string) =>
    new TirelessError(code, { what, where, got, fix }, { retryAfterMs })
  const codes = [...codesOf(body)]
  if (status === 401 || status === 403) return fail('model_auth', 'the provider refuses the key', 'check the API key')
  if (status === 402 || codes.includes('insufficient_quota'))
    return fail('model_auth', 'the account has no credit left', 'pay the provider, or name another model')
  if (status === 429) return fail('model_limited', 'the provider asks to slow down')
  if (status === 408 || status === 409 || status >= 500) return fail('model_unavailable', 'the provider has trouble')
  if (status < 400) return fail('model_refused', 'the provider redirects', 'set base_url to where it is')
  if (status === 413 || codes.some((code) => TOO_LONG_CODES.has(code)) || TOO_LONG.test(words))
    return fail('model_oversize', 'the request is longer than the model can read')
  if (status === 404)
    return fail('model_unknown', 'the provider knows no such model, or base_url leads nowhere', 'see: models list')
  return fail('model_refused', 'the provider refuses the request')
}

const TOO_LONG_CODES: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'request_too_large',
])
const TOO_LONG =
  /prompt is too long|input token count.{0,40}exceeds|maximum context length|exceeds the context (window|size)/i

/** Whatever a provider calls its error, wherever in the body it says so. */
function* codesOf(body: unknown, depth = 0): Generator<string> {
  if (typeof body !== 'object' || body === null || depth > 3) return
  const { code, type, error, data } = body as ErrorWords
  if (typeof code === 'string') yield code
  if (typeof type === 'string') yield type
  yield* codesOf(error, depth + 1)
  yield* codesOf(data, depth + 1)
}

/** Milliseconds from `now`; undefined where the provider says nothing that can be read. */
export function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const exact = amount(headers['retry-after-ms'])
  if (exact !== undefined) return exact
  const text = headers['retry-after']
  const seconds = amount(text)
  if (seconds !== undefined) return Math.round(seconds * 1000)
  const date = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

function amount(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined
}

function* causes(thrown: unknown): Generator<Error> {
  let error = thrown
  for (let depth = 0; error instanceof Error && depth < 10; depth++) {
    yield error
    error = error.cause
  }
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

const MOST_ISSUES = 2

function innermost(thrown: unknown): string {
  const chain = [...causes(thrown)]
  const error = chain.at(-1)
  // A validator's own words, and an engine's, say nothing to people.
  if (error && 'issues' in error && Array.isArray(error.issues))
    return describeMismatch(error.issues.slice(0, MOST_ISSUES), chain.find(TypeValidationError.isInstance)?.value)
  if ((error instanceof TypeError || error instanceof RangeError) && codeOf(error) === undefined)
    return 'something that cannot be read'
  const code = error && codeOf(error)
  return code ? `${code} ${error.message}` : (error?.message ?? String(thrown))
}

const LONGEST_QUOTE = 300

/** A provider's words, fit for one line of a log. */
function clean(words: string, secret: string | undefined): string {
  const hidden = secret ? words.replaceAll(secret, '***') : words
  const line = hidden.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  return line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE)}…` : line
}
