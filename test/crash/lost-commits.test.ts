/**
 * SQLite silently drops the end of a damaged write-ahead log. The store notes acknowledged commits in a second file
 * and reports the missing ones.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/store.ts'
import { commitOne } from '../../src/ports/store.ts'
import {
  claimInStore,
  enqueueInStore,
  joinTestWorker as joinStore,
  newTestDispatch,
  newTestRecord,
} from '../../src/testing/store-test-helpers.ts'
import { tireless, tirelessJson } from '../support/command-line.ts'
import { freshFolder } from '../support/open-app.ts'
import { NODE_FLAGS } from './kills.ts'

const clock = { monotonic: () => performance.now() }
const WAL_HEADER = 32
const FRAME_HEADER = 24
const APPENDS = 20

/**
 * A home whose process was killed with commits in the write-ahead log: an enqueue, a claim, and twenty appended
 * records.
 */
async function killedHome(t: TestContext, writes = 'here'): Promise<{ home: string; file: string }> {
  const home = freshFolder(t)
  const file = join(home, 'tireless.db')
  const child = spawn(
    process.execPath,
    [...NODE_FLAGS, join(import.meta.dirname, 'lost-commits-main.ts'), file, writes],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  const signal = await new Promise((resolve) => child.once('exit', (_, how) => resolve(how)))
  assert.equal(signal, 'SIGKILL')
  return { home, file }
}

const pageSize = (wal: Buffer): number => wal.readUInt32BE(8)
const framesIn = (wal: Buffer): number => Math.floor((wal.length - WAL_HEADER) / (pageSize(wal) + FRAME_HEADER))

/** Changes bytes of the log, at an offset that `at` computes. */
function damage(file: string, at: (wal: Buffer) => number, change: (byte: number) => number, length = 1): void {
  const wal = readFileSync(`${file}-wal`)
  const from = at(wal)
  for (let i = from; i < from + length; i += 1) wal[i] = change(wal[i] ?? 0)
  writeFileSync(`${file}-wal`, wal)
}

const fromEnd =
  (frames: number, offset = 0) =>
  (wal: Buffer) =>
    WAL_HEADER + (framesIn(wal) - frames) * (pageSize(wal) + FRAME_HEADER) + FRAME_HEADER + offset

interface Status {
  readonly health: { readonly ok: boolean; readonly reasons: readonly string[] }
}
interface Doctor {
  readonly checks: readonly {
    readonly name: string
    readonly ok: boolean
    readonly found: string
    readonly remedy: string | null
  }[]
}

const workCheck = ({ checks }: Doctor) => checks.find(({ name }) => name === 'acknowledged work')

const recordsIn = (file: string): number => {
  const db = new DatabaseSync(file)
  const found = Number(db.prepare("SELECT head FROM sessions WHERE session_id = 'session-one'").get()?.head ?? 0)
  db.close()
  return found
}

describe('acknowledged commits that the database has lost', () => {
  const flipped = (byte: number): number => byte ^ 1
  const zeroed = (): number => 0
  const inFirst = (): number => WAL_HEADER + FRAME_HEADER
  for (const [what, at, change, length] of [
    ['a flipped bit in the last frame', fromEnd(1), flipped, 1],
    ['zeroes some frames before the end', fromEnd(9), zeroed, 64],
    ['a flipped bit in the first frame', inFirst, flipped, 1],
    ['zeroes in the header of the log', () => 12, zeroed, 8],
  ] as const)
    test(`${what}: start, status and doctor report the missing commits; doctor --fix accepts the loss`, async (t) => {
      const { home, file } = await killedHome(t)
      damage(file, at, change, length)
      const left = recordsIn(file)
      assert.ok(left < APPENDS, 'the database has lost records')
      const { health } = await tirelessJson<Status>(home, 'status')
      assert.equal(health.ok, false)
      const reasons = health.reasons.join()
      assert.match(reasons, new RegExp(`acknowledged commits? (is|are) missing.* with ${APPENDS - left} records?`))
      assert.match(reasons, /session-one/)
      assert.match(reasons, /tireless restore DIR.*doctor --fix/)
      const found = workCheck(await tirelessJson<Doctor>(home, 'doctor'))
      assert.equal(found?.ok, false)
      assert.match(found?.found ?? '', new RegExp(`with ${APPENDS - left} records?`))
      const started = await tireless(home, 'start', '--until-idle')
      assert.match(`${started.stdout}${started.stderr}`, /acknowledged commits? (is|are) missing/)
      // The loss is still reported after more work.
      assert.match(
        workCheck(await tirelessJson<Doctor>(home, 'doctor'))?.found ?? '',
        new RegExp(`with ${APPENDS - left} records?`),
      )
      assert.match(workCheck(await tirelessJson<Doctor>(home, 'doctor', '--fix'))?.found ?? '', /^accepted: /)
      assert.equal(workCheck(await tirelessJson<Doctor>(home, 'doctor'))?.ok, true)
      assert.deepEqual((await tirelessJson<Status>(home, 'status')).health.reasons.join().match(/missing/), null)
    })

  test('a missing log, a missing database and an older database that was put back are reported as well', async (t) => {
    const { home, file } = await killedHome(t)
    const gone = freshFolder(t)
    cpSync(home, gone, { recursive: true })
    rmSync(join(gone, 'tireless.db-wal'))
    assert.match((await tirelessJson<Status>(gone, 'status')).health.reasons.join(), /missing/)

    const empty = freshFolder(t)
    cpSync(`${file}-commits`, join(empty, 'tireless.db-commits'))
    assert.match((await tirelessJson<Status>(empty, 'status')).health.reasons.join(), /at least \d+ acknowledged/)

    await tirelessJson(home, 'enqueue', '--prompt', 'sooner')
    cpSync(file, join(home, 'old.db'))
    await tirelessJson(home, 'enqueue', '--prompt', 'later')
    renameSync(join(home, 'old.db'), file)
    assert.match((await tirelessJson<Status>(home, 'status')).health.reasons.join(), /1 acknowledged commit is missing/)
  })

  for (const writes of ['here', 'thread', 'as_it_suits'])
    test(`no false alarm after a kill, writes: ${writes}; nor when the notes are old, torn or missing`, async (t) => {
      const { home, file } = await killedHome(t, writes)
      const notes = `${file}-commits`
      const assertHealthy = async (why: string): Promise<void> => {
        const again = freshFolder(t)
        cpSync(home, again, { recursive: true })
        assert.deepEqual((await tirelessJson<Status>(again, 'status')).health, { ok: true, reasons: [] }, why)
      }
      assert.equal(statSync(notes).mode & 0o777, 0o600)
      await assertHealthy('as the kill left it')
      const intact = readFileSync(notes)
      // As a power cut may leave them: the notes are never synced.
      writeFileSync(notes, intact.subarray(0, intact.length - 700))
      await assertHealthy('without the last notes')
      writeFileSync(notes, Buffer.concat([intact.subarray(0, intact.length - 256), Buffer.alloc(256)]))
      await assertHealthy('with a zeroed last note')
      const torn = Buffer.from(intact)
      torn.write('99999', intact.length - 240)
      writeFileSync(notes, torn)
      await assertHealthy('with a torn last note')
      writeFileSync(notes, 'what is this?\n'.repeat(100))
      await assertHealthy('with foreign content')
      rmSync(notes)
      await assertHealthy('without a file of notes')
    })

  test('no false alarm after restoring an older backup, and a backup contains no notes', async (t) => {
    const { home, file } = await killedHome(t)
    const dir = join(freshFolder(t, 'backup'), 'made')
    assert.equal((await tirelessJson(home, 'backup', dir)).exit, 0)
    assert.ok(!readdirSync(dir).some((name) => name.endsWith('-commits')))
    for (let i = 0; i < 3; i += 1) await tirelessJson(home, 'enqueue', '--prompt', 'later')
    assert.equal((await tirelessJson(home, 'restore', dir)).exit, 0)
    assert.deepEqual((await tirelessJson<Status>(home, 'status')).health, { ok: true, reasons: [] })
    assert.ok(existsSync(file))
  })

  test('a commit succeeds even when its note cannot be written', async (t) => {
    const file = join(freshFolder(t), 'x.db')
    const store = await openSqliteStore({ file, clock })
    rmSync(`${file}-commits`, { force: true })
    // A folder takes the place of the file.
    cpSync(freshFolder(t), `${file}-commits`, { recursive: true })
    assert.throws(() => openSync(`${file}-commits`, 'r+'))
    await enqueueInStore(store, newTestDispatch('one'))
    await enqueueInStore(store, newTestDispatch('two'))
    assert.equal((await store.counts()).pending, 2)
    await store.close()
  })

  test('a claim without work and a refused batch write nothing', async (t) => {
    const file = join(freshFolder(t), 'x.db')
    const store = await openSqliteStore({ file, clock, writes: 'here' })
    const epoch = await joinStore(store)
    await enqueueInStore(store, newTestDispatch('one'))
    const [fence] = await claimInStore(store, epoch)
    assert.ok(fence)
    await commitOne(store, [{ op: 'append', session_id: 'session-one', records: [newTestRecord(1)] }], fence)
    const before = readFileSync(`${file}-wal`)
    assert.deepEqual(await claimInStore(store, epoch), [])
    await assert.rejects(commitOne(store, [{ op: 'release', now: 1 }], { ...fence, token: 99 }), {
      code: 'store_fenced',
    })
    assert.deepEqual(readFileSync(`${file}-wal`), before)
    await store.close()
  })
})
