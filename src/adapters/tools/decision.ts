/** What `wait` and `finish` have in common: the model sees a tool, and nothing is ever run. */

import { TirelessError } from '../../domain/error.ts'
import type { Tool } from '../../ports/tool.ts'

export const decision: Pick<Tool<unknown>, 'effect' | 'run'> = {
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  run: async () => {
    throw new TirelessError('internal', 'this tool is a decision; the engine handles it')
  },
}
