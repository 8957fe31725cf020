/** Monitors one request: aborts it after too long without data, or after too many bytes. */

import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'

interface RequestLimits {
  readonly clock: Clock
  readonly idleTimeoutMs: number
  readonly maxBytes: number
}

export interface RequestMonitor {
  /** Aborts if the caller's signal aborts or this monitor ends the request. */
  readonly signal: AbortSignal
  /** Why this monitor aborted; undefined if it did not. */
  reason(): TirelessError | undefined
  /** Records that a request was given to the network. */
  recordRequest(): void
  hasRequest(): boolean
  /** True once response headers have arrived. */
  hasResponse(): boolean
  /** Contract: the same response, with its bytes counted. */
  monitorResponse(response: Response): Response
  /** Records that a valid event arrived. */
  recordEvent(): void
  hasEvents(): boolean
  /** Contract: counts the bytes of the piece and returns it; throws if the answer is too long. */
  countText(piece: string): string
  /** Contract: idempotent; ends the monitor, and the request if it still runs. */
  stop(): void
}

export function monitorRequest(
  where: string,
  caller: AbortSignal,
  { clock, idleTimeoutMs, maxBytes }: RequestLimits,
): RequestMonitor {
  const [controller, stopped] = [new AbortController(), new AbortController()]
  // Most bytes of a response. JSON escapes can double the size of the text, and protocol data surrounds it.
  const maxUnread = 2 * maxBytes + 65_536
  let last = clock.monotonic()
  let unread = 0
  let size = 0
  let requested = false
  let responded = false
  let spoke = false

  async function enforceIdleTimeout(): Promise<void> {
    for (let left = idleTimeoutMs; left > 0; left = last + idleTimeoutMs - clock.monotonic()) {
      await clock.sleep(left, stopped.signal)
      if (stopped.signal.aborted) return
    }
    controller.abort(timeoutError(where, idleTimeoutMs))
  }

  function countBytes(count: number): void {
    last = clock.monotonic()
    unread += count
    if (unread > maxUnread) controller.abort(oversizeError(where, maxBytes))
  }

  void enforceIdleTimeout()
  return {
    signal: AbortSignal.any([caller, controller.signal]),
    reason: () => (controller.signal.reason instanceof TirelessError ? controller.signal.reason : undefined),
    recordRequest() {
      requested = true
    },
    hasRequest: () => requested,
    hasResponse: () => responded,
    monitorResponse(response) {
      responded = true
      countBytes(0)
      return response.body ? new Response(response.body.pipeThrough(countingStream(countBytes)), response) : response
    },
    recordEvent() {
      last = clock.monotonic()
      unread = 0
      spoke = true
    },
    hasEvents: () => spoke,
    countText(piece) {
      size += Buffer.byteLength(piece)
      if (size > maxBytes) throw oversizeError(where, maxBytes)
      return piece
    },
    stop() {
      stopped.abort()
      controller.abort()
    },
  }
}

function countingStream(count: (bytes: number) => void): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      count(chunk.byteLength)
      controller.enqueue(chunk)
    },
  })
}

const timeoutError = (where: string, ms: number) =>
  new TirelessError('model_timeout', {
    what: 'the provider stopped sending data',
    where,
    got: `no data for ${ms} ms`,
    fix: 'try again later, or raise models.timeout for a slow model',
  })

const oversizeError = (where: string, maxBytes: number) =>
  new TirelessError('model_oversize', { what: 'the answer is too long', where, expected: `at most ${maxBytes} bytes` })
