/** Shared parts of `wait` and `finish`: the model sees a tool, but the engine handles the call and never runs it. */

import { TirelessError } from '../../domain/error.ts'
import { LABEL_OF_OWN_OUTPUT } from '../../domain/label.ts'
import type { Tool } from '../../ports/tool.ts'

export const decisionTool: Pick<Tool<unknown>, 'effect' | 'gives' | 'run'> = {
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  gives: () => LABEL_OF_OWN_OUTPUT,
  run: async () => {
    throw new TirelessError('internal', 'this tool is a decision; the engine handles it')
  },
}
