/** Asks a channel whether it can be reached with its keys, without sending anything to a person. */

import { TirelessError } from '../../domain/error.ts'
import { withDeadline } from '../../ports/deadline.ts'
import type { Needs } from './context.ts'

const PROBE_MS = 15_000

/** Contract: what answered; null if the channel cannot be asked. Rejects with an error that says what to do. */
export async function probeChannel(
  { channels, clock }: Needs<'channels' | 'clock'>,
  name: string,
): Promise<string | null> {
  const channel = channels.get(name)
  const trouble = channel ? channel.trouble() : 'no such channel'
  if (trouble !== null) throw new TirelessError('channel_refused', String(trouble))
  if (!channel?.probe) return null
  const answered: unknown = await withDeadline(
    { clock, ms: PROBE_MS },
    async (signal) => channel.probe?.(signal),
    () => {
      throw new TirelessError('channel_unavailable', `${name} did not answer within ${PROBE_MS / 1000} s`)
    },
  )
  return typeof answered === 'string' ? answered : null
}
