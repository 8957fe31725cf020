/** Properties of a home with unreadable rows, before and after `doctor --fix`. */

import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { App } from '../../src/app.ts'
import { undefinedIfRefused } from '../support/garbage-assertions.ts'
import { advanceUntilDone, freshFolder } from '../support/open-app.ts'
import { type Column, type Damage, damageRow, rowsIn, type StoredRows, withDatabase } from './damage-rows.ts'
import { openKeptApp } from './kept-home-content.ts'
import { copyKeptHome } from './kept-homes.ts'

/** Rows of tables that are empty in a kept home. */
const MORE_ROWS = `
INSERT INTO inbox (session, id, body)
  SELECT n, 'left', '{"id":"left","type":"user_message","text":"hello","ts":1767225600000}'
  FROM sessions WHERE session_id =
    (SELECT session_id FROM sessions JOIN dispatches d ON d.session = sessions.n WHERE d.status = 'failed' LIMIT 1);
INSERT INTO heard VALUES ('elsewhere', 'm', 1767225600000);
INSERT INTO reservations VALUES ('r', 'gone', '2026-01-01', 'default', 'default', 'm', 5);
INSERT INTO todos (session, code, status, body, updated_at)
  SELECT n, 'T001', 'WAIT', json_object('code', 'T001', 'session_id', session_id, 'title', 'a task', 'type', 'Task',
    'status', 'WAIT', 'deps', json_array(), 'assignee', NULL, 'parallel', json('false'), 'skills', json_array(),
    'checks', json_array(json_object('kind', 'command', 'run', 'true')), 'attempts', 0, 'notes', json_array(),
    'last_error', NULL, 'baseline', NULL, 'evidence', NULL, 'proof', NULL, 'created_at', '2026-01-01T00:00:00.000Z',
    'updated_at', '2026-01-01T00:00:00.000Z'), 1767225600000 FROM sessions LIMIT 1;
INSERT INTO todo_receipts (op_id, session, body, at)
  SELECT 'o', n, json_object('op_id', 'o', 'session_id', session_id, 'at', '2026-01-01T00:00:00.000Z',
    'actions', json_array('add'), 'changed', json_array('T001'), 'refusal', NULL), 1767225600000 FROM sessions LIMIT 1;
INSERT INTO undos (id, target, status, body, created_at, ended_at)
  VALUES ('undo-1', 'today', 'done', json_object('runs', json_array('r'), 'undoes', NULL, 'workspaces', json_array(),
    'documents', json_array(), 'facts', json_array(), 'cancelled', json_array()), 1767225600000, 1767225600000);
INSERT INTO needs (id, kind, same_as, status, body, asked_at)
  VALUES ('need-1', 'space', 'disk', 'open', json_object('agent_id', NULL, 'session_id', NULL, 'run_id', NULL,
    'expires_at', NULL, 'after_expiry', NULL, 'because', NULL, 'title', json_object('text', 'a title'),
    'body', json_object('text', 'a body'), 'choices', json_array()), 1767225600000);
INSERT INTO settings VALUES ('mcp files', '{}'), ('resumed', '"2026-01-01T00:00:00.000Z"');
`

export async function baseHome(t: TestContext, schema: number): Promise<string> {
  const home = freshFolder(t)
  copyKeptHome(schema, home)
  const app = await openKeptApp(home, 'base')
  await app.run('status', {})
  await app.close()
  withDatabase(join(home, 'tireless.db'), (db) => db.exec(MORE_ROWS))
  return home
}

interface Doctor {
  readonly checks: readonly {
    readonly name: string
    readonly ok: boolean
    readonly found: string
    readonly remedy: string | null
  }[]
}

export const storedRowsCheck = async (app: App, input: object = {}): Promise<Doctor['checks'][number]> => {
  const { checks } = await app.run('doctor', input)
  const found = checks.find(({ name }) => name === 'stored rows')
  assert.ok(found)
  return found
}

/** Lists skip rows that cannot be read. */
const LISTS = [
  ...['status', 'queue list', 'sessions list', 'trace list', 'approvals list', 'unknowns list', 'schedule list'],
  ...[
    'memory list',
    'todo list',
    'cycles list',
    'grants list',
    'notices list',
    'budget show',
    'budget spend',
    'models list',
    'agent list',
  ],
]

export async function assertListed(app: App): Promise<void> {
  for (const name of LISTS) await app.runByName(name, {})
  const { items } = await app.run('queue list', {})
  for (const { dispatch_id } of items) await undefinedIfRefused(() => app.run('trace show', { run: dispatch_id }))
  const sessions = await app.run('sessions list', { all: true })
  for (const { session_id } of sessions.items)
    await undefinedIfRefused(() => app.run('sessions show', { id: session_id }))
  await undefinedIfRefused(() => app.run('state show', {}))
  await undefinedIfRefused(() => app.run('audit verify', {}))
}

/** New work is accepted and done despite unreadable rows. */
export async function assertNewWorkDone(app: Awaited<ReturnType<typeof openKeptApp>>): Promise<void> {
  const { dispatch_id } = await app.run('enqueue', { prompt: 'Write a file' })
  await advanceUntilDone(app.clock, app.run('start', { until_idle: true }))
  const { status, error } = await app.run('queue show', { id: dispatch_id })
  assert.equal(status, 'done', error ?? '')
}

/** Every row is still there, or was set aside unchanged. */
export function assertNothingLost(before: StoredRows, file: string): void {
  const after = rowsIn(file)
  const setAsideRows = withDatabase(file, (db) => db.prepare('SELECT source, body FROM set_aside').all())
  const setAside = new Set(setAsideRows.map(({ source, body }) => `${source} ${withoutChildren(String(body))}`))
  for (const [table, rows] of before)
    for (const [key, row] of rows)
      assert.ok(
        after.get(table)?.has(key) || setAside.has(`${table} ${row}`) || isDerived(table),
        `${table} lost ${row}`,
      )
}

const withoutChildren = (body: string): string => body.replace(/,"children":\[[^\]]*\]\}$/, '}')
/** Rows that are recalculated where they were wrong. */
const isDerived = (table: string): boolean => table === 'tally'

export async function checkDamagedHome(
  t: TestContext,
  base: string,
  all: readonly (readonly [Column, Damage])[],
): Promise<void> {
  const home = freshFolder(t)
  cpSync(base, home, { recursive: true })
  const file = join(home, 'tireless.db')
  const changes = all.flatMap(([column, how]) => damageRow(file, column, how) ?? [])
  try {
    const first = await openKeptApp(home, 'damaged')
    try {
      await assertListed(first)
      await assertNewWorkDone(first)
      const found = await storedRowsCheck(first)
      if (!found.ok) assert.match(found.remedy ?? '', /doctor --fix|audit verify/)
    } finally {
      await first.close()
    }
    const before = rowsIn(file)
    const second = await openKeptApp(home, 'mended')
    try {
      const fixed = await storedRowsCheck(second, { fix: true })
      assert.ok(fixed.ok || /audit \d/.test(fixed.found), fixed.found)
      assertNothingLost(before, file)
      assert.equal((await storedRowsCheck(second)).ok, fixed.ok)
      await assertListed(second)
      await assertNewWorkDone(second)
    } finally {
      await second.close()
    }
  } catch (thrown) {
    throw new Error(`${changes.join('\n')}\n${thrown instanceof Error ? thrown.message : thrown}`, { cause: thrown })
  }
}
