/** recall: lists the agent's facts that share words with the query, one JSON line each, so none can fake another. */

import { z } from 'zod'
import type { Fact } from '../../domain/fact.ts'
import { CLEAN_LABEL, LABEL_OF_OWN_OUTPUT, type Label, lowestLabel } from '../../domain/label.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { Store } from '../../ports/store.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'

const MOST = 8

const args = z.strictObject({
  query: z.string().trim().min(1),
})

export const recall = (store: Store): AnyTool =>
  defineToolWithText<z.infer<typeof args>>({
    name: 'recall',
    loadText: () => loadToolText('recall'),
    args,
    effect: () => ({ recovery: 'pure', reach: 'none' }),
    gives: () => LABEL_OF_OWN_OUTPUT,
    async run({ query }, { origin, clock }) {
      const { agent_id } = origin
      const facts = await store.recallFacts({ agent_id, text: query, now: clock.borneOut(), limit: MOST })
      return {
        status: 'ok',
        content: facts.length === 0 ? 'no remembered fact matches' : facts.map(formatFact).join('\n'),
        facts: { label: { ...facts.map(labelOf).reduce(lowestLabel, CLEAN_LABEL) } },
      }
    },
  })

const labelOf = ({ trust, private: isPrivate }: Fact): Label => ({ trust, private: isPrivate })

const formatFact = ({ key, text, created_at }: Fact): string =>
  JSON.stringify({ key, text, written: created_at.slice(0, 10) })
