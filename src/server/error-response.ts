/** Converts errors to HTTP: a status, and JSON with code, message and its parts; never a stack trace. */

import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { asTirelessError, type ErrorCode, type ErrorParts, TirelessError } from '../domain/error.ts'

const STATUS: Readonly<Partial<Record<ErrorCode, ContentfulStatusCode>>> = {
  usage: 400,
  config_invalid: 400,
  workspace_refused: 400,
  path_refused: 400,
  model_unknown: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  snapshot_lost: 404,
  conflict: 409,
  undo_unfinished: 409,
  confirmation_needed: 409,
  request_oversize: 413,
  not_written: 507,
  aborted: 503,
  store_closed: 503,
}

/** Retry-After of answers with 503 whose error names no time. */
const DEFAULT_RETRY_MS = 1000

interface ErrorAnswer {
  readonly status: ContentfulStatusCode
  /** Seconds after which the sender may try again. */
  readonly retryAfter?: number
  readonly body: {
    readonly error: { readonly code: ErrorCode; readonly message: string; readonly parts: ErrorParts }
  }
}

export function errorResponse(thrown: unknown): ErrorAnswer {
  const { code, message, parts, retry, retryAfterMs } = asTirelessError(
    thrown instanceof HTTPException ? (thrown.cause ?? thrown) : thrown,
  )
  const status = thrown instanceof HTTPException ? (thrown.status as ContentfulStatusCode) : STATUS[code]
  const answer = {
    status: status ?? (retry === 'later' ? 503 : 500),
    body: { error: { code, message, parts } },
  } as const
  if (answer.status !== 503) return answer
  return { ...answer, retryAfter: Math.ceil((retryAfterMs ?? DEFAULT_RETRY_MS) / 1000) }
}

/** An error with an HTTP status that no error code maps to. */
export function httpError(status: 405 | 413 | 415 | 429 | 503, complaint: ErrorParts): HTTPException {
  return new HTTPException(status, { cause: new TirelessError('usage', complaint) })
}
