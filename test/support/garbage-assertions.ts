/** Assertions after garbage input: errors are typed and readable, the home opens, and all of it can be read. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import { type ErrorCode, TirelessError } from '../../src/domain/error.ts'
import type { CommandOutput } from './command-line.ts'
import { openApp } from './open-app.ts'

/** Codes that blame the program, not the input. */
const INTERNAL_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['internal', 'store_failed', 'store_invalid', 'store_closed', 'store_sequence', 'plugin_failed'] as const),
])

/** Raw messages of validators, of the JavaScript engine and of stack traces; none may reach a user. */
const RAW_MESSAGE = new RegExp(
  [
    '✖|ZodError|"code": "|Cannot read propert|is not a function|is not iterable|is not defined|SQLITE',
    'Invalid time value|Maximum call stack|Cannot convert',
    String.raw`\bat (file|async|Object|node):|\.ts:\d+|\bERR_[A-Z]|The "\w+" argument`,
  ].join('|'),
)

export function assertPlainMessage(message: string): void {
  assert.doesNotMatch(message, RAW_MESSAGE)
}

/** The exit code is 0 to 3, not 70 or a signal; a failure explains itself. */
export function assertCleanExit({ exit, stdout, stderr }: CommandOutput): void {
  assert.ok([0, 1, 2, 3].includes(exit ?? -1), `exit ${exit}: ${stderr}`)
  assert.doesNotMatch(stderr, /^(internal|store_\w+|plugin_failed): /m)
  assertPlainMessage(stderr)
  if (exit !== 0 && stdout === '') assert.notEqual(stderr.trim(), '')
}

/** Contract: returns the result of `work`, or undefined where it was refused with a typed, readable error. */
export async function undefinedIfRefused<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (thrown) {
    assert.ok(
      thrown instanceof TirelessError,
      `not a TirelessError: ${thrown instanceof Error ? thrown.stack : thrown}`,
    )
    assert.ok(!INTERNAL_CODES.has(thrown.code), `${thrown.code}: ${thrown.message}`)
    assertPlainMessage(thrown.message)
    return undefined
  }
}

/** Contract: each command that shows stored data has succeeded. */
export async function assertReadable(app: App): Promise<void> {
  for (const name of ['status', 'schedule list', 'budget show', 'models list', 'agent list', 'approvals list'])
    await app.runByName(name, {})
  for (const name of ['grants list', 'unknowns list', 'memory list', 'cycles list', 'notices list', 'secrets list'])
    await app.runByName(name, {})
  const { items } = await app.run('queue list', { limit: 10_000 })
  for (const { dispatch_id } of items) await app.run('queue show', { id: dispatch_id })
  const sessions = await app.run('sessions list', { limit: 10_000, all: true })
  for (const { session_id } of sessions.items) await app.run('sessions show', { id: session_id })
  await app.run('audit verify', {})
  await app.run('simulate', { days: 1 })
}

/** Contract: closes the app and opens the same home again: doctor finds no damage, and all data can be read. */
export async function assertReopens(t: TestContext, app: App, options: AppOptions & { home: string }): Promise<App> {
  await app.close()
  const file = join(options.home, 'tireless.db')
  // In PostgreSQL, doctor reads the rows.
  if (existsSync(file)) readRows(file)
  const next = await openApp(t, options)
  await assertReadable(next)
  const { checks } = await next.run('doctor', {})
  for (const { name, ok, found } of checks)
    if (['database', 'stored rows', 'config', 'integrity'].includes(name)) assert.ok(ok, `${name}: ${found}`)
  return next
}

/** Reads every row with node:sqlite, which throws on integers beyond JavaScript's range. */
function readRows(file: string): void {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const tables = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%\\_%' ESCAPE '\\'")
      .all()
    for (const { name } of tables) db.prepare(`SELECT * FROM "${name}"`).all()
    const problems = db.prepare('PRAGMA integrity_check').all()
    assert.deepEqual(
      problems.map((row) => Object.values(row)[0]),
      ['ok'],
    )
  } finally {
    db.close()
  }
}
