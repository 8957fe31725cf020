/** The states of channel connections, in whichever process they are kept. */

import type { z } from 'zod'
import { readChannelStates } from '../../kernel/channels/shared-states.ts'
import type { Needs } from './context.ts'
import { connectionSchema } from './output-schemas.ts'
import { hasLeader } from './workers.ts'

type State = z.output<typeof connectionSchema>

/** Contract: a function that gives the state of a channel's connection; null if the channel makes none. */
export async function connectionStates(
  context: Needs<'clock' | 'connections' | 'kernel' | 'kernelId' | 'store'>,
): Promise<(name: string) => State | null> {
  const { connections, kernel, store } = context
  const own = (name: string): State | null => connections.stateOf(name)
  if (!kernel.isElsewhere() || !(await hasLeader(context))) return own
  const shared = await readChannelStates(store)
  return (name) => {
    const parsed = connectionSchema.safeParse(shared[name])
    return parsed.success ? parsed.data : own(name)
  }
}
