/** Webhooks of channels: the channel verifies the sender; each message is handled once. */

import type { Context } from '../commands/command.ts'
import { heard } from '../commands/heard.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { Incoming, Received } from '../ports/channel.ts'

/**
 * Contract: resolves when the result is on disk, because a sender may retry after any other answer. Throws
 * `unauthorized` if the channel cannot verify the sender. `name`: of the channel.
 */
export async function hookReceived(
  context: Context,
  name: string,
  request: Omit<Incoming, 'now'>,
): Promise<{ readonly ok: true; readonly duplicate: boolean }> {
  const { heard: message, proof } = receive(context, name, { ...request, now: context.clock.now() })
  return { ok: true, ...(await heard(context, message, proof)) }
}

function receive({ channels }: Context, name: string, request: Incoming): Received {
  const channel = channels.get(name)
  if (!channel?.receive) throw new TirelessError('not_found', { what: 'no such webhook', got: name })
  try {
    return channel.receive(request)
  } catch (thrown) {
    const error = asTirelessError(thrown)
    if (['unauthorized', 'not_found', 'usage'].includes(error.code)) throw error
    // Do not show internal errors to an unverified sender.
    throw new TirelessError(
      'channel_unavailable',
      'the webhook is unavailable; its owner can see why: tireless channels list',
    )
  }
}
