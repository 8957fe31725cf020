/** Reads approvals, grants, labels, unknown outcomes and the audit log. */

import type { PermissionReads } from '../../../../ports/store/permissions.ts'
import { auditLinkFromRow, labelFromRow } from '../../rows/message-rows.ts'
import { APPROVAL_COLUMNS, approvalFromRow, grantFromRow, UNKNOWN_COLUMNS, unknownFromRow } from '../../rows/rows.ts'
import { readableCondition } from '../readable-functions.ts'
import type { RowReader } from './row-reader.ts'

interface Condition {
  readonly text: string
  readonly values: readonly string[]
}

/** The value 'open' is written into the SQL text, because SQLite then uses the partial index of open rows. */
function equals(column: string, value: string | undefined): Condition {
  if (value === undefined) return { text: '', values: [] }
  return value === 'open' ? { text: `${column} = 'open'`, values: [] } : { text: `${column} = ?`, values: [value] }
}

function joinConditions(a: Condition, b: Condition, always: string): Condition {
  const texts = [a.text, b.text, always].filter((text) => text !== '')
  return { text: `WHERE ${texts.join(' AND ')}`, values: [...a.values, ...b.values] }
}

export function permissionReads({ all, readOne }: RowReader): PermissionReads {
  return {
    async unknowns({ session_id, status }) {
      const where = joinConditions(
        equals('s.session_id', session_id),
        equals('u.status', status),
        readableCondition('unknowns', 'u'),
      )
      return all(`SELECT ${UNKNOWN_COLUMNS} ${where.text} ORDER BY u.n`, ...where.values).map(unknownFromRow)
    },
    async approval(id) {
      const row = readOne('approvals', `SELECT ${APPROVAL_COLUMNS} WHERE a.id = ?`, id)
      return row && approvalFromRow(row)
    },
    async approvals({ session_id, status, limit }) {
      const where = joinConditions(
        equals('s.session_id', session_id),
        equals('a.status', status),
        readableCondition('approvals', 'a'),
      )
      return all(
        `SELECT ${APPROVAL_COLUMNS} ${where.text} ORDER BY a.status = 'open' DESC, a.n DESC LIMIT ?`,
        ...where.values,
        limit,
      ).map(approvalFromRow)
    },
    async grants({ tool, now }) {
      return all(
        `SELECT * FROM grants WHERE (?1 IS NULL OR tool = ?1) AND (expires_at IS NULL OR expires_at > ?2)
         AND ${readableCondition('grants')} ORDER BY n`,
        tool ?? null,
        now,
      ).map(grantFromRow)
    },
    async label(of) {
      return all('SELECT * FROM labels WHERE "of" = ?', of).map(labelFromRow)[0]
    },
    async labels(prefix) {
      return all('SELECT * FROM labels WHERE substr("of", 1, ?) = ? ORDER BY "of"', prefix.length, prefix).map(
        (row) => ({ of: String(row.of), label: labelFromRow(row) }),
      )
    },
    async audit(from, { limit }) {
      const [last] = all("SELECT seq FROM sqlite_sequence WHERE name = 'audit'")
      const links = all('SELECT * FROM audit WHERE n >= ? ORDER BY n LIMIT ?', from, limit).map(auditLinkFromRow)
      return { links, last: Number(last?.seq ?? 0) }
    },
  }
}
