/** forget: what is remembered under a key is gone for good. What was written after the call was intended is another matter, and stays. */

import { z } from 'zod'
import { OWN_WORDS } from '../../domain/trust.ts'
import { defineTool } from '../../ports/define-tool.ts'
import { commitOne, type Store } from '../../ports/store.ts'
import type { AnyTool } from '../../ports/tool.ts'

const args = z.strictObject({
  key: z.string().trim().min(1).describe('Its name, exactly.'),
})

export const forget = (store: Store): AnyTool =>
  defineTool<z.infer<typeof args>>({
    name: 'forget',
    description: 'Forgets what was remembered under a name.',
    args,
    effect: () => ({ recovery: 'idempotent', reach: 'none' }),
    gives: () => OWN_WORDS,
    async run({ key }, { origin, intendedAt }) {
      const { agent_id } = origin
      const [{ forgotten }] = await commitOne(store, [{ op: 'forget', agent_id, key, before: intendedAt }])
      return { status: 'ok', content: forgotten ? 'forgotten' : `nothing is remembered under ${JSON.stringify(key)}` }
    },
  })
