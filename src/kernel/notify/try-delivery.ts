/**
 * One attempt to deliver one message, or one part of it, through a channel.
 * Must not know: the outbox, what messages say.
 * Invariants: I9 (it ends in time, whatever the channel does); what a channel returns is checked here.
 */

import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { ChannelMessage } from '../../domain/message.ts'
import type { Channel } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import { withDeadline } from '../../ports/deadline.ts'

/** Time limit of one delivery. */
const TIMEOUT_MS = 15_000
const FILE_TIMEOUT_MS = 120_000
const MAX_PROVIDER_ID = 500

interface TryDeps {
  readonly clock: Clock
  readonly channels: ReadonlyMap<string, Channel>
}

interface DeliveryAttempt {
  /** Null: the channel accepted the message. */
  readonly error: TirelessError | null
  /** The receiver's id of the message; null: it cannot be replaced. */
  readonly provider_id: string | null
}

/** Contract: never rejects; ends within the time limit. */
export async function tryDelivery(
  { clock, channels }: TryDeps,
  name: string,
  message: ChannelMessage,
  stop?: AbortSignal,
): Promise<DeliveryAttempt> {
  const ms = message.file ? FILE_TIMEOUT_MS : TIMEOUT_MS
  try {
    const returned = await withDeadline(
      { clock, ms, stop },
      (signal) => deliverNow(channels, name, message, signal),
      () => {
        if (stop?.aborted) throw new TirelessError('aborted', 'the process is stopping')
        throw new TirelessError('channel_unavailable', `${name} did not answer within ${ms / 1000} s`)
      },
    )
    return { error: null, provider_id: isProviderId(returned) ? returned : null }
  } catch (thrown) {
    return { error: asTirelessError(thrown, 'channel_unavailable'), provider_id: null }
  }
}

async function deliverNow(
  channels: TryDeps['channels'],
  name: string,
  message: ChannelMessage,
  signal: AbortSignal,
): Promise<unknown> {
  const channel = channels.get(name)
  if (!channel) throw new TirelessError('channel_refused', `unknown channel ${name}`)
  const trouble = channel.trouble()
  // Trouble may pass, for example when the owner corrects the configuration: the message is tried again.
  if (trouble !== null) throw new TirelessError('channel_unavailable', trouble)
  return channel.deliver(message, signal)
}

/** A channel may return anything. */
const isProviderId = (returned: unknown): returned is string =>
  typeof returned === 'string' && returned !== '' && returned.length <= MAX_PROVIDER_ID
