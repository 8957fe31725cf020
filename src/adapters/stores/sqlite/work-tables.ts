/** The tables of the work: workers, sessions with journal and inbox, dispatches and their counts. */

import { canMove, DISPATCH_STATUSES } from '../../../domain/dispatch.ts'

/** SQL condition that allows only the status changes of the domain's transition table. */
const ALLOWED_TRANSITIONS = DISPATCH_STATUSES.map((from) => {
  const targets = DISPATCH_STATUSES.filter((to) => from === to || canMove(from, to))
  return `(OLD.status = '${from}' AND NEW.status IN (${targets.map((to) => `'${to}'`).join(', ')}))`
}).join(' OR ')

export const WORK_TABLES = `CREATE TABLE workers (
  epoch INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  joined_at INTEGER NOT NULL,
  lease_until INTEGER NOT NULL,
  left_at INTEGER
) STRICT;
CREATE INDEX workers_alive ON workers (epoch) WHERE left_at IS NULL;

CREATE TABLE sessions (
  n INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL UNIQUE,
  kernel_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  workspace TEXT NOT NULL,
  -- What its first dispatch asked for; one that unread input makes asks for the same.
  metadata TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  archived_at INTEGER,
  -- Its last record's number, and the journal's entry that holds it.
  head INTEGER NOT NULL DEFAULT 0,
  last INTEGER
) STRICT;

CREATE INDEX sessions_by_age ON sessions (created_at);

CREATE TABLE dispatches (
  n INTEGER PRIMARY KEY,
  dispatch_id TEXT NOT NULL UNIQUE,
  kernel_id TEXT NOT NULL,
  cycle_id TEXT,
  agent_id TEXT NOT NULL,
  session INTEGER NOT NULL REFERENCES sessions (n),
  prompt TEXT NOT NULL,
  priority INTEGER NOT NULL,
  status TEXT NOT NULL,
  metadata TEXT NOT NULL,
  source TEXT NOT NULL,
  key TEXT,
  epoch INTEGER REFERENCES workers (epoch),
  token INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  head_at_claim INTEGER NOT NULL DEFAULT 0,
  wait TEXT,
  due INTEGER,
  result TEXT,
  error TEXT,
  failure_class TEXT,
  cancel TEXT,
  paused INTEGER NOT NULL DEFAULT 0,
  parent INTEGER REFERENCES dispatches (n),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX dispatches_pending ON dispatches (priority DESC, n) WHERE status = 'pending' AND paused = 0;
-- All dispatches in order, with what lists filter by: rows are long, and a list of many must not read them.
CREATE INDEX dispatches_listed ON dispatches (n, agent_id, status, created_at);
CREATE INDEX dispatches_session ON dispatches (session);
CREATE INDEX dispatches_agent ON dispatches (kernel_id, agent_id, n);
CREATE INDEX dispatches_cycle ON dispatches (cycle_id, n) WHERE cycle_id IS NOT NULL;
CREATE INDEX dispatches_children ON dispatches (parent) WHERE parent IS NOT NULL;
CREATE INDEX dispatches_running ON dispatches (epoch) WHERE status = 'running';
CREATE INDEX dispatches_due ON dispatches (due) WHERE status = 'waiting' AND due IS NOT NULL;
CREATE UNIQUE INDEX dispatches_key ON dispatches (source, key) WHERE key IS NOT NULL;
-- A session is strictly serial: at most one dispatch of it is in flight.
CREATE UNIQUE INDEX dispatches_in_flight ON dispatches (session) WHERE status IN ('pending', 'running', 'waiting');

CREATE TRIGGER dispatches_move BEFORE UPDATE OF status ON dispatches WHEN NOT (${ALLOWED_TRANSITIONS}) BEGIN
  SELECT RAISE(ABORT, 'a dispatch cannot move like that');
END;

CREATE TABLE tally (status TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TRIGGER tally_insert AFTER INSERT ON dispatches BEGIN
  INSERT INTO tally VALUES (NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER tally_delete AFTER DELETE ON dispatches BEGIN
  UPDATE tally SET n = n - 1 WHERE status = OLD.status;
END;
CREATE TRIGGER tally_update AFTER UPDATE OF status ON dispatches WHEN OLD.status <> NEW.status BEGIN
  UPDATE tally SET n = n - 1 WHERE status = OLD.status;
  INSERT INTO tally VALUES (NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- Entries of all sessions in write order, so that sessions that commit together touch few pages. An entry holds the
-- records of one commit and session, and the number of the session's previous entry. An index by session would touch a
-- page for each session.
CREATE TABLE journal (
  n INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  prev INTEGER,
  body TEXT NOT NULL
) STRICT;
CREATE TRIGGER journal_update BEFORE UPDATE ON journal BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
-- Entries of deleted sessions may be deleted.
CREATE TRIGGER journal_delete BEFORE DELETE ON journal WHEN EXISTS (SELECT 1 FROM sessions WHERE n = OLD.session) BEGIN
  SELECT RAISE(ABORT, 'the journal is append-only');
END;

CREATE TABLE inbox (
  n INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (n),
  id TEXT NOT NULL,
  body TEXT NOT NULL,
  read_at INTEGER,
  UNIQUE (session, id)
) STRICT;
CREATE INDEX inbox_unread ON inbox (session, n) WHERE read_at IS NULL;
`
