/** remember: stores a fact for later sessions. The fact gets the session's label (trust, private). */

import { z } from 'zod'
import { parseInstant } from '../../domain/duration.ts'
import { MAX_FACT_KEY, MAX_FACT_TEXT } from '../../domain/fact.ts'
import { LABEL_OF_OWN_OUTPUT } from '../../domain/label.ts'
import { EXPECTED_INSTANT } from '../../domain/limits.ts'
import { iso } from '../../ports/clock.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import { commitOne, type Store } from '../../ports/store.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'
import { toolError } from './tool-result.ts'

const args = z.strictObject({
  key: z.string().trim().min(1).max(MAX_FACT_KEY),
  text: z.string().trim().min(1).max(MAX_FACT_TEXT),
  until: z.string().min(1).optional(),
})

export const remember = (store: Store): AnyTool =>
  defineToolWithText<z.infer<typeof args>>({
    name: 'remember',
    loadText: () => loadToolText('remember'),
    args,
    effect: () => ({ recovery: 'idempotent', reach: 'none' }),
    gives: () => LABEL_OF_OWN_OUTPUT,
    async run({ key, text, until }, { call, origin, intendedAt, clock, label }) {
      const expires = until === undefined ? null : parseInstant(until, intendedAt)
      if (expires === undefined) return toolError(`until: got ${JSON.stringify(until)}; expected ${EXPECTED_INSTANT}`)
      const fact = {
        ...origin,
        id: call,
        key,
        text,
        ...label,
        created_at: iso(intendedAt),
        expires_at: expires === null ? null : iso(expires),
      } as const
      const [{ superseded, dropped }] = await commitOne(store, [{ op: 'remember', fact, now: clock.borneOut() }])
      const said = superseded ? 'remembered; replaced the earlier fact' : 'remembered'
      const room = dropped.map((gone) => JSON.stringify(gone)).join(', ')
      return {
        status: 'ok',
        content: room === '' ? said : `${said}; memory was full, so the oldest facts were dropped: ${room}`,
      }
    },
  })
