/** Table operations on grants, labels and the audit log. */

import { GENESIS_HASH } from '../../../domain/audit.ts'
import { linkHash } from '../../../ports/audit.ts'
import type { ApplyOp } from './op-context.ts'

export const insertGrant: ApplyOp<'grant'> = (sql, { grant }) => {
  sql(
    `INSERT INTO grants (id, tool, agent_id, session_id, "to", args, granted_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
  ).run(
    grant.id,
    grant.tool,
    grant.agent_id,
    grant.session_id,
    JSON.stringify(grant.to),
    grant.args,
    Date.parse(grant.granted_at),
    grant.expires_at === null ? null : Date.parse(grant.expires_at),
  )
  return null
}

export const deleteGrant: ApplyOp<'revoke'> = (sql, { id }) => ({
  revoked: Number(sql('DELETE FROM grants WHERE id = ?').run(id).changes) > 0,
})

export const writeLabel: ApplyOp<'label'> = (sql, { of, label }) => {
  if (label === null) sql('DELETE FROM labels WHERE "of" = ?').run(of)
  else
    sql(
      `INSERT INTO labels VALUES (?, ?, ?) ON CONFLICT ("of") DO UPDATE SET
         trust = CASE WHEN excluded.trust = 'untrusted' THEN excluded.trust ELSE trust END, private = max(private,
           excluded.private)`,
    ).run(of, label.trust, label.private ? 1 : 0)
  return null
}

/** `key`: returns the key with which new records are hashed; undefined if there is no key. */
export function appendAuditWith(key: () => string | undefined): ApplyOp<'audit'> {
  return (sql, { entry }) => {
    const last = sql('SELECT hash FROM audit ORDER BY n DESC LIMIT 1').get()
    const before = last ? String(last.hash) : GENESIS_HASH
    const body = JSON.stringify(entry)
    const hash = linkHash(before, body, key())
    const { lastInsertRowid } = sql('INSERT INTO audit (body, hash) VALUES (?, ?)').run(body, hash)
    return { n: Number(lastInsertRowid), before, hash }
  }
}
