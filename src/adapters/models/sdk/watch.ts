/** Guards one request on the wire: silence for too long, or bytes without end, aborts it with the reason. */

import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'

export interface Limits {
  readonly clock: Clock
  readonly idleTimeoutMs: number
  readonly maxBytes: number
}

export interface Watch {
  /** For the request: aborts with the caller's signal, or by this guard. */
  readonly signal: AbortSignal
  /** Why this guard aborted, if it did. */
  reason(): TirelessError | undefined
  /** Whether the head of a response has come. */
  responded(): boolean
  /** Contract: the response again, its body watched. */
  response(response: Response): Response
  /** Something of the protocol has come. */
  part(): void
  spoke(): boolean
  /** Contract: the piece again, counted; throws where it makes the answer too long. */
  grow(piece: string): string
  /** Contract: idempotent; ends the guard, and the request if it still runs. */
  stop(): void
}

export function watch(where: string, caller: AbortSignal, { clock, idleTimeoutMs, maxBytes }: Limits): Watch {
  const own = new AbortController()
  const over = new AbortController()
  // Text can double on the wire (escapes), and there is a frame around it.
  const maxUnread = 2 * maxBytes + 65_536
  let last = clock.monotonic()
  let unread = 0
  let size = 0
  let responded = false
  let spoke = false

  async function guardSilence(): Promise<void> {
    for (let left = idleTimeoutMs; left > 0; left = last + idleTimeoutMs - clock.monotonic()) {
      await clock.sleep(left, over.signal)
      if (over.signal.aborted) return
    }
    own.abort(silence(where, idleTimeoutMs))
  }

  function bytes(count: number): void {
    last = clock.monotonic()
    unread += count
    if (unread > maxUnread) own.abort(oversize(where, maxBytes))
  }

  void guardSilence()
  return {
    signal: AbortSignal.any([caller, own.signal]),
    reason: () => (own.signal.reason instanceof TirelessError ? own.signal.reason : undefined),
    responded: () => responded,
    response(response) {
      responded = true
      bytes(0)
      const counted = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes(chunk.byteLength)
          controller.enqueue(chunk)
        },
      })
      return response.body ? new Response(response.body.pipeThrough(counted), response) : response
    },
    part() {
      unread = 0
      spoke = true
    },
    spoke: () => spoke,
    grow(piece) {
      size += Buffer.byteLength(piece)
      if (size > maxBytes) throw oversize(where, maxBytes)
      return piece
    },
    stop() {
      over.abort()
      own.abort()
    },
  }
}

const silence = (where: string, ms: number) =>
  new TirelessError('model_timeout', {
    what: 'the provider went silent',
    where,
    got: `nothing for ${ms} ms`,
    fix: 'try again later, or raise the idle timeout for a slow model',
  })

const oversize = (where: string, maxBytes: number) =>
  new TirelessError('model_oversize', { what: 'the answer is too long', where, expected: `at most ${maxBytes} bytes` })
