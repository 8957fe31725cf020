/**
 * Deliverer: carries the outbox to its channels, one message of a channel at a time, each channel by itself.
 * Must not know: what messages say, who wrote them.
 * Invariants: I9 (no channel holds up or breaks anything but itself); a message is marked after it was taken, so a crash delivers again at
 * most the one that each channel had in hand, under the same id; every message comes to be sent or failed.
 */

import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { Message, Posted } from '../domain/message.ts'
import { clipped } from '../domain/summary.ts'
import type { Channel } from '../ports/channel.ts'
import type { Clock } from '../ports/clock.ts'
import { commitOne, type Op, type Store } from '../ports/store.ts'

/** How long one delivery may take. */
const WITHIN_MS = 15_000
/** Rests between tries; after the last one it is given up. */
const RESTS_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 10_800_000]
/** What a channel asks for beyond this is too late to be told at all. */
const LONGEST_REST_MS = 86_400_000
/** How long what is under way is waited for when the program ends. */
const GRACE_MS = 3_000
const MOST_OF_AN_ERROR = 300

export interface Carriage {
  readonly store: Store
  readonly clock: Clock
  readonly channels: ReadonlyMap<string, Channel>
  log(level: 'info' | 'warn' | 'error', event: string, details: Readonly<Record<string, string | number | null>>): void
}

/** Contract: null where it was taken; otherwise why not. Never rejects, and ends in time whatever the channel does. */
export async function attempt(
  { clock, channels }: Pick<Carriage, 'clock' | 'channels'>,
  name: string,
  message: Message,
  stop?: AbortSignal,
): Promise<TirelessError | null> {
  const over = new AbortController()
  const late = clock.sleep(WITHIN_MS, over.signal).then(() => {
    throw new TirelessError('channel_unavailable', `${name} did not answer within ${WITHIN_MS / 1000} s`)
  })
  const stopped = new Promise<never>((_, reject) => {
    const leave = (): void => reject(new TirelessError('aborted', 'the program ends'))
    if (stop?.aborted) leave()
    else stop?.addEventListener('abort', leave, { once: true, signal: over.signal })
  })
  try {
    await Promise.race([handed(channels, name, message, over.signal), late, stopped])
    return null
  } catch (thrown) {
    return asTirelessError(thrown, 'channel_unavailable')
  } finally {
    over.abort('over')
    late.catch(() => {})
  }
}

async function handed(
  channels: Carriage['channels'],
  name: string,
  message: Message,
  signal: AbortSignal,
): Promise<void> {
  const channel = channels.get(name)
  const trouble = channel ? channel.trouble() : `there is no channel ${name} here`
  if (!channel || trouble !== null) throw new TirelessError('channel_refused', trouble ?? '')
  const { id, chat_id, kind, text, ts } = message
  await channel.deliver({ id, chat_id, kind, text, ts }, signal)
}

/** Contract: when to try again after so many tries; null: never. */
export function retryAt(attempts: number, { retry, retryAfterMs }: TirelessError, now: number): number | null {
  const rest = RESTS_MS[attempts - 1]
  if (retry === 'never' || rest === undefined || (retryAfterMs ?? 0) > LONGEST_REST_MS) return null
  return Math.ceil(now + Math.max(rest, retryAfterMs ?? 0))
}

interface DelivererParts extends Carriage {
  /** Contract: why the message must not be sent; null where it may. */
  refuse?(posted: Posted): Promise<TirelessError | null>
}

export class Deliverer {
  readonly #carriage: DelivererParts
  /** By channel. */
  readonly #busy = new Map<string, Promise<void>>()
  #stop = new AbortController()
  #broken: unknown
  #carried = 0

  constructor(carriage: DelivererParts) {
    this.#carriage = carriage
  }

  /**
   * Contract: begins what is due on every channel that is free; resolves with what is under way, without waiting for it: none of that rejects.
   * Rejects where the store fails, or has failed since.
   */
  async begin(until = this.#carriage.clock.now()): Promise<readonly Promise<void>[]> {
    let due: readonly Posted[]
    let carried: number
    // What was delivered while it was looked for is not delivered again.
    do {
      carried = this.#carried
      due = await this.#carriage.store.dueMessages(until)
    } while (carried !== this.#carried)
    if (this.#broken !== undefined) throw this.#broken
    for (const posted of due) {
      const { channel } = posted
      if (this.#busy.has(channel)) continue
      const work = this.#carry(posted)
        .catch((thrown) => {
          this.#broken = thrown
        })
        .finally(() => {
          this.#carried += 1
          this.#busy.delete(channel)
        })
      this.#busy.set(channel, work)
    }
    return [...this.#busy.values()]
  }

  /** Contract: one try of everything that is due by now, unless it is told to stop. Rejects only where the store fails. */
  async all(stop: AbortSignal): Promise<void> {
    const stopped = aborted(stop)
    // What is tried and not taken is due after this, so it comes to an end.
    const until = this.#carriage.clock.now()
    while (!stop.aborted) {
      const under = await this.begin(until)
      if (under.length === 0) return
      await Promise.race([...under, stopped])
    }
    await this.leave()
  }

  /** Contract: waits a moment for what is under way, then leaves it: it stays to be delivered. */
  async leave(): Promise<void> {
    const over = new AbortController()
    const under = Promise.all(this.#busy.values())
    await Promise.race([under, this.#carriage.clock.sleep(GRACE_MS, over.signal)])
    over.abort('over')
    this.#stop.abort()
    await under
    this.#stop = new AbortController()
  }

  async #carry(posted: Posted): Promise<void> {
    const { store, clock, log } = this.#carriage
    const { id, channel } = posted
    const { signal } = this.#stop
    const refused = this.#carriage.refuse ? await this.#carriage.refuse(posted) : null
    const failure = refused ?? (await attempt(this.#carriage, channel, posted, signal))
    if (failure?.code === 'aborted' && signal.aborted) return
    const attempts = posted.attempts + 1
    const now = clock.now()
    const retry_at = failure && retryAt(attempts, failure, now)
    const op: Op = failure
      ? { op: 'undelivered', id, error: clipped(failure.message, MOST_OF_AN_ERROR), retry_at }
      : { op: 'delivered', id, now }
    await commitOne(store, [op])
    if (failure)
      log(retry_at === null ? 'error' : 'warn', retry_at === null ? 'message given up' : 'message not delivered', {
        ...{ message_id: id, channel, attempts, message: failure.message },
      })
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
