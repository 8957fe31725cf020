/** Several processes on one PostgreSQL: roles, one leader, takeover, requests across processes. */

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import type { Model } from '../../src/ports/model.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { tireless, tirelessJson, waitForExit } from '../support/command-line.ts'
import { hangingModel } from '../support/fake-tools.ts'
import { query } from '../support/moved-homes.ts'
import { freshFolder, openApp, waitUntil } from '../support/open-app.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'
import { createSharedHome, LEASE_MS, startRole, workerOf, workersIn } from '../support/shared-homes.ts'

const EVERY_SECOND = `  schedule: { every: 1s }
  missed: all
  agents:
    - { agent_id: tick, prompt: "Run \`true\`.", workspace: null }
`

describe('several processes on one PostgreSQL', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })

  /** A task whose command says where it runs, then sleeps. */
  async function enqueueSleeper(t: TestContext, home: string): Promise<{ id: string; pidFile: string }> {
    const pidFile = join(freshFolder(t), 'pid')
    const task = `Run \`echo $$ > ${pidFile}; sleep 600\`.`
    const { dispatch_id } = await tirelessJson(home, 'enqueue', '--prompt', task)
    await waitUntil(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'))
    return { id: String(dispatch_id), pidFile }
  }

  const isAlive = (pidFile: string): boolean => existsSync(`/proc/${readFileSync(pidFile, 'utf8').trim()}`)
  const statusOf = async (home: string, id: string): Promise<unknown> =>
    (await tirelessJson(home, 'queue', 'show', id)).status

  test('E15: with SQLite only the role all exists, and the reason is given', async (t) => {
    const home = createSharedHome(t, 'sqlite', 'alone')
    const { exit, stderr } = await tireless(home, 'start', '--role', 'worker')
    assert.equal(exit, 2)
    assert.match(stderr, /one process does everything.*--role worker.*postgres:\/\//s)
  })

  test('E15: status lists all processes with their roles; a cancel reaches the worker elsewhere', async (t) => {
    const database = await server.newDatabase()
    const [a, b, c] = ['scheduler', 'worker', 'server'].map((role) => createSharedHome(t, database, role))
    assert.ok(a && b && c)
    const scheduler = await startRole(t, a, 'scheduler')
    const worker = await startRole(t, b, 'worker')
    const page = await startRole(t, c, 'server')
    const { id, pidFile } = await enqueueSleeper(t, c)
    const listed = (await workersIn(c)).map(({ role, leads, running }) => ({ role, leads, running }))
    assert.deepEqual(
      listed.toSorted((x, y) => String(x.role).localeCompare(String(y.role))),
      [
        { role: 'scheduler', leads: true, running: 0 },
        { role: 'server', leads: false, running: 0 },
        { role: 'worker', leads: false, running: 1 },
      ],
    )
    await tireless(a, 'queue', 'cancel', id)
    await waitUntil(async () => (await statusOf(c, id)) === 'cancelled')
    await waitUntil(() => !isAlive(pidFile))
    for (const { process } of [page, worker, scheduler]) {
      process.kill('SIGTERM')
      assert.equal(await waitForExit(process), 0)
    }
    assert.deepEqual(await query(database, 'SELECT epoch FROM workers WHERE left_at IS NULL'), [])
  })

  test('E15: a worker runs no cycle by hand, and does not take the lead for it', async (t) => {
    const home = createSharedHome(t, await server.newDatabase(), 'worker')
    const worker = await startRole(t, home, 'worker')
    const { exit, stderr } = await tireless(home, 'cycle', 'now')
    assert.notEqual(exit, 0)
    assert.match(stderr, /the role worker does not lead/)
    assert.equal((await workerOf(home, worker))?.leads, false)
  })

  test('E15: when the leader is killed, another leads within two leases, and no beat fires twice', async (t) => {
    const database = await server.newDatabase()
    const [one, two] = ['one', 'two'].map((name) => createSharedHome(t, database, name, EVERY_SECOND))
    assert.ok(one && two)
    const first = await startRole(t, one, 'scheduler')
    await waitUntil(async () => (await workerOf(one, first))?.leads === true)
    const second = await startRole(t, two, 'scheduler')
    const beats = async (): Promise<number> =>
      Number((await query(database, 'SELECT count(DISTINCT due) AS n FROM cycles'))[0]?.n)
    await waitUntil(async () => (await beats()) >= 2)
    first.process.kill('SIGKILL')
    const killedAt = performance.now()
    await waitUntil(async () => (await workerOf(two, second))?.leads === true)
    const tookMs = performance.now() - killedAt
    const before = await beats()
    await waitUntil(async () => (await beats()) > before)
    // Beside the leases, the question itself takes time on a busy machine.
    assert.ok(tookMs < 2 * LEASE_MS + 4000, `${tookMs} ms`)
    const doubled = 'SELECT due FROM cycles WHERE due IS NOT NULL GROUP BY due HAVING count(*) > 1'
    assert.deepEqual(await query(database, doubled), [])
  })

  test('E15: a process that was stopped past its lease commits nothing more, and leaves no process', async (t) => {
    const database = await server.newDatabase()
    // A busy machine must not make it lose its lease before it is stopped.
    const leaseMs = 8000
    const [a, b] = ['one', 'two'].map((name) => createSharedHome(t, database, name, EVERY_SECOND, leaseMs))
    assert.ok(a && b)
    const stale = await startRole(t, a, 'all')
    const { id, pidFile } = await enqueueSleeper(t, a)
    const other = await startRole(t, b, 'scheduler')
    const epoch = Number((await workerOf(b, stale))?.epoch)
    stale.process.kill('SIGSTOP')
    await waitUntil(async () => (await workerOf(b, other))?.leads === true)
    await waitUntil(async () => (await statusOf(b, id)) === 'pending')
    const [taken] = await query(database, `SELECT token FROM dispatches WHERE dispatch_id = '${id}'`)
    stale.process.kill('SIGCONT')
    await waitUntil(async () => (await workerOf(b, stale)) !== undefined)
    assert.notEqual((await workerOf(b, stale))?.epoch, epoch, 'it has joined again')
    const logs = readdirSync(join(a, 'logs')).map((file) => readFileSync(join(a, 'logs', file), 'utf8'))
    assert.match(logs.join(''), /lease lost/)
    assert.match(logs.join(''), new RegExp(`run fenced.*${id}.*no longer held with token ${taken?.token}`))
    assert.equal((await workerOf(b, other))?.leads, true)
    stale.process.kill('SIGTERM')
    assert.equal(await waitForExit(stale.process), 0)
    assert.equal(isAlive(pidFile), false)
  })

  test('E15: a home that is started again after a kill goes on at once, not after its old lease', async (t) => {
    const home = createSharedHome(t, await server.newDatabase(), 'killed', '', 3_600_000)
    const killed = await startRole(t, home, 'all')
    const { id } = await enqueueSleeper(t, home)
    killed.process.kill('SIGKILL')
    await waitForExit(killed.process)
    const ended = await tirelessJson<{ queue: { running: number } }>(home, 'start', '--until-idle')
    assert.deepEqual({ exit: ended.exit, running: ended.queue.running }, { exit: 0, running: 0 })
    assert.equal(await statusOf(home, id), 'done')
  })

  test('E15: start --until-idle that has lost its lease joins again, and does the work that is left', async (t) => {
    const database = await server.newDatabase()
    const home = createSharedHome(t, database, 'late', '', 900)
    const [hanging, answering] = [hangingModel(), scriptedModel([{ text: 'done' }])]
    let calls = 0
    const model = { ...answering, call: (...given: Parameters<Model['call']>) => modelOf(calls++).call(...given) }
    const modelOf = (call: number): Model => (call === 0 ? hanging : answering)
    const app = await openApp(t, { home, model })
    await app.run('enqueue', { prompt: 'answer' })
    const started = app.run('start', { until_idle: true })
    await waitUntil(() => calls === 1)
    await query(database, 'UPDATE workers SET left_at = 1')
    assert.partialDeepStrictEqual((await started).queue, { pending: 0, running: 0, done: 1 })
  })
})
