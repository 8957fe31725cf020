/** The tables of the SQLite store. Indexes are partial, so that finished rows do not slow down queries for others. */

import { WORK_TABLES } from './work-tables.ts'

export const SCHEMA_VERSION = 11

export const SCHEMA = `
${WORK_TABLES}
CREATE TABLE unknowns (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions (n),
  dispatch_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  args TEXT NOT NULL,
  reach TEXT NOT NULL,
  started_at TEXT NOT NULL,
  output_so_far TEXT NOT NULL,
  status TEXT NOT NULL,
  resolution TEXT
) STRICT;
CREATE INDEX unknowns_open ON unknowns (n) WHERE status = 'open';
CREATE INDEX unknowns_session ON unknowns (session);

CREATE TABLE selections (
  scope TEXT PRIMARY KEY,
  model TEXT NOT NULL,
  chosen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE cycles (
  n INTEGER PRIMARY KEY,
  cycle_id TEXT NOT NULL UNIQUE,
  kernel_id TEXT NOT NULL,
  trigger TEXT NOT NULL,
  due INTEGER,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  result TEXT,
  open TEXT NOT NULL
) STRICT;
CREATE INDEX cycles_open ON cycles (kernel_id) WHERE ended_at IS NULL;
CREATE INDEX cycles_kernel ON cycles (kernel_id, n);

CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Amounts in millionths of a dollar.
CREATE TABLE spend (
  day TEXT NOT NULL,
  kernel_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  model TEXT NOT NULL,
  usd INTEGER NOT NULL,
  reserved INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  PRIMARY KEY (day, kernel_id, agent_id, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE reservations (
  id TEXT PRIMARY KEY,
  dispatch_id TEXT NOT NULL,
  day TEXT NOT NULL,
  kernel_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  model TEXT NOT NULL,
  usd INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX reservations_of ON reservations (dispatch_id);

CREATE TABLE schedules (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  spec TEXT NOT NULL,
  timezone TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  prompt TEXT,
  paused INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- Progress of added and configured schedules: beats up to until do not fire again.
CREATE TABLE marks (
  schedule_id TEXT PRIMARY KEY,
  until INTEGER NOT NULL,
  fired INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE approvals (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions (n),
  tool TEXT NOT NULL,
  args TEXT NOT NULL,
  effect TEXT NOT NULL,
  sinks TEXT NOT NULL,
  digest TEXT NOT NULL,
  reason TEXT NOT NULL,
  origin TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  status TEXT NOT NULL,
  answered_at INTEGER,
  answer_reason TEXT
) STRICT;
CREATE INDEX approvals_open ON approvals (expires_at) WHERE status = 'open';
CREATE INDEX approvals_session ON approvals (session);

-- Permissions of the owner for more than one call.
CREATE TABLE grants (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  tool TEXT NOT NULL,
  agent_id TEXT,
  session_id TEXT,
  "to" TEXT NOT NULL,
  args TEXT,
  granted_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT;
CREATE INDEX grants_tool ON grants (tool);

-- Trust labels of workspaces and sections of STATE.md.
CREATE TABLE labels ("of" TEXT PRIMARY KEY, trust TEXT NOT NULL, private INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- Every ruling, each bound to the one before it. AUTOINCREMENT, so that the last ones cannot be taken away unnoticed.
CREATE TABLE audit (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  body TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;
CREATE TRIGGER audit_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;

CREATE TABLE facts (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  agent_id TEXT NOT NULL,
  key TEXT NOT NULL,
  text TEXT NOT NULL,
  session_id TEXT NOT NULL,
  turn INTEGER NOT NULL,
  trust TEXT NOT NULL,
  private INTEGER NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  -- The id of the fact or of the undo that ended it.
  ended_by TEXT
) STRICT;
CREATE UNIQUE INDEX facts_known ON facts (agent_id, key) WHERE status = 'known';
CREATE INDEX facts_by_age ON facts (agent_id) WHERE status = 'known';
CREATE INDEX facts_over ON facts (agent_id) WHERE status <> 'known' AND status <> 'dropped';
CREATE INDEX facts_dropped ON facts (agent_id) WHERE status = 'dropped';
CREATE INDEX facts_expiring ON facts (expires_at) WHERE status = 'known' AND expires_at IS NOT NULL;
-- The words of known facts, split by this program, because no tokenizer of SQLite can split Chinese words.
CREATE VIRTUAL TABLE facts_words USING fts5 (key, text, content = '', contentless_delete = 1, \
tokenize = 'porter unicode61');

CREATE TABLE documents (
  n INTEGER PRIMARY KEY,
  kernel_id TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  author TEXT NOT NULL,
  reason TEXT NOT NULL,
  cycle_id TEXT,
  ts INTEGER NOT NULL,
  -- Last, so that what lists versions need not read it.
  text TEXT NOT NULL,
  UNIQUE (kernel_id, name, version)
) STRICT;

CREATE TABLE outbox (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  channel TEXT NOT NULL,
  chat_id TEXT,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  due INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  sent_at INTEGER,
  error TEXT,
  thread_id TEXT,
  card TEXT,
  files TEXT,
  parts_sent INTEGER NOT NULL DEFAULT 0,
  revision INTEGER NOT NULL DEFAULT 0,
  provider_id TEXT
) STRICT;
CREATE INDEX outbox_pending ON outbox (due) WHERE status = 'pending';

-- Incoming messages that were processed.
CREATE TABLE heard (
  channel TEXT NOT NULL,
  message_id TEXT NOT NULL,
  ts INTEGER NOT NULL,
  PRIMARY KEY (channel, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX heard_by_age ON heard (ts);

-- The row number is the order of the plan.
CREATE TABLE todos (
  n INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (n),
  code TEXT NOT NULL,
  status TEXT NOT NULL,
  body TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (session, code)
) STRICT;

-- What became of each delta of todos, so that a call that is repeated after a crash changes nothing.
CREATE TABLE todo_receipts (
  n INTEGER PRIMARY KEY,
  op_id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions (n),
  body TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX todo_receipts_session ON todo_receipts (session);

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

-- What waits for the owner and has no row of its own elsewhere.
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

-- One row: the number of commits without a journal entry. With the last entry it is the position of the database.
CREATE TABLE commits (id TEXT NOT NULL, n INTEGER NOT NULL) STRICT;
INSERT INTO commits VALUES (lower(hex(randomblob(8))), 0);

-- Unreadable rows, unchanged.
CREATE TABLE set_aside (
  n INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  why TEXT NOT NULL,
  body TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE projections (
  kernel_id TEXT NOT NULL,
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (kernel_id, name)
) STRICT;
`
