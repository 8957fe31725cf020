/** remember: stores a fact for later sessions. The fact gets the session's label (trust, private). */

import { z } from 'zod'
import { parseInstant } from '../../domain/duration.ts'
import { MOST_KEY, MOST_TEXT } from '../../domain/fact.ts'
import { EXPECTED_INSTANT } from '../../domain/limits.ts'
import { OWN_WORDS } from '../../domain/trust.ts'
import { iso } from '../../ports/clock.ts'
import { defineTool } from '../../ports/define-tool.ts'
import { commitOne, type Store } from '../../ports/store.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { failed } from './result.ts'

const args = z.strictObject({
  key: z.string().trim().min(1).max(MOST_KEY).describe('A short name; a fact with the same key is replaced.'),
  text: z.string().trim().min(1).max(MOST_TEXT).describe('The fact; understandable without context.'),
  until: z.string().min(1).optional().describe('Expires: an ISO time, or a duration such as 30d.'),
})

export const remember = (store: Store): AnyTool =>
  defineTool<z.infer<typeof args>>({
    name: 'remember',
    description: 'Stores a fact for later sessions.',
    args,
    effect: () => ({ recovery: 'idempotent', reach: 'none' }),
    gives: () => OWN_WORDS,
    async run({ key, text, until }, { call, origin, intendedAt, clock, label }) {
      const expires = until === undefined ? null : parseInstant(until, intendedAt)
      if (expires === undefined) return failed(`until: got ${JSON.stringify(until)}; expected ${EXPECTED_INSTANT}`)
      const fact = {
        ...origin,
        id: call,
        key,
        text,
        ...label,
        created_at: iso(intendedAt),
        expires_at: expires === null ? null : iso(expires),
      } as const
      const [{ superseded, dropped }] = await commitOne(store, [{ op: 'remember', fact, now: clock.now() }])
      const said = superseded ? 'remembered; replaced the earlier fact' : 'remembered'
      const room = dropped.map((gone) => JSON.stringify(gone)).join(', ')
      return {
        status: 'ok',
        content: room === '' ? said : `${said}; memory was full, so the oldest facts were dropped: ${room}`,
      }
    },
  })
