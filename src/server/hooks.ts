/** What other programs send over HTTP to a channel: the channel itself makes sure of who they are; what they say is acted on once. */

import type { Context } from '../commands/command.ts'
import { heard } from '../commands/heard.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { Incoming, Received } from '../ports/channel.ts'

/**
 * Contract: resolves after what came of it is on disk: whoever is answered otherwise may send it again. `unauthorized` where it does not prove
 * itself. `name`: of the channel.
 */
export async function hookReceived(
  context: Context,
  name: string,
  request: Omit<Incoming, 'now'>,
): Promise<{ readonly ok: true; readonly duplicate: boolean }> {
  const { heard: word, proof } = received(context, name, { ...request, now: context.clock.now() })
  return { ok: true, ...(await heard(context, word, proof)) }
}

function received({ channels }: Context, name: string, request: Incoming): Received {
  const channel = channels.get(name)
  if (!channel?.receive) throw new TirelessError('not_found', { what: 'there is no such hook', got: name })
  try {
    return channel.receive(request)
  } catch (thrown) {
    const error = asTirelessError(thrown)
    if (['unauthorized', 'not_found', 'usage'].includes(error.code)) throw error
    // What is wrong in here is no business of somebody who has proved nothing.
    throw new TirelessError('channel_unavailable', 'the hook cannot be used now; its owner can see why: channels list')
  }
}
