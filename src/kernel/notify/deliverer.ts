/**
 * Deliverer: sends the messages of the outbox to their channels: one at a time per channel, channels in parallel.
 * Must not know: what messages say, who wrote them.
 * Invariants: I9 (a channel delays or breaks only itself); a message is marked as sent after it was accepted, so a
 * crash repeats at most one message per channel, under the same id; every message ends as sent or failed.
 */

import { clipText } from '../../domain/clean-summary.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { ChannelMessage, OutboxMessage } from '../../domain/message.ts'
import type { Channel } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import { untilAborted, withDeadline } from '../../ports/deadline.ts'
import { commitOne, type Op, type Store } from '../../ports/store.ts'

/** Time limit of one delivery. */
const TIMEOUT_MS = 15_000
/** Delays between attempts to deliver a message; after the last attempt the message counts as failed. */
const RETRY_DELAYS_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 10_800_000]
/** If a channel asks for a longer delay than this, the message counts as failed. */
const MAX_RETRY_DELAY_MS = 86_400_000
/** How long the process waits for running deliveries when it stops. */
const GRACE_MS = 3_000
const MAX_ERROR = 300

export interface DeliveryDeps {
  readonly store: Store
  readonly clock: Clock
  readonly channels: ReadonlyMap<string, Channel>
  log(level: 'info' | 'warn' | 'error', event: string, details: Readonly<Record<string, string | number | null>>): void
}

/** Contract: null if the channel accepted the message; otherwise the error. Never rejects; ends within TIMEOUT_MS. */
export async function tryDelivery(
  { clock, channels }: Pick<DeliveryDeps, 'clock' | 'channels'>,
  name: string,
  message: ChannelMessage,
  stop?: AbortSignal,
): Promise<TirelessError | null> {
  try {
    await withDeadline(
      { clock, ms: TIMEOUT_MS, stop },
      (signal) => deliverNow(channels, name, message, signal),
      () => {
        if (stop?.aborted) throw new TirelessError('aborted', 'the process is stopping')
        throw new TirelessError('channel_unavailable', `${name} did not answer within ${TIMEOUT_MS / 1000} s`)
      },
    )
    return null
  } catch (thrown) {
    return asTirelessError(thrown, 'channel_unavailable')
  }
}

async function deliverNow(
  channels: DeliveryDeps['channels'],
  name: string,
  message: ChannelMessage,
  signal: AbortSignal,
): Promise<void> {
  const channel = channels.get(name)
  const trouble = channel ? channel.trouble() : `unknown channel ${name}`
  if (!channel || trouble !== null) throw new TirelessError('channel_refused', trouble ?? '')
  const { id, chat_id, kind, text, ts } = message
  await channel.deliver({ id, chat_id, kind, text, ts }, signal)
}

/** Contract: the instant of the next attempt after this many failed attempts; null: no further attempt. */
export function retryAt(attempts: number, { retry, retryAfterMs }: TirelessError, now: number): number | null {
  const delay = RETRY_DELAYS_MS[attempts - 1]
  if (retry === 'never' || delay === undefined || (retryAfterMs ?? 0) > MAX_RETRY_DELAY_MS) return null
  return Math.ceil(now + Math.max(delay, retryAfterMs ?? 0))
}

interface DelivererDeps extends DeliveryDeps {
  /** Contract: an error that says why the message must not be sent; null if it may be sent. */
  refuse?(posted: OutboxMessage): Promise<TirelessError | null>
  /** Contract: whether what the message tells is over, so that it is not sent. */
  isOver?(posted: OutboxMessage): Promise<boolean>
}

export class Deliverer {
  readonly #deps: DelivererDeps
  /** The running deliveries, by name of the channel. */
  readonly #busy = new Map<string, Promise<void>>()
  #stop = new AbortController()
  #broken: unknown
  #completed = 0

  constructor(deps: DelivererDeps) {
    this.#deps = deps
  }

  /**
   * Contract: starts to deliver the first due message of every idle channel. Resolves with all running deliveries, but
   * does not wait for them; these never reject. Rejects if the store fails, or failed in an earlier delivery.
   */
  async begin(until = this.#deps.clock.now()): Promise<readonly Promise<void>[]> {
    let due: readonly OutboxMessage[]
    let completed: number
    // Reads the due messages again if a delivery ended meanwhile, so that its message is not sent twice.
    do {
      completed = this.#completed
      due = await this.#deps.store.dueMessages(until)
    } while (completed !== this.#completed)
    if (this.#broken !== undefined) throw this.#broken
    for (const posted of due) {
      const { channel } = posted
      if (this.#busy.has(channel)) continue
      const work = this.#deliver(posted)
        .catch((thrown) => {
          this.#broken = thrown
        })
        .finally(() => {
          this.#completed += 1
          this.#busy.delete(channel)
        })
      this.#busy.set(channel, work)
    }
    return [...this.#busy.values()]
  }

  /** Contract: tries to deliver each message that is due now once, until `stop` aborts; rejects if the store fails. */
  async deliverDue(stop: AbortSignal): Promise<void> {
    const stopped = untilAborted(stop)
    // After a failed attempt a message is due later than `until`, so the loop ends.
    const until = this.#deps.clock.now()
    while (!stop.aborted) {
      const running = await this.begin(until)
      if (running.length === 0) return
      await Promise.race([...running, stopped])
    }
    await this.finish()
  }

  /** Contract: waits a moment for running deliveries, then abandons them; their messages stay pending. */
  async finish(): Promise<void> {
    const running = Promise.all(this.#busy.values())
    await withDeadline({ clock: this.#deps.clock, ms: GRACE_MS }, () => running)
    this.#stop.abort()
    await running
    this.#stop = new AbortController()
  }

  async #deliver(posted: OutboxMessage): Promise<void> {
    const { store, clock, log } = this.#deps
    const { id, channel } = posted
    const { signal } = this.#stop
    if (this.#deps.isOver && (await this.#deps.isOver(posted))) {
      await commitOne(store, [{ op: 'retract', id }])
      return
    }
    const refused = this.#deps.refuse ? await this.#deps.refuse(posted) : null
    const failure = refused ?? (await tryDelivery(this.#deps, channel, posted, signal))
    if (failure?.code === 'aborted' && signal.aborted) return
    const attempts = posted.attempts + 1
    const now = clock.now()
    const retry_at = failure && retryAt(attempts, failure, now)
    const op: Op = failure
      ? { op: 'undelivered', id, error: clipText(failure.message, MAX_ERROR), retry_at }
      : { op: 'delivered', id, now }
    await commitOne(store, [op])
    if (failure)
      log(retry_at === null ? 'error' : 'warn', retry_at === null ? 'message failed' : 'message not delivered', {
        ...{ message_id: id, channel, attempts, message: failure.message },
      })
  }
}
