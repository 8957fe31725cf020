/** Operations on grants, labels and the audit log in PostgreSQL. */

import { linkHash } from '../../../ports/audit.ts'
import type { Op, OpResults } from '../../../ports/store.ts'
import { type ApplyPgOp, type OpContext, sendLast } from './op-context.ts'

const grant: ApplyPgOp<'grant'> = async (db, { grant: added }) => {
  await db.run(
    `INSERT INTO grants (id, tool, agent_id, session_id, "to", args, granted_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING`,
    ...[added.id, added.tool, added.agent_id, added.session_id, JSON.stringify(added.to), added.args],
    ...[Date.parse(added.granted_at), added.expires_at === null ? null : Date.parse(added.expires_at)],
  )
  return null
}

const revoke: ApplyPgOp<'revoke'> = async (db, { id }) => ({
  revoked: (await db.run('DELETE FROM grants WHERE id = $1', id)) > 0,
})

const label: ApplyPgOp<'label'> = async (db, { of, label: lower }) => {
  if (lower === null) await db.run('DELETE FROM labels WHERE "of" = $1', of)
  else
    await db.run(
      `INSERT INTO labels AS l ("of", trust, private) VALUES ($1, $2, $3) ON CONFLICT ("of") DO UPDATE SET
         trust = CASE WHEN excluded.trust = 'untrusted' THEN excluded.trust ELSE l.trust END,
         private = greatest(l.private, excluded.private)`,
      ...[of, lower.trust, lower.private ? 1 : 0],
    )
  return null
}

/** Contract: the results in order, as in the port. Its last statement is returned as `written`. */
export async function appendAudits(
  db: OpContext,
  ops: readonly AuditOp[],
): Promise<{ readonly results: readonly OpResults['audit'][]; readonly written: Promise<unknown> }> {
  // The head is one row, and locked: the entries of all processes are one chain.
  const head = await db.get('SELECT n, hash FROM audit_head FOR UPDATE')
  let [last, before] = [Number(head?.n), String(head?.hash)]
  const key = db.auditKey()
  const bodies = ops.map(({ entry }) => JSON.stringify(entry))
  const results = bodies.map((body) => {
    const link = { n: last + 1, before, hash: linkHash(before, body, key) }
    ;[last, before] = [link.n, link.hash]
    return link
  })
  const appended = db.run(
    `WITH added AS (INSERT INTO audit (n, body, hash) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]))
     UPDATE audit_head SET n = $4, hash = $5`,
    ...[results.map(({ n }) => n), bodies, results.map(({ hash }) => hash), last, before],
  )
  return { results, written: sendLast(appended) }
}

export type AuditOp = Extract<Op, { op: 'audit' }>

const audit: ApplyPgOp<'audit'> = async (db, op) => {
  const { results, written } = await appendAudits(db, [op])
  await written
  return results[0] as OpResults['audit']
}

export const permissionOps = { grant, revoke, label, audit }
