/** read_skill: shows a skill that the owner has approved. Content that changed since the approval is not shown. */

import { z } from 'zod'
import { LABEL_OF_OWN_OUTPUT } from '../../domain/label.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import { READ_SKILL_TOOL } from '../../ports/skills.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'
import { asToolResult } from './tool-result.ts'

const args = z.strictObject({
  name: z.string(),
  file: z.string().optional(),
})

/** Contract of `read`: throws `not_found` if no approved skill has that name. */
export const readSkill = (
  read: (agentId: string, name: string, file: string | undefined) => Promise<string>,
): AnyTool =>
  defineToolWithText<z.infer<typeof args>>({
    name: READ_SKILL_TOOL,
    loadText: () => loadToolText('read_skill'),
    args,
    effect: () => ({ recovery: 'pure', reach: 'none' }),
    // The owner approved the content, and each read compares it with the approved digest.
    gives: () => LABEL_OF_OWN_OUTPUT,
    run: ({ name, file }, { origin }) =>
      asToolResult(async () => ({ status: 'ok', content: await read(origin.agent_id, name, file) })),
  })
