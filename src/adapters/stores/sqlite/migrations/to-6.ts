/** Schema 6: adds the commit count, and a table for unreadable rows. */

import type { Migration } from './list.ts'

export const TO_6: Migration = {
  to: 6,
  apply: `
CREATE TABLE commits (id TEXT NOT NULL, n INTEGER NOT NULL) STRICT;
INSERT INTO commits VALUES (lower(hex(randomblob(8))), 0);

CREATE TABLE set_aside (
  n INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  why TEXT NOT NULL,
  body TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
`,
}
