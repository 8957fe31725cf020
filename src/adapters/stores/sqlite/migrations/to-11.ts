/**
 * Schema 11: what waits for the owner; facts that were dropped are counted apart from others that ended; paths relative
 * to the home.
 */

import type { Migration } from './list.ts'
import { storeRelativePaths } from './relative-paths.ts'

const TABLES = `
CREATE TABLE needs (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  same_as TEXT NOT NULL,
  status TEXT NOT NULL,
  body TEXT NOT NULL,
  answer TEXT,
  asked_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE UNIQUE INDEX needs_open ON needs (same_as) WHERE status = 'open';
CREATE INDEX needs_ended ON needs (ended_at) WHERE ended_at IS NOT NULL;

DROP INDEX facts_over;
CREATE INDEX facts_over ON facts (agent_id) WHERE status <> 'known' AND status <> 'dropped';
CREATE INDEX facts_dropped ON facts (agent_id) WHERE status = 'dropped';
`

export const TO_11: Migration = {
  to: 11,
  apply(db, roots) {
    db.exec(TABLES)
    storeRelativePaths(db, roots)
  },
}
