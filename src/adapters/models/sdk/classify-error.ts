/**
 * Converts any error of the SDK, fetch or the socket to a TirelessError, by type, status and code. Only a prompt that
 * is too long is detected by the message text, because most providers have no code for it.
 */

import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider'
import { describeMismatch } from '../../../domain/describe-issues.ts'
import { type ErrorCode, TirelessError } from '../../../domain/error.ts'
import { truncateText } from '../../../domain/truncate.ts'

export interface FailureContext {
  readonly where: string
  /** True if response headers had arrived before the error. */
  readonly responded: boolean
  /** True if at least one valid event had arrived before the error. */
  readonly spoke: boolean
  /** The time of the error, for a Retry-After header that is a date. */
  readonly now: number
  /** The API key, which is removed from messages. */
  readonly secret: string | undefined
}

/** An error that the provider sent inside a stream, with the HTTP status it would have had. */
export class StreamError extends Error {
  readonly status: number | undefined
  readonly body: unknown

  constructor(error: unknown) {
    const { message, statusCode } = (typeof error === 'object' && error !== null ? error : {}) as ErrorBody
    super(String(message ?? error))
    this.status = typeof statusCode === 'number' ? statusCode : undefined
    this.body = error
  }
}

interface ErrorBody {
  readonly message?: unknown
  readonly statusCode?: unknown
  readonly code?: unknown
  readonly type?: unknown
  readonly error?: unknown
  readonly data?: unknown
}

export function classifyModelError(thrown: unknown, at: FailureContext): TirelessError {
  if (thrown instanceof TirelessError) return thrown
  if (APICallError.isInstance(thrown) && thrown.statusCode !== undefined && !isOk(thrown.statusCode)) {
    return failureFromStatus(
      thrown.statusCode,
      thrown.message,
      thrown.data ?? thrown.responseBody,
      thrown.responseHeaders,
      at,
    )
  }
  // An error inside a stream counts as an incomplete answer, unless its status shows that a retry cannot help.
  if (thrown instanceof StreamError && thrown.status !== undefined && FINAL_STATUSES.has(thrown.status))
    return failureFromStatus(thrown.status, thrown.message, thrown.body, {}, at)
  const [code, what] = classify([...causeChain(thrown)], at)
  const got = quoteSafely(describeInnermost(thrown), at.secret)
  // The SDK's error contains the whole prompt, so only its cause is kept.
  const cause = APICallError.isInstance(thrown) ? thrown.cause : thrown
  return new TirelessError(code, { what, where: at.where, got }, { cause })
}

const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 413, 429])

const isOk = (status: number) => status >= 200 && status < 300

function classify(chain: readonly Error[], { responded, spoke }: FailureContext): [ErrorCode, string] {
  const code = chain.map(systemCode).find((found) => found !== undefined)
  if (chain.some((error) => error instanceof StreamError)) {
    return ['model_cut', 'the provider reported an error during the answer']
  }
  if (chain.some((error) => JSONParseError.isInstance(error) || TypeValidationError.isInstance(error))) {
    return ['model_garbled', "the answer does not follow the provider's protocol"]
  }
  // The SDK also throws these errors for a body without any event, such as an HTML page.
  if (chain.some((error) => InvalidResponseDataError.isInstance(error) || EmptyResponseBodyError.isInstance(error))) {
    return spoke
      ? ['model_cut', 'the answer is incomplete']
      : ['model_garbled', "the answer does not follow the provider's protocol"]
  }
  if (code?.startsWith('HPE_')) return ['model_garbled', 'the answer is not HTTP']
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return ['model_timeout', 'the provider stopped sending data']
  }
  if (code !== undefined && responded) return ['model_cut', 'the connection broke during the answer']
  if (code !== undefined) return ['model_unavailable', 'the provider cannot be reached']
  // Once a response has arrived, other errors come from the SDK, which throws on unexpected data: no code of ours runs
  // then.
  return responded
    ? ['model_garbled', "the answer does not follow the provider's protocol"]
    : ['internal', 'the model adapter failed']
}

function failureFromStatus(
  status: number,
  message: string,
  body: unknown,
  headers: Readonly<Record<string, string>> | undefined,
  { where, now, secret }: FailureContext,
): TirelessError {
  const got = quoteSafely(`${status} ${message}`, secret)
  const retryAfterMs = parseRetryAfter(headers ?? {}, now)
  const fail = (code: ErrorCode, what: string, fix?: string) =>
    new TirelessError(code, { what, where, got, fix }, { retryAfterMs })
  const codes = [...errorCodes(body)]
  if (status === 401 || status === 403)
    return fail('model_auth', 'the provider refuses the API key', 'check the API key')
  if (status === 402 || codes.includes('insufficient_quota'))
    return fail('model_auth', 'the account has no credit left', 'add credit at the provider, or choose another model')
  if (status === 429) return fail('model_limited', 'the provider limits the request rate')
  if (status === 408 || status === 409 || status >= 500) return fail('model_unavailable', 'the provider is unavailable')
  if (status < 400)
    return fail('model_refused', 'the provider redirects to another address', 'set base_url to the new address')
  if (status === 413 || codes.some((code) => TOO_LONG_CODES.has(code)) || TOO_LONG.test(message))
    return fail('model_oversize', 'the request is too long for the model')
  if (status === 404) return fail('model_unknown', 'unknown model, or wrong base_url', 'run `tireless models list`')
  return fail('model_refused', 'the provider refuses the request')
}

const TOO_LONG_CODES: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'request_too_large',
])
const TOO_LONG =
  /prompt is too long|input token count.{0,40}exceeds|maximum context length|exceeds the context (window|size)/i

/** All error codes and types in the body, up to 3 levels deep. */
function* errorCodes(body: unknown, depth = 0): Generator<string> {
  if (typeof body !== 'object' || body === null || depth > 3) return
  const { code, type, error, data } = body as ErrorBody
  if (typeof code === 'string') yield code
  if (typeof type === 'string') yield type
  yield* errorCodes(error, depth + 1)
  yield* errorCodes(data, depth + 1)
}

/** Contract: milliseconds from `now`; undefined without a valid header. */
export function parseRetryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const milliseconds = parseNumber(headers['retry-after-ms'])
  if (milliseconds !== undefined) return milliseconds
  const text = headers['retry-after']
  const seconds = parseNumber(text)
  if (seconds !== undefined) return Math.round(seconds * 1000)
  const date = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

function parseNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined
}

function* causeChain(thrown: unknown): Generator<Error> {
  let error = thrown
  for (let depth = 0; error instanceof Error && depth < 10; depth++) {
    yield error
    error = error.cause
  }
}

function systemCode(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

const MAX_ISSUES = 2

function describeInnermost(thrown: unknown): string {
  const chain = [...causeChain(thrown)]
  const error = chain.at(-1)
  // Messages of validators and of the JavaScript engine do not help users, so they are replaced.
  if (error && 'issues' in error && Array.isArray(error.issues))
    return describeMismatch(error.issues.slice(0, MAX_ISSUES), chain.find(TypeValidationError.isInstance)?.value)
  if ((error instanceof TypeError || error instanceof RangeError) && systemCode(error) === undefined)
    return 'unreadable data'
  const code = error && systemCode(error)
  return code ? `${code} ${error.message}` : (error?.message ?? String(thrown))
}

const MAX_QUOTE = 300

/** The provider's message as one short line without the secret. */
function quoteSafely(message: string, secret: string | undefined): string {
  const hidden = secret ? message.replaceAll(secret, '***') : message
  return truncateText(hidden.replace(/[\p{Cc}\s]+/gu, ' ').trim(), MAX_QUOTE)
}
