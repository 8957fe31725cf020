/** Reads messages to people. */

import type { OutboxReads } from '../../../../ports/outbox.ts'
import { deliveriesFromRow, postedFromRow } from '../../rows/message-rows.ts'
import { DELIVERIES, DUE_MESSAGES, DUE_READABLE_MESSAGES } from '../outbox.ts'
import { readableCondition } from '../readable-functions.ts'
import type { RowReader } from './row-reader.ts'

export function outboxReads({ all }: RowReader): OutboxReads {
  return {
    async outbox({ channel, status, limit }) {
      const matches = '(?1 IS NULL OR channel = ?1) AND (?2 IS NULL OR status = ?2)'
      const condition = `${matches} AND ${readableCondition('outbox')}`
      return all(
        `SELECT * FROM outbox WHERE ${condition} ORDER BY n DESC LIMIT ?3`,
        channel ?? null,
        status ?? null,
        limit,
      ).map(postedFromRow)
    },
    async dueMessages(now) {
      const first = all(DUE_MESSAGES, now)
      const areReadable = first.every(({ readable }) => Number(readable) === 1)
      return (areReadable ? first : all(DUE_READABLE_MESSAGES, now)).map(postedFromRow)
    },
    async nextMessageDue(after) {
      const condition = `status = 'pending' AND due > ? AND ${readableCondition('outbox')}`
      const [first] = all(`SELECT due FROM outbox WHERE ${condition} ORDER BY due LIMIT 1`, after)
      return first && Number(first.due)
    },
    async deliveries() {
      return all(DELIVERIES).map(deliveriesFromRow)
    },
  }
}
