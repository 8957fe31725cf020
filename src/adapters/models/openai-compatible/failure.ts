/** From anything thrown by the SDK, fetch or the socket to one TirelessError. By types, statuses and codes; never by prose. */

import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider'
import { type ErrorCode, TirelessError } from '../../../domain/error.ts'

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

/** The provider's own word in the middle of a stream. */
export class ErrorChunk extends Error {}

export function failureOf(thrown: unknown, at: Circumstances): TirelessError {
  if (thrown instanceof TirelessError) return thrown
  if (APICallError.isInstance(thrown) && thrown.statusCode !== undefined && !isOk(thrown.statusCode)) {
    return byStatus(thrown, thrown.statusCode, at)
  }
  const [code, what] = kindOf([...causes(thrown)], at)
  const got = clean(innermost(thrown), at.secret)
  // Not the SDK's error itself: it holds the whole prompt.
  const cause = APICallError.isInstance(thrown) ? thrown.cause : thrown
  return new TirelessError(code, { what, where: at.where, got }, { cause })
}

const isOk = (status: number) => status >= 200 && status < 300

function kindOf(chain: readonly Error[], { responded, spoke }: Circumstances): [ErrorCode, string] {
  const code = chain.map(codeOf).find((found) => found !== undefined)
  if (chain.some((error) => error instanceof ErrorChunk)) {
    return ['model_cut', 'the provider failed in the middle of the answer']
  }
  if (chain.some((error) => JSONParseError.isInstance(error) || TypeValidationError.isInstance(error))) {
    return ['model_garbled', 'the answer is not the chat-completions protocol']
  }
  // The SDK says "ended without a finish reason" also of a body that held no event at all (an HTML page, say).
  if (chain.some((error) => InvalidResponseDataError.isInstance(error) || EmptyResponseBodyError.isInstance(error))) {
    return spoke
      ? ['model_cut', 'the answer broke off']
      : ['model_garbled', 'the answer is not the chat-completions protocol']
  }
  if (code?.startsWith('HPE_')) return ['model_garbled', 'the answer is not HTTP']
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return ['model_timeout', 'the provider went silent']
  }
  if (code !== undefined && responded) return ['model_cut', 'the connection broke in the middle of the answer']
  if (code !== undefined) return ['model_unavailable', 'the provider cannot be reached']
  return ['internal', 'the model adapter failed']
}

function byStatus(error: APICallError, status: number, { where, now, secret }: Circumstances): TirelessError {
  const got = clean(`${status} ${error.message}`, secret)
  const retryAfterMs = retryAfter(error.responseHeaders ?? {}, now)
  const fail = (code: ErrorCode, what: string, fix?: string) =>
    new TirelessError(code, { what, where, got, fix }, { retryAfterMs })
  if (status === 401 || status === 403) return fail('model_auth', 'the provider refuses the key', 'check the API key')
  if (status === 429) return fail('model_limited', 'the provider asks to slow down')
  if (status === 408 || status === 409 || status >= 500) return fail('model_unavailable', 'the provider has trouble')
  if (status < 400) return fail('model_refused', 'the provider redirects', 'set base_url to where it is')
  return fail('model_refused', 'the provider refuses the request')
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

function innermost(thrown: unknown): string {
  const error = [...causes(thrown)].at(-1)
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
