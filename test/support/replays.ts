/** Replays runs, with a tool that counts. */

import { z } from 'zod'
import type { CommandOutput } from '../../src/commands/lib/registry.ts'
import { TirelessError } from '../../src/domain/error.ts'
import { defineTool } from '../../src/ports/define-tool.ts'

export type ReplayOutput = CommandOutput<'replay'>

/** Counts its runs: a replay must not run it. */
export function countingTool(): ReturnType<typeof defineTool> & { runs: number } {
  const counted = { runs: 0 }
  const tool = defineTool({
    name: 'count',
    description: 'counts',
    args: z.strictObject({ n: z.number() }),
    effect: () => ({ recovery: 'once', reach: 'third_party' }),
    gives: () => ({ trust: 'trusted', private: false }),
    async run({ n }) {
      counted.runs += 1
      if (n === 13) throw new TirelessError('tool_failed', 'unlucky')
      return { status: 'ok', content: `${n}, the ${counted.runs}. time` }
    },
  })
  return Object.assign(counted, tool)
}

export const calls = (...numbers: number[]) => ({ calls: numbers.map((n) => ({ tool: 'count', args: { n } })) })
