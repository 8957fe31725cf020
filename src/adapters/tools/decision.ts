/** Shared parts of `wait` and `finish`: the model sees a tool, but the engine handles the call and never runs it. */

import { TirelessError } from '../../domain/error.ts'
import { OWN_WORDS } from '../../domain/trust.ts'
import type { Tool } from '../../ports/tool.ts'

export const decision: Pick<Tool<unknown>, 'effect' | 'gives' | 'run'> = {
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  gives: () => OWN_WORDS,
  run: async () => {
    throw new TirelessError('internal', 'this tool is a decision; the engine handles it')
  },
}
