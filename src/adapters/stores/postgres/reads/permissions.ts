/** Reads approvals, grants, labels, unknown outcomes and the audit log from PostgreSQL. */

import type { PermissionReads } from '../../../../ports/store/permissions.ts'
import { auditLinkFromRow, labelFromRow } from '../../rows/message-rows.ts'
import { APPROVAL_COLUMNS, approvalFromRow, grantFromRow, UNKNOWN_COLUMNS, unknownFromRow } from '../../rows/rows.ts'
import { toInstant } from '../retention.ts'
import { conditionsFor, type PgRowReader } from './row-reader.ts'

/** The value 'open' is written into the SQL text, so that the partial index of open rows is used. */
const statusIs = (column: string, status: string | undefined) =>
  status === 'open' ? ([`${column} = 'open'`, true] as const) : ([`${column} = ?`, status] as const)

export function pgPermissionReads({ all, readAll, readOne, readPage }: PgRowReader): PermissionReads {
  return {
    async unknowns({ session_id, status }) {
      const { text, values } = conditionsFor(['s.session_id = ?', session_id], statusIs('u.status', status))
      const found = await readAll('unknowns', `SELECT ${UNKNOWN_COLUMNS} WHERE ${text} ORDER BY u.n`, ...values)
      return found.map(unknownFromRow)
    },
    async approval(id) {
      const row = await readOne('approvals', `SELECT ${APPROVAL_COLUMNS} WHERE a.id = $1`, id)
      return row && approvalFromRow(row)
    },
    async approvals({ session_id, status, limit }) {
      const { text, values } = conditionsFor(['s.session_id = ?', session_id], statusIs('a.status', status))
      const list = `SELECT ${APPROVAL_COLUMNS} WHERE ${text} ORDER BY (a.status = 'open') DESC, a.n DESC`
      return (await readPage('approvals', list, values, { limit })).map(approvalFromRow)
    },
    async grants({ tool, now }) {
      const { text, values } = conditionsFor(
        ['tool = ?', tool],
        ['expires_at IS NULL OR expires_at > ?', toInstant(now)],
      )
      return (await readAll('grants', `SELECT * FROM grants WHERE ${text} ORDER BY n`, ...values)).map(grantFromRow)
    },
    async label(of) {
      return (await all('SELECT * FROM labels WHERE "of" = $1', of)).map(labelFromRow)[0]
    },
    async labels(prefix) {
      const found = await all('SELECT * FROM labels WHERE starts_with("of", $1) ORDER BY "of"', prefix)
      return found.map((row) => ({ of: String(row.of), label: labelFromRow(row) }))
    },
    async audit(from, { limit }) {
      const [head, links] = await Promise.all([
        all('SELECT n FROM audit_head'),
        all('SELECT * FROM audit WHERE n >= $1 ORDER BY n LIMIT $2', from, limit),
      ])
      return { links: links.map(auditLinkFromRow), last: Number(head[0]?.n ?? 0) }
    },
  }
}
