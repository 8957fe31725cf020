/** Whether what was ruled is still what was ruled. */

import { hash } from 'node:crypto'
import { z } from 'zod'
import { chained, GENESIS } from '../domain/audit.ts'
import type { Json } from '../domain/json.ts'
import { commitOne } from '../ports/store.ts'
import { type Context, command } from './command.ts'

/** An act of the owner by which something counts for more than before. Contract: on record when it resolves. */
export async function recordAct(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  what: string,
  details: Readonly<Record<string, Json>>,
): Promise<void> {
  await commitOne(store, [{ op: 'audit', entry: { ts: clock.now(), what, ...details } }])
}

const AT_ONCE = 1000

export const auditVerify = command({
  name: 'audit verify',
  summary: 'checks the chain of rulings, and names the first record that was changed, added or taken away',
  runsIn: 'any_process',
  input: z.object({}),
  output: z.object({
    ok: z.boolean(),
    records: z.number(),
    /** The hash of the last one: whoever keeps it elsewhere can tell that the whole chain is the same. */
    head: z.string(),
    broken: z.object({ record: z.number(), why: z.string() }).nullable(),
  }),
  async run({ store }) {
    let before = GENESIS
    let records = 0
    const broken = (why: string) => ({ ok: false, records, head: before, broken: { record: records + 1, why } })
    for (;;) {
      const { links, last } = await store.audit(records + 1, { limit: AT_ONCE })
      for (const link of links) {
        if (link.n !== records + 1) return broken('it is missing')
        if (link.hash !== hash('sha256', chained(before, link.body)))
          return broken('it was changed, or one before it was')
        before = link.hash
        records += 1
      }
      if (links.length > 0) continue
      return records < last
        ? broken(`it is missing, and so are all after it, up to ${last}`)
        : { ok: true, records, head: before, broken: null }
    }
  },
  exit: ({ ok }) => (ok ? 0 : 1),
})
