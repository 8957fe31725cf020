/**
 * Opens the memory of a run and gives it the turns so far.
 * Must not know: what the memory does with them.
 */

import { TirelessError } from '../../domain/error.ts'
import type { Clock } from '../../ports/clock.ts'
import { withDeadline } from '../../ports/deadline.ts'
import type { Memory, MemoryKind, PastTurn } from '../../ports/memory.ts'
import { callPluginAsync, invalidReturnError } from '../plugins/ask-plugin.ts'
import { copyPastTurn } from '../session/memory-view.ts'

const MEMORY_METHODS = ['reset', 'append', 'retrieve', 'evict'] as const satisfies readonly (keyof Memory)[]

/** Time limit for opening a memory and giving it all turns. */
const OPEN_MS = 60_000

/** Contract: throws `plugin_failed` after a minute. */
export function openMemory(kind: MemoryKind, past: readonly PastTurn[], clock: Clock): Promise<Memory> {
  const who = `memory ${kind.name}`
  return withDeadline(
    { clock, ms: OPEN_MS },
    () => openAndFill(who, kind, past),
    (): never => {
      throw new TirelessError('plugin_failed', `${who} was not ready within ${OPEN_MS / 1000} seconds`)
    },
  )
}

async function openAndFill(who: string, kind: MemoryKind, past: readonly PastTurn[]): Promise<Memory> {
  const memory = (await callPluginAsync({ who, method: 'open' }, () => kind.open())) as Memory
  const missing = MEMORY_METHODS.find((name) => typeof memory?.[name] !== 'function')
  if (missing !== undefined)
    throw invalidReturnError({ who, method: 'open', expected: `an object with ${MEMORY_METHODS.join(', ')}` }, memory)
  await callPluginAsync({ who, method: 'reset' }, () => memory.reset())
  for (const turn of past) await callPluginAsync({ who, method: 'append' }, () => memory.append(copyPastTurn(turn)))
  return memory
}
