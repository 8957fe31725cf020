/** The model of residents: it does nothing, speaks, asks, or uses tools first, in both forms that they understand. */

import type { ModelAnswer } from '../../../src/domain/journal-record.ts'
import type { SessionState } from '../invariants/session.ts'
import type { World } from '../world.ts'
import type { MakeCall } from './talk-model.ts'

/** From this step of a look on, the model ends it. */
const LAST_STEP = 3
const USAGE = { input_tokens: 1, output_tokens: 1, cached_tokens: 0 }

/** Contract: undefined if the look uses tools first. */
export function drawLookReply(
  world: World,
  { run = '', steps }: SessionState,
  keys: readonly (string | number)[],
  call: MakeCall,
): ModelAnswer | undefined {
  const draw = (name: string): number => world.chance('look', name, ...keys)
  if (steps < LAST_STEP && draw('works') < 0.3) return undefined
  const kind = draw('action')
  const type = kind < 0.3 ? 'noop' : kind < 0.7 ? 'say' : 'query'
  const text = `${type} of ${run}`
  if (draw('form') < 0.4) {
    const answer = JSON.stringify({ thought: 'by the seed', action: { type, payload: text } })
    return { text: answer, calls: [], finish: 'stop', usage: USAGE }
  }
  const args = type === 'noop' ? { reason: text } : { text }
  return { text: '', calls: [call(type, args, 0)], finish: 'calls', usage: USAGE }
}
