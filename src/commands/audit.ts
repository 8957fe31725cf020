/** Verifies the audit log, and adds the owner's actions to it. */

import { z } from 'zod'
import { type AuditLink, GENESIS_HASH } from '../domain/audit.ts'
import type { Json } from '../domain/json.ts'
import { type AuditHead, type AuditKey, isKeyed, linkHash } from '../ports/audit.ts'
import { commitOne } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'

/** Adds an action of the owner that raises trust to the audit log. Contract: the record is on disk when it resolves. */
export async function auditOwnerAction(
  { store, clock }: Needs<'store' | 'clock'>,
  what: string,
  details: Readonly<Record<string, Json>>,
): Promise<void> {
  await commitOne(store, [{ op: 'audit', entry: { ts: clock.now(), what, ...details } }])
}

const LINKS_PER_READ = 1000

export const auditVerify = defineCommand({
  name: 'audit verify',
  summary: 'verify the audit log; reports the first record that was changed, added or removed',
  example: 'audit verify',
  runsIn: 'any_process',
  needs: ['auditSeal', 'store'],
  input: z.object({}),
  output: z.object({
    ok: z.boolean(),
    records: z.number(),
    /** Hash of the last record. Keep a copy elsewhere to prove later that the log is unchanged. */
    head: z.string(),
    keyed_since: z
      .number()
      .nullable()
      .describe('first record made with the key of this home; null if the key is missing'),
    broken: z.object({ record: z.number(), why: z.string() }).nullable(),
  }),
  async run({ store, auditSeal }) {
    const key = auditSeal.key()
    const expected = auditSeal.head()
    const keyed_since = key?.since ?? null
    let before = GENESIS_HASH
    let records = 0
    const broken = (why: string) => ({
      ...{ ok: false, records, head: before, keyed_since },
      broken: { record: records + 1, why },
    })
    for (;;) {
      const { links, last } = await store.audit(records + 1, { limit: LINKS_PER_READ })
      for (const link of links) {
        const why = link.n === records + 1 ? describeFault(link, before, key, expected) : 'the record is missing'
        if (why !== undefined) return broken(why)
        before = link.hash
        records += 1
      }
      if (links.length > 0) continue
      const written = Math.max(last, expected?.n ?? 0)
      if (records < written) return broken(`this record and all later ones, up to ${written}, are missing`)
      if (!key) return broken(KEY_MISSING)
      if (!expected)
        return broken(`audit.head is missing, so records may have been removed from the end; ${RESTORE_FILE}`)
      return { ok: true, records, head: before, keyed_since, broken: null }
    }
  },
  exitCode: ({ ok }) => (ok ? 0 : 1),
})

const RESTORE_FILE = 'do this: restore the file from a backup, or let the next start create a new one'
const KEY_MISSING = `the key file audit.key is missing; ${RESTORE_FILE}, which cannot verify earlier records`

/** Contract: pure; describes what is wrong with a record; undefined if it is intact. */
function describeFault(
  link: AuditLink,
  before: string,
  key: AuditKey | null,
  expected: AuditHead | null,
): string | undefined {
  const mustBeKeyed = key !== null && link.n >= key.since
  if (isKeyed(link.hash) && !mustBeKeyed)
    return key ? 'the record was made with another key than audit.key, so it cannot be verified' : KEY_MISSING
  if (link.hash !== linkHash(before, link.body, mustBeKeyed ? key.key : undefined))
    return 'this record or an earlier one was changed'
  return expected?.n === link.n && expected.hash !== link.hash
    ? 'this record or an earlier one is not the one that was written'
    : undefined
}
