/** read_skill: how something is done here, as the owner has approved it. What is not as it was approved is not shown. */

import { z } from 'zod'
import { OWN_WORDS } from '../../domain/trust.ts'
import { defineTool } from '../../ports/define-tool.ts'
import { READ_SKILL } from '../../ports/skills.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { told } from './result.ts'

const args = z.strictObject({
  name: z.string().describe('One of the skills.'),
  file: z.string().optional().describe('Another file of it; default: SKILL.md.'),
})

/** Contract of `read`: throws `not_found` where there is none that is approved. */
export const readSkill = (
  read: (agentId: string, name: string, file: string | undefined) => Promise<string>,
): AnyTool =>
  defineTool<z.infer<typeof args>>({
    name: READ_SKILL,
    description: 'Shows how something is done: a skill, or a file that belongs to it.',
    args,
    effect: () => ({ recovery: 'pure', reach: 'none' }),
    // Approved and pinned by the owner, and looked at again when it is read.
    gives: () => OWN_WORDS,
    run: ({ name, file }, { origin }) =>
      told(async () => ({ status: 'ok', content: await read(origin.agent_id, name, file) })),
  })
