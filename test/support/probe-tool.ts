/** A tool that counts its runs, and steps of a scripted model. */

import { z } from 'zod'
import { defineTool } from '../../src/ports/define-tool.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import type { ScriptedStep } from '../../src/testing/scripted-model.ts'

export const write = (path: string, content = 'x'): ScriptedStep => ({
  calls: [{ tool: 'create_file', args: { path, content } }],
})

export const final = (text = 'all done'): ScriptedStep => ({ text })

/** A tool that runs the given function and counts its runs. */
export function probeTool(run: () => unknown = () => {}, name = 'poke'): AnyTool & { runs: number } {
  const counted = { runs: 0 }
  const tool = defineTool({
    name,
    description: 'for tests',
    args: z.strictObject({}),
    effect: () => ({ recovery: 'once', reach: 'workspace' }),
    async run() {
      counted.runs += 1
      await run()
      return { status: 'ok', content: `poked, number ${counted.runs}` }
    },
  })
  return Object.assign(counted, tool)
}
