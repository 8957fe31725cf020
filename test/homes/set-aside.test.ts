/** Single rows that cannot be read: how they are reported, what still works, and what replaces them. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { Dispatch } from '../../src/domain/dispatch.ts'
import { startKernelIn, tireless, tirelessJson } from '../support/command-line.ts'
import { advanceUntilDone, freshFolder, waitUntil } from '../support/open-app.ts'
import { withDatabase } from './damage-rows.ts'
import { openKeptApp } from './kept-home-content.ts'
import { copyKeptHome, keptSchemas } from './kept-homes.ts'
import { storedRowsCheck } from './unreadable-home.ts'

interface Status {
  readonly health: { readonly ok: boolean; readonly reasons: readonly string[] }
}

/** A kept home, changed by SQL. */
async function homeChangedBy(t: TestContext, sql: string): Promise<string> {
  const home = freshFolder(t)
  copyKeptHome(keptSchemas().at(-1) ?? 0, home)
  const app = await openKeptApp(home, 'base')
  await app.run('status', {})
  await app.close()
  withDatabase(join(home, 'tireless.db'), (db) => {
    const triggers = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all()
    for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`)
    db.exec(sql)
    for (const trigger of triggers) db.exec(String(trigger.sql))
  })
  return home
}

const YEAR_13000 = Date.UTC(13000, 0)
const setWaitTo13000 = `UPDATE dispatches
  SET due = ${YEAR_13000}, wait = json_set(wait, '$.until', ${YEAR_13000}) WHERE prompt = 'Wait for word'`
const idOf = (home: string, prompt: string): string =>
  withDatabase(join(home, 'tireless.db'), (db) =>
    String(db.prepare('SELECT dispatch_id FROM dispatches WHERE prompt = ?').get(prompt)?.dispatch_id),
  )

test('a wait until the year 13000: commands report it and work; set-aside rows can be listed', async (t) => {
  const home = await homeChangedBy(t, setWaitTo13000)
  const id = idOf(home, 'Wait for word')
  const { items } = await tirelessJson<{ items: Dispatch[] }>(home, 'queue', 'list')
  assert.equal(items.length, 9, 'all but one')
  const shown = await tireless(home, 'queue', 'show', id)
  assert.equal(shown.exit, 1)
  assert.match(
    shown.stderr,
    new RegExp(`dispatches ${id}: a stored row cannot be read.*wait: until: got ${YEAR_13000}`),
  )
  assert.match(shown.stderr, /tireless doctor --fix/)
  assert.doesNotMatch(shown.stderr, /backup/)
  const doctor = await tireless(home, 'doctor')
  assert.match(doctor.stdout, new RegExp(`stored rows.*: 1 stored row cannot be read: dispatches ${id}`))
  assert.match(doctor.stdout, /fix: .*tireless doctor --fix/)
  const fixed = await tireless(home, 'doctor', '--fix')
  assert.match(fixed.stdout, /set aside now: 1 stored row.*tireless doctor --set-aside/)
  const listed = await tirelessJson<{ set_aside: { source: string; why: string; body: string }[] }>(
    home,
    'doctor',
    '--set-aside',
  )
  assert.deepEqual(
    listed.set_aside.map(({ source, body }) => ({
      source,
      dispatch_id: JSON.parse(body).dispatch_id,
      due: JSON.parse(body).due,
    })),
    [{ source: 'dispatches', dispatch_id: id, due: YEAR_13000 }],
  )
  assert.match((await tireless(home, 'doctor', '--set-aside')).stdout, new RegExp(`dispatches.*${YEAR_13000}`))
  assert.equal((await tireless(home, 'queue', 'show', id)).exit, 1)
  assert.equal((await tirelessJson<{ items: Dispatch[] }>(home, 'queue', 'list')).items.length, 9)
})

test('start logs and reports the unreadable rows, and works on the rest', async (t) => {
  const home = await homeChangedBy(t, `${setWaitTo13000}; UPDATE cycles SET started_at = 9007199254740993`)
  const start = await startKernelIn(t, home)
  const isLogged = async (): Promise<boolean> =>
    (await tirelessJson<{ items: { event: string }[] }>(home, 'logs')).items.some(
      ({ event }) => event === 'unreadable rows skipped',
    )
  await waitUntil(isLogged)
  const { health } = await tirelessJson<Status>(home, 'status')
  assert.match(health.reasons.join(), /2 stored rows cannot be read: (?=.*dispatches )(?=.*cycles ).*doctor --fix/)
  const { checks } = await tirelessJson<{ checks: { name: string; ok: boolean }[] }>(home, 'doctor', '--fix')
  assert.ok(checks.find(({ name }) => name === 'stored rows')?.ok)
  assert.deepEqual((await tirelessJson<Status>(home, 'status')).health.reasons.join().match(/stored row/), null)
  await tirelessJson(home, 'stop')
  assert.equal(start.exitCode ?? 0, 0)
})

test('a queue whose first dispatches cannot be read: the next ones are claimed', async (t) => {
  const home = await homeChangedBy(t, "UPDATE dispatches SET priority = 9007199254740993 WHERE prompt = 'Do it soon'")
  const app = await openKeptApp(home, 'third')
  t.after(() => app.close())
  const { dispatch_id } = await app.run('enqueue', { prompt: 'Write a file' })
  await advanceUntilDone(app.clock, app.run('start', { until_idle: true }))
  assert.equal((await app.run('queue show', { id: dispatch_id })).status, 'done')
  await assert.rejects(app.run('queue show', { id: idOf(home, 'Do it soon') }), { code: 'row_unreadable' })
})

test('a wrong count of pending dispatches does not stop the queue', async (t) => {
  const home = await homeChangedBy(t, "UPDATE tally SET n = -1 WHERE status = 'pending'")
  const app = await openKeptApp(home, 'third')
  t.after(() => app.close())
  // With this dispatch the wrong count becomes 0.
  const { dispatch_id } = await app.run('enqueue', { prompt: 'Write a file' })
  assert.equal((await app.context.store.counts()).pending, 2)
  await advanceUntilDone(app.clock, app.run('start', { until_idle: true }))
  assert.equal((await app.run('queue show', { id: dispatch_id })).status, 'done')
  assert.ok((await storedRowsCheck(app, { fix: true })).ok)
})

test('a run whose journal cannot be read fails with a message, and its whole session is set aside', async (t) => {
  const home = await homeChangedBy(
    t,
    `UPDATE journal SET body = '[{' WHERE n = (SELECT last FROM sessions
      WHERE n = (SELECT session FROM dispatches WHERE prompt = 'Ask me'))`,
  )
  const app = await openKeptApp(home, 'third')
  t.after(() => app.close())
  const id = idOf(home, 'Ask me')
  const { session_id } = await app.run('queue show', { id })
  await app.run('send', { session: session_id, text: 'blue' })
  await advanceUntilDone(app.clock, app.run('start', { until_idle: true }))
  const { status, error } = await app.run('queue show', { id })
  assert.equal(status, 'failed')
  assert.match(error ?? '', /row_unreadable: sessions .*its journal: entry \d+ is damaged JSON.*doctor --fix/)
  assert.ok((await storedRowsCheck(app, { fix: true })).ok)
  await assert.rejects(app.run('sessions show', { id: session_id }), { code: 'not_found' })
  const sources = withDatabase(join(home, 'tireless.db'), (db) =>
    db
      .prepare('SELECT DISTINCT source FROM set_aside ORDER BY source')
      .all()
      .map(({ source }) => source),
  )
  assert.deepEqual(sources, ['dispatches', 'inbox', 'journal', 'sessions'])
})

test('I12: an unreadable label counts as untrusted and private, also after it is set aside', async (t) => {
  const home = await homeChangedBy(t, "UPDATE labels SET trust = 'no such word', private = 9007199254740993")
  const app = await openKeptApp(home, 'third')
  t.after(() => app.close())
  const labels = async () => (await app.context.store.labels('')).map(({ label }) => label)
  const lowestLabel = [{ trust: 'untrusted', private: true }]
  assert.deepEqual(await labels(), lowestLabel)
  assert.ok((await storedRowsCheck(app, { fix: true })).ok)
  assert.deepEqual(await labels(), lowestLabel)
})

test('a kernel whose pause cannot be read stays paused, also after --fix; resume ends it', async (t) => {
  const home = await homeChangedBy(t, "INSERT INTO settings VALUES ('paused', '\"2026-')")
  const state = async () => (await tirelessJson<{ kernel: { state: string } }>(home, 'status')).kernel.state
  assert.equal(await state(), 'paused')
  await tirelessJson(home, 'doctor', '--fix')
  assert.equal(await state(), 'paused')
  await tirelessJson(home, 'resume')
  assert.equal(await state(), 'stopped')
})

test('the latest text of a document stays the latest, even if its version was set aside', async (t) => {
  const home = await homeChangedBy(
    t,
    `UPDATE documents SET ts = -1
      WHERE n = (SELECT n FROM documents WHERE name = 'STATE.md' ORDER BY version DESC LIMIT 1)`,
  )
  const before = withDatabase(join(home, 'tireless.db'), (db) =>
    db.prepare('SELECT text, version FROM documents WHERE ts = -1').get(),
  )
  await tirelessJson(home, 'doctor', '--fix')
  const app = await openKeptApp(home, 'third')
  t.after(() => app.close())
  const { version, ...latest } = (await app.context.store.document('default', 'STATE.md')) ?? { version: 0, text: '' }
  assert.deepEqual({ text: latest.text, version }, { ...before })
})

test('I4: runs that wait for an unreadable approval or unknown outcome continue without the call', async (t) => {
  const home = await homeChangedBy(t, "UPDATE approvals SET sinks = '{'; UPDATE unknowns SET args = '{'")
  const app = await openKeptApp(home, 'third')
  t.after(() => app.close())
  assert.ok((await storedRowsCheck(app, { fix: true })).ok)
  await advanceUntilDone(app.clock, app.run('start', { until_idle: true }))
  const { items } = await app.run('unknowns list', {})
  assert.deepEqual(
    items.map(({ tool, status }) => ({ tool, status })),
    [{ tool: 'order', status: 'open' }],
    'listed again',
  )
  const { session_id } = await app.run('queue show', { id: idOf(home, 'Send a letter') })
  const { journal } = await app.run('sessions show', { id: session_id })
  assert.match(JSON.stringify(journal), /"answer":"expired"/)
  assert.doesNotMatch(JSON.stringify(journal), /"content":"done"/, 'the letter was not sent')
})

test('an unreadable audit record is reported and never moved', async (t) => {
  const home = await homeChangedBy(t, "UPDATE audit SET body = '{' WHERE n = 2")
  const app = await openKeptApp(home, 'third')
  t.after(() => app.close())
  const { ok, found, remedy } = await storedRowsCheck(app, { fix: true })
  assert.deepEqual(
    { ok, namesTheRow: /audit 2 \(body: damaged JSON/.test(found), namesTheCommand: /audit verify/.test(remedy ?? '') },
    { ok: false, namesTheRow: true, namesTheCommand: true },
  )
  assert.equal(
    withDatabase(join(home, 'tireless.db'), (db) => db.prepare('SELECT count(*) AS n FROM audit').get()?.n),
    6,
  )
})

test('an unreadable schedule is skipped and reported; the others run, and it can be removed', async (t) => {
  const home = await homeChangedBy(t, "UPDATE schedules SET spec = '\"no such line\"' WHERE id = 'mornings'")
  const { items } = await tirelessJson<{ items: { schedule_id: string }[] }>(home, 'schedule', 'list')
  assert.ok(items.length > 0 && !JSON.stringify(items).includes('mornings'))
  const checks = async () =>
    (await tirelessJson<{ checks: { name: string; ok: boolean; remedy: string }[] }>(home, 'doctor')).checks
  const of = async () => (await checks()).find(({ name }) => name === 'schedules')
  assert.match((await of())?.remedy ?? '', /schedule remove mornings/)
  assert.equal((await tirelessJson(home, 'schedule', 'remove', 'mornings')).exit, 0)
  assert.equal((await of())?.ok, true)
})

test('a home whose note on lost commits cannot be read opens, even if more commits are missing', async (t) => {
  for (const note of ['{', '5', '{"commits":1.5}']) {
    const home = await homeChangedBy(t, '')
    await tirelessJson(home, 'enqueue', '--prompt', 'noted beside the database')
    withDatabase(join(home, 'tireless.db'), (db) =>
      db.exec(`INSERT INTO settings VALUES ('lost_commits', '${note}'); UPDATE commits SET id = 'another'`),
    )
    const { health, exit } = await tirelessJson<Status>(home, 'status')
    assert.deepEqual(
      { exit, saysMissing: /commits? (is|are) missing/.test(health.reasons.join()) },
      { exit: 0, saysMissing: true },
    )
    const { checks } = await tirelessJson<{ checks: { name: string; ok: boolean }[] }>(home, 'doctor', '--fix')
    const invalid = checks.filter(({ name, ok }) => !ok && ['stored rows', 'acknowledged work', 'home'].includes(name))
    assert.deepEqual(invalid, [], note)
  }
})
