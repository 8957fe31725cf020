/** Webhooks of channels and sources, which verify the sender; each message is handled once. */

import { handleChatMessage } from '../commands/lib/chat-commands.ts'
import type { CommandContext, Needs } from '../commands/lib/context.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import type { AnsweredRequest, IncomingRequest, ReceivedMessage } from '../ports/channel.ts'
import { checkChatMessage } from '../ports/check-chat-message.ts'
import { httpError } from './error-response.ts'

/**
 * Contract: resolves when the result is on disk, so that the sender repeats a message only if its result may be lost.
 * Throws `unauthorized` if the sender cannot be verified. `name`: name of the channel or source.
 */
export async function receiveWebhook(
  context: CommandContext,
  name: string,
  sent: Omit<IncomingRequest, 'now'>,
  isSource: boolean,
): Promise<Json> {
  const request = { ...sent, now: context.clock.now() }
  if (isSource) return { ok: true, ...(await context.sources.receive(name, request)) }
  const received = receive(context, name, request)
  if (received.message === undefined) return received.answer ?? null
  const message = checkChatMessage(name, received.message)
  const { duplicate } = await handleChatMessage(context, message, String(received.proof))
  return received.answer ?? { ok: true, duplicate }
}

function receive(
  { channels }: Needs<'channels'>,
  name: string,
  request: IncomingRequest,
): ReceivedMessage | AnsweredRequest {
  const channel = channels.get(name)
  if (!channel?.receive) throw new TirelessError('not_found', { what: 'no such webhook', got: name })
  try {
    return channel.receive(request) ?? { answer: null }
  } catch (thrown) {
    const error = asTirelessError(thrown)
    if (['unauthorized', 'not_found', 'usage'].includes(error.code)) throw error
    if (error.code === 'request_oversize') throw httpError(413, error.parts)
    // An unverified sender must not see internal errors.
    throw new TirelessError(
      'channel_unavailable',
      'the webhook is unavailable; its owner can see why: tireless channels list',
    )
  }
}
