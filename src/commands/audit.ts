/** Verifies the audit log, and adds the owner's actions to it. */

import { z } from 'zod'
import { type AuditLink, GENESIS_HASH } from '../domain/audit.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { type AuditHead, type AuditKey, isKeyed, verifyLink } from '../ports/audit.ts'
import { commitOne, isSharedStore } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'

/**
 * Adds an action of the owner that raises trust to the audit log. Call it after the action.
 * Contract: the record is on disk when it resolves; else the error says that the action itself is done.
 */
export async function auditOwnerAction(
  { store, clock }: Needs<'store' | 'clock'>,
  what: string,
  details: Readonly<Record<string, Json>>,
): Promise<void> {
  try {
    await commitOne(store, [{ op: 'audit', entry: { ts: clock.now(), what, ...details } }])
  } catch (thrown) {
    const { code, parts } = asTirelessError(thrown)
    const done = 'the change is made and in effect, but not in the audit log'
    throw new TirelessError(code, { ...parts, what: `${done}: ${parts.what}` }, { cause: thrown })
  }
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
    by_other_homes: z
      .number()
      .describe('records of other homes on the same store: their place is verified here, their keys only there'),
    broken: z.object({ record: z.number(), why: z.string() }).nullable(),
  }),
  async run({ store, auditSeal }) {
    const seal = { key: auditSeal.key(), head: auditSeal.head(), isShared: isSharedStore(store) }
    const keyed_since = seal.key?.since ?? null
    let before = GENESIS_HASH
    let [records, by_other_homes] = [0, 0]
    const broken = (why: string) => ({
      ...{ ok: false, records, head: before, keyed_since, by_other_homes },
      broken: { record: records + 1, why },
    })
    for (;;) {
      const { links, last } = await store.audit(records + 1, { limit: LINKS_PER_READ })
      for (const link of links) {
        const found = link.n === records + 1 ? judgeLink(link, before, seal) : { fault: 'the record is missing' }
        if (found.fault !== undefined) return broken(found.fault)
        if (found.isOther) by_other_homes += 1
        before = link.hash
        records += 1
      }
      if (links.length > 0) continue
      const written = Math.max(last, seal.head?.n ?? 0)
      if (records < written) return broken(`this record and all later ones, up to ${written}, are missing`)
      if (!seal.key) return broken(KEY_MISSING)
      if (!seal.head)
        return broken(`audit.head is missing, so records may have been removed from the end; ${RESTORE_FILE}`)
      return { ok: true, records, head: before, keyed_since, by_other_homes, broken: null }
    }
  },
  exitCode: ({ ok }) => (ok ? 0 : 1),
})

const RESTORE_FILE = 'do this: restore the file from a backup, or let the next start create a new one'
const KEY_MISSING = `the key file audit.key is missing; ${RESTORE_FILE}, which cannot verify earlier records`

interface LoadedSeal {
  readonly key: AuditKey | null
  readonly head: AuditHead | null
  /** Whether other homes write to the same store. */
  readonly isShared: boolean
}

type Judged =
  | { readonly fault: string; readonly isOther?: never }
  | { readonly fault?: never; readonly isOther: boolean }

/** Contract: pure; what is wrong with a record, or whether another home made it. */
function judgeLink(link: AuditLink, before: string, { key, head, isShared }: LoadedSeal): Judged {
  const state = verifyLink(link, before, key?.key)
  const isOwnTime = key !== null && link.n >= key.since
  const isOther = state === 'other' || (state === 'old' && !isOwnTime)
  const mayBeOther = isShared || link.n <= (key?.shared_until ?? 0)
  if (isOther && !key) return { fault: KEY_MISSING }
  if (isOther && !mayBeOther)
    return { fault: 'the record was made with another key than audit.key, so it cannot be verified' }
  if (state === 'changed' || (state === 'old' && isOwnTime) || (isOwnTime && !isKeyed(link.hash)))
    return { fault: 'this record or an earlier one was changed' }
  return head?.n === link.n && head.hash !== link.hash
    ? { fault: 'this record or an earlier one is not the one that was written' }
    : { isOther }
}
