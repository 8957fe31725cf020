/** What holds after whatever came in: errors are in words, the home opens, and everything in it can be read. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import type { Dispatch } from '../../src/domain/dispatch.ts'
import { type ErrorCode, TirelessError } from '../../src/domain/error.ts'
import type { Session } from '../../src/domain/session.ts'
import type { CommandOutput } from './command-line.ts'
import { openApp } from './open-app.ts'

/** Those say that the program, and not who asked it, has done something wrong. */
const OURS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['internal', 'store_failed', 'store_invalid', 'store_closed', 'store_sequence', 'plugin_failed'] as const),
])

/** What validators, engines and stacks say, and people cannot do anything with. */
const RAW =
  /✖|\bat (file|async|Object|node):|\.ts:\d+|ZodError|"code": "|Cannot read propert|is not a function|is not iterable|\bERR_[A-Z]|is not defined|Invalid time value|SQLITE|Maximum call stack|Cannot convert|The "\w+" argument/

export function assertPlainMessage(words: string): void {
  assert.doesNotMatch(words, RAW)
}

/** 70 and above, and signals, are no answers; 1 may be, if it says why. */
export function assertCleanExit({ exit, stdout, stderr }: CommandOutput): void {
  assert.ok([0, 1, 2, 3].includes(exit ?? -1), `exit ${exit}: ${stderr}`)
  assert.doesNotMatch(stderr, /^(internal|store_\w+|plugin_failed): /m)
  assertPlainMessage(stderr)
  if (exit !== 0 && stdout === '') assert.notEqual(stderr.trim(), '')
}

/** Contract: what the work gives, or undefined where it was refused in words. */
export async function undefinedIfRefused<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (thrown) {
    assert.ok(thrown instanceof TirelessError, `no error of ours: ${thrown instanceof Error ? thrown.stack : thrown}`)
    assert.ok(!OURS.has(thrown.code), `${thrown.code}: ${thrown.message}`)
    assertPlainMessage(thrown.message)
    return undefined
  }
}

/** Contract: everything that commands can show is shown, and every row of the store is read. */
export async function assertReadable(app: App): Promise<void> {
  for (const name of ['status', 'schedule list', 'budget show', 'models list', 'agent list', 'approvals list'])
    await app.run(name, {})
  for (const name of ['grants list', 'unknowns list', 'memory list', 'cycles list', 'notices list', 'secrets list'])
    await app.run(name, {})
  const { items } = (await app.run('queue list', { limit: 10_000 })) as { items: Dispatch[] }
  for (const { dispatch_id } of items) await app.run('queue show', { id: dispatch_id })
  const sessions = (await app.run('sessions list', { limit: 10_000, all: true })) as { items: Session[] }
  for (const { session_id } of sessions.items) await app.run('sessions show', { id: session_id })
  await app.run('audit verify', {})
  await app.run('simulate', { days: 1 })
}

/** Contract: closes the app; the next one opens the same home, finds it sound, and reads all of it. */
export async function assertReopens(t: TestContext, app: App, options: AppOptions & { home: string }): Promise<App> {
  await app.close()
  readRows(join(options.home, 'tireless.db'))
  const next = await openApp(t, options)
  await assertReadable(next)
  const { checks } = (await next.run('doctor', {})) as { checks: { name: string; ok: boolean; found: string }[] }
  for (const { name, ok, found } of checks)
    if (['database', 'stored rows', 'config', 'integrity'].includes(name)) assert.ok(ok, `${name}: ${found}`)
  return next
}

/** As node:sqlite reads them for the program: an integer that is none for JavaScript throws. */
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
