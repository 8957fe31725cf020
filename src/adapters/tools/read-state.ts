/** read_state: shows the current STATE.md without the runtime block. */

import { z } from 'zod'
import { LABEL_OF_OWN_OUTPUT } from '../../domain/label.ts'
import { textOutsideBlock } from '../../domain/runtime-block.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { Documents } from '../../ports/documents.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'

export const readState = (documents: Documents): AnyTool =>
  defineToolWithText({
    name: 'read_state',
    loadText: () => loadToolText('read_state'),
    args: z.strictObject({}),
    effect: () => ({ recovery: 'pure', reach: 'none' }),
    gives: () => LABEL_OF_OWN_OUTPUT,
    async run() {
      const text = textOutsideBlock((await documents.read('STATE.md'))?.text ?? '')
      const label = await documents.label('STATE.md')
      return {
        status: 'ok',
        content: text.trim() === '' ? '[STATE.md is empty]' : text,
        facts: { label: { ...label } },
      }
    },
  })
