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
import {
  adviseOnAddress,
  adviseOnConnection,
  adviseOnNotFound,
  adviseOnRedirect,
  type ProviderAddress,
} from './connection-advice.ts'

interface FailureContext extends ProviderAddress {
  readonly where: string
  /** True if a request was given to the network. */
  readonly requested: boolean
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
    const { statusCode: status, message, data, responseBody, responseHeaders: headers, url } = thrown
    return failureFromStatus({ status, message, body: data ?? responseBody, headers, url }, at)
  }
  // An error inside a stream counts as an incomplete answer, unless its status shows that a retry cannot help.
  if (thrown instanceof StreamError && thrown.status !== undefined && FINAL_STATUSES.has(thrown.status))
    return failureFromStatus({ status: thrown.status, message: thrown.message, body: thrown.body }, at)
  const { code, what, fix } = classify([...causeChain(thrown)], at)
  const got = quoteSafely(describeInnermost(thrown), at.secret)
  // The SDK's error contains the whole prompt, so only its cause is kept.
  const cause = APICallError.isInstance(thrown) ? thrown.cause : thrown
  return new TirelessError(code, { what, where: at.where, got, fix }, { cause })
}

const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 413, 429])

const isOk = (status: number) => status >= 200 && status < 300

interface Verdict {
  readonly code: ErrorCode
  readonly what: string
  readonly fix?: string
}

function classify(chain: readonly Error[], at: FailureContext): Verdict {
  const { responded, spoke } = at
  const code = chain.map(systemCode).find((found) => found !== undefined)
  const fix = adviseOnAddress(at)
  const garbled: Verdict = { code: 'model_garbled', what: "the answer does not follow the provider's protocol", fix }
  if (chain.some((error) => error instanceof StreamError))
    return { code: 'model_cut', what: 'the provider reported an error during the answer' }
  if (chain.some((error) => JSONParseError.isInstance(error) || TypeValidationError.isInstance(error))) return garbled
  // The SDK also throws these errors for a body without any event, such as an HTML page.
  if (chain.some((error) => InvalidResponseDataError.isInstance(error) || EmptyResponseBodyError.isInstance(error)))
    return spoke ? { code: 'model_cut', what: 'the answer is incomplete' } : garbled
  if (code?.startsWith('HPE_')) return { code: 'model_garbled', what: 'the answer is not HTTP', fix }
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return { code: 'model_timeout', what: 'the provider stopped sending data' }
  if (code !== undefined && responded) return { code: 'model_cut', what: 'the connection broke during the answer' }
  if (code !== undefined && at.requested)
    return { code: 'model_unavailable', what: 'the provider cannot be reached', fix: adviseOnConnection(code, at) }
  // Once a response has arrived, other errors come from the SDK, which throws on unexpected data: no code of ours runs
  // then.
  return responded ? garbled : classifyUnsent(chain, at)
}

/** Errors without a response and without a code of the system: those that are certain to come before sending. */
function classifyUnsent(chain: readonly Error[], { requested, setting = 'base_url' }: FailureContext): Verdict {
  // The HTTP client refuses ports of other protocols, such as 25 for mail.
  if (chain.some(({ message }) => message === 'bad port'))
    return { code: 'model_unsent', what: 'the port is reserved for another protocol', fix: `change ${setting}` }
  if (!requested) return { code: 'model_unsent', what: 'the model adapter failed before it sent the request' }
  return { code: 'internal', what: 'the model adapter failed' }
}

interface RefusedRequest {
  readonly status: number
  readonly message: string
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly url?: string | undefined
}

function failureFromStatus(
  { status, message, body, headers = {}, url }: RefusedRequest,
  at: FailureContext,
): TirelessError {
  const { where, now, secret } = at
  const got = quoteSafely(`${status} ${message}`, secret)
  const retryAfterMs = parseRetryAfter(headers, now)
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
    return fail('model_unknown', 'the provider redirects to another address', adviseOnRedirect(headers.location, at))
  if (status === 405) return fail('model_unknown', 'the server accepts no requests there', adviseOnNotFound(url, at))
  if (status === 413 || codes.some((code) => TOO_LONG_CODES.has(code)) || TOO_LONG.test(message))
    return fail('model_oversize', 'the request is too long for the model')
  if (status === 404) return fail('model_unknown', 'unknown model, or wrong base_url', adviseOnNotFound(url, at))
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
function parseRetryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
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
