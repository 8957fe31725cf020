/** Schema 10: an index that lists of dispatches are counted and paged by. */

import type { Migration } from './list.ts'

export const TO_10: Migration = {
  to: 10,
  apply: 'CREATE INDEX dispatches_listed ON dispatches (n, agent_id, status, created_at);',
}
