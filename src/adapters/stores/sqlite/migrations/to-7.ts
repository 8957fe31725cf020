/** Schema 7: adds todos and the receipts of their changes. */

import type { Migration } from './list.ts'

export const TO_7: Migration = {
  to: 7,
  apply: `
CREATE TABLE todos (
  n INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (n),
  code TEXT NOT NULL,
  status TEXT NOT NULL,
  body TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (session, code)
) STRICT;

CREATE TABLE todo_receipts (
  n INTEGER PRIMARY KEY,
  op_id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions (n),
  body TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX todo_receipts_session ON todo_receipts (session);
`,
}
