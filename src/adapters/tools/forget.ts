/** forget: deletes the fact under a key. If the fact was written after the call's intent was recorded, it stays. */

import { z } from 'zod'
import { LABEL_OF_OWN_OUTPUT } from '../../domain/label.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import { commitOne, type Store } from '../../ports/store.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'

const args = z.strictObject({
  key: z.string().trim().min(1),
})

export const forget = (store: Store): AnyTool =>
  defineToolWithText<z.infer<typeof args>>({
    name: 'forget',
    loadText: () => loadToolText('forget'),
    args,
    effect: () => ({ recovery: 'idempotent', reach: 'none' }),
    gives: () => LABEL_OF_OWN_OUTPUT,
    async run({ key }, { origin, intendedAt }) {
      const { agent_id } = origin
      const [{ forgotten }] = await commitOne(store, [{ op: 'forget', agent_id, key, before: intendedAt }])
      return { status: 'ok', content: forgotten ? 'forgotten' : `no fact has the key ${JSON.stringify(key)}` }
    },
  })
