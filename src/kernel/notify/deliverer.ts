/**
 * Deliverer: sends the messages of the outbox to their channels, part by part: one at a time per channel, channels in
 * parallel.
 * Must not know: what messages say, who wrote them.
 * Invariants: I9 (a channel delays or breaks only itself); a part is recorded after it was accepted, so a crash repeats
 * at most one part per channel, under the same id; messages of a thread arrive in their order; every message ends as
 * sent or failed.
 */

import { clipText } from '../../domain/clean-summary.ts'
import type { TirelessError } from '../../domain/error.ts'
import type { ChannelMessage, MessageFile, OutboxMessage } from '../../domain/message.ts'
import type { Channel } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import { untilAborted, withDeadline } from '../../ports/deadline.ts'
import { commitOne, type Store } from '../../ports/store.ts'
import { explainFile, type FileProblem, planParts } from './message-parts.ts'
import { tryDelivery } from './try-delivery.ts'

/** Delays between attempts to deliver a message; after the last attempt the message counts as failed. */
const RETRY_DELAYS_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 10_800_000]
/** If a channel asks for a longer delay than this, the message counts as failed. */
const MAX_RETRY_DELAY_MS = 86_400_000
/** Pause after a rate limit of which the channel does not say how long it lasts. */
const LIMITED_DELAY_MS = 5_000
/** Rate limits do not count as attempts, but a message that is older than this counts as failed at the next one. */
const MAX_LIMITED_MS = 7 * 86_400_000
/** How long the process waits for running deliveries when it stops. */
const GRACE_MS = 3_000
const MAX_ERROR = 300

export interface DeliveryDeps {
  readonly store: Store
  readonly clock: Clock
  readonly channels: ReadonlyMap<string, Channel>
  log(level: 'info' | 'warn' | 'error', event: string, details: Readonly<Record<string, string | number | null>>): void
}

/** Contract: the instant of the next attempt after this many failed attempts; null: no further attempt. */
export function retryAt(attempts: number, { retry, retryAfterMs }: TirelessError, now: number): number | null {
  const delay = RETRY_DELAYS_MS[attempts - 1]
  if (retry === 'never' || delay === undefined || (retryAfterMs ?? 0) > MAX_RETRY_DELAY_MS) return null
  return Math.ceil(now + Math.max(delay, retryAfterMs ?? 0))
}

export interface DelivererDeps extends DeliveryDeps {
  /** Contract: an error that says why the message must not be sent; null if it may be sent. */
  refuse?(posted: OutboxMessage): Promise<TirelessError | null>
  /** Contract: why the file cannot be sent; null if it can. Never rejects. */
  checkFile?(file: MessageFile): Promise<FileProblem | null>
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
   * does not wait for them; these never reject. Rejects if the store fails, or failed in an earlier delivery. Starts
   * nothing after `stop` has aborted: the store may have answered late, and another process may deliver by now.
   */
  async begin(until = this.#deps.clock.now(), stop?: AbortSignal): Promise<readonly Promise<void>[]> {
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
      if (this.#busy.has(channel) || stop?.aborted) continue
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
      const running = await this.begin(until, stop)
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
    // On a shared store, a process whose record was refused because another one leads may lead again later.
    this.#broken = undefined
  }

  async #deliver(posted: OutboxMessage): Promise<void> {
    const { store, channels, refuse, isOver } = this.#deps
    const { id, channel: name, parts_sent } = posted
    if (parts_sent === 0 && isOver && (await isOver(posted))) {
      await commitOne(store, [{ op: 'retract', id }])
      return
    }
    const refused = refuse ? await refuse(posted) : null
    if (refused) return this.#recordFailure(posted, refused)
    const parts = planParts(posted, channels.get(name) ?? {})
    for (const [at, part] of parts.entries()) {
      if (at < parts_sent) continue
      if (this.#stop.signal.aborted) return
      const { error, provider_id } = await this.#deliverPart(posted, part)
      if (error?.code === 'aborted' && this.#stop.signal.aborted) return
      if (error) return this.#recordFailure(posted, error)
      // Only the first part can be replaced later.
      const accepted = at === 0 ? provider_id : null
      if (at + 1 < parts.length) await this.#recordPart(posted, at + 1, accepted)
      else await this.#recordSent(posted, accepted)
    }
    if (parts_sent >= parts.length) await this.#recordSent(posted, null)
  }

  async #deliverPart(posted: OutboxMessage, part: ChannelMessage): ReturnType<typeof tryDelivery> {
    const { checkFile } = this.#deps
    const problem = part.file && checkFile ? await checkFile(part.file) : null
    const sendable = problem === null ? part : explainFile(part, problem, posted.text)
    const send = (one: ChannelMessage) => tryDelivery(this.#deps, posted.channel, one, this.#stop.signal)
    const attempt = await send(sendable)
    const isFileRefused = sendable.file !== undefined && attempt.error?.code === 'channel_refused'
    return isFileRefused ? send(explainFile(part, 'refused', posted.text)) : attempt
  }

  async #recordPart({ id, revision }: OutboxMessage, parts: number, provider_id: string | null): Promise<void> {
    await commitOne(this.#deps.store, [{ op: 'part_sent', id, revision, parts, provider_id }])
  }

  async #recordSent({ id, revision, provider_id: known }: OutboxMessage, provider_id: string | null): Promise<void> {
    const { store, clock } = this.#deps
    // A process that was killed may have sent an earlier version under this id, and the receiver then ignored this one:
    // the message stays pending until this version has replaced whatever is there.
    const isSure = known !== null || provider_id === null || revision === 0
    const sent = isSure ? revision : revision - 1
    await commitOne(store, [{ op: 'delivered', id, now: clock.now(), revision: sent, provider_id }])
  }

  async #recordFailure(posted: OutboxMessage, failure: TirelessError): Promise<void> {
    const { store, clock, log } = this.#deps
    const { id, channel, revision } = posted
    const [now, error] = [clock.now(), clipText(failure.message, MAX_ERROR)]
    if (failure.code === 'channel_limited' && now - Date.parse(posted.ts) < MAX_LIMITED_MS) {
      const delay = Math.min(Math.max(failure.retryAfterMs ?? LIMITED_DELAY_MS, 1), MAX_RETRY_DELAY_MS)
      await commitOne(store, [{ op: 'postpone', id, error, retry_at: Math.ceil(now + delay) }])
      return
    }
    const attempts = posted.attempts + 1
    const retry_at = retryAt(attempts, failure, now)
    await commitOne(store, [{ op: 'undelivered', id, error, retry_at, revision }])
    log(retry_at === null ? 'error' : 'warn', retry_at === null ? 'message failed' : 'message not delivered', {
      ...{ message_id: id, channel, attempts, message: failure.message },
    })
  }
}
