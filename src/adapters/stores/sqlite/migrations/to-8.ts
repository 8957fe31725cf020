/** Schema 8: adds undos, and which call ended a fact. */

import type { Migration } from './list.ts'

export const TO_8: Migration = {
  to: 8,
  apply: `
ALTER TABLE facts ADD COLUMN ended_by TEXT;

CREATE TABLE undos (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  target TEXT NOT NULL,
  status TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE INDEX undos_running ON undos (n) WHERE status = 'running';
`,
}
