/** A home whose configuration names a PostgreSQL database: the commands work as with SQLite. */

import assert from 'node:assert/strict'
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { createHome, startKernelIn, tireless, tirelessJson, waitForExit } from '../support/command-line.ts'
import { query } from '../support/moved-homes.ts'
import { freshFolder, openApp, waitUntil } from '../support/open-app.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'

const TABLES = "SELECT count(*)::int AS n FROM pg_tables WHERE schemaname = 'public'"

const MAKES_A_FILE = [
  { calls: [{ tool: 'create_file', args: { path: 'a.txt', content: 'hi' } }] },
  { text: 'made a.txt' },
]

describe('a home on PostgreSQL', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })

  async function homeOnPostgres(t: TestContext, ...script: Parameters<typeof createHome>[1] & unknown[]) {
    const home = await createHome(t, script)
    appendFileSync(join(home, 'tireless.yaml'), `store: ${await server.newDatabase()}\n`)
    return home
  }

  test('E15: run, enqueue, start, lists, audit and backup work, and no database file is made', async (t) => {
    const home = await homeOnPostgres(t, ...MAKES_A_FILE)
    const ran = await tireless(home, 'run', 'make a.txt')
    assert.deepEqual({ exit: ran.exit, said: /made a\.txt/.test(ran.stdout) }, { exit: 0, said: true }, ran.stderr)
    const queued = await tirelessJson(home, 'enqueue', '--prompt', 'make a.txt again', '--key', 'k')
    const twice = await tirelessJson(home, 'enqueue', '--prompt', 'make a.txt again', '--key', 'k')
    assert.deepEqual({ id: twice.dispatch_id, duplicate: twice.duplicate }, { id: queued.dispatch_id, duplicate: true })
    const started = await tirelessJson<{ queue: { done: number } }>(home, 'start', '--until-idle')
    assert.deepEqual({ exit: started.exit, done: started.queue.done }, { exit: 0, done: 2 })
    const shown = await tirelessJson(home, 'queue', 'show', String(queued.dispatch_id))
    assert.deepEqual({ status: shown.status, result: shown.result }, { status: 'done', result: 'made a.txt' })
    assert.equal((await tireless(home, 'audit', 'verify')).exit, 0)
    assert.equal(existsSync(join(home, 'tireless.db')), false)
    const dir = join(freshFolder(t), 'backup')
    assert.equal((await tireless(home, 'backup', dir)).exit, 0)
    assert.ok(readdirSync(dir).includes('tireless.db'))
  })

  test('E15: without a kernel, run says what the agent has sent', async (t) => {
    const says = (text: string) => [{ calls: [{ tool: 'send_message', args: { text } }] }, { text: 'done' }]
    const home = await homeOnPostgres(t, ...says('good morning'))
    const { stdout, stderr } = await tireless(home, 'run', '--behaviour', 'solo', 'say it')
    assert.match(stdout + stderr, /good morning/)
    const { items } = await tirelessJson<{ items: { status: string }[] }>(home, 'notices', 'list')
    assert.deepEqual(
      items.map(({ status }) => status),
      ['sent'],
    )
  })

  test('E15: a program that runs a task without a kernel keeps the lead from none that starts later', async (t) => {
    const home = await homeOnPostgres(t)
    const app = await openApp(t, { home, model: scriptedModel([{ text: 'done' }]) })
    const leads = async () => (await app.run('status', {})).workers?.map((worker) => worker.leads)
    await app.run('run', { task: 'answer' })
    assert.deepEqual(await leads(), [false])
    // What needs the lead, too, does not lose it by the end of another run.
    await app.service('queue').requireLead()
    await app.run('run', { task: 'answer' })
    assert.deepEqual(await leads(), [true])
    await app.service('queue').releaseLead()
    assert.deepEqual(await leads(), [false])
  })

  test('E15: a program that runs a task beside a kernel does not lead after it', async (t) => {
    const url = await server.newDatabase()
    const [kernel, program] = await Promise.all(
      ['kernel', 'program'].map((name) => {
        const home = freshFolder(t, name)
        writeFileSync(join(home, 'tireless.yaml'), `sandbox: off\nstore: ${url}\nkernel: { lease: 2s }\n`)
        return openApp(t, { home, model: scriptedModel([{ text: 'done' }, { text: 'done' }]) })
      }),
    )
    assert.ok(kernel && program)
    await kernel.service('queue').requireLead()
    await program.run('run', { task: 'answer' })
    await kernel.close()
    const lease = async () => (await program.service('store').workers(0)).map(({ lease_until }) => lease_until)
    const [before] = await lease()
    await waitUntil(async () => (await lease())[0] !== before)
    const { workers } = await program.run('status', {})
    assert.deepEqual(
      workers?.map(({ leads }) => leads),
      [false],
      'it renewed its lease, and did not take the lead of the kernel that is gone',
    )
  })

  test('E15: an app that is closed while it waits for work waits no more, without an error', async (t) => {
    for (const home of [await createHome(t, []), await homeOnPostgres(t)]) {
      const app = await openApp(t, { home })
      const waiting = app.context.drain({ untilIdle: false })
      await app.close()
      await waiting
    }
  })

  test('E15: a kernel works through what a command enqueues, and goes on after the database restarted', async (t) => {
    const home = await homeOnPostgres(t, { text: 'one' }, { text: 'two' })
    const kernel = await startKernelIn(t, home)
    const isDone = (id: unknown) => async () =>
      (await tirelessJson(home, 'queue', 'show', String(id))).status === 'done'
    const first = await tirelessJson(home, 'enqueue', '--prompt', 'say one')
    await waitUntil(isDone(first.dispatch_id))
    await server.restart('fast')
    const second = await tirelessJson(home, 'enqueue', '--prompt', 'say two')
    await waitUntil(isDone(second.dispatch_id))
    kernel.kill('SIGTERM')
    assert.equal(await waitForExit(kernel), 0)
  })

  test('E15: init keeps an address of PostgreSQL; the first start makes tables, or says what is wrong', async (t) => {
    const home = freshFolder(t)
    const url = new URL(await server.newDatabase())
    const config = `sandbox: off\nserver: { port: 0 }\nstore: ${url.href} # ours\n`
    const write = (address: string): void =>
      writeFileSync(join(home, 'tireless.yaml'), config.replace(url.href, address))
    write(url.href)
    const made = await tireless(home, 'init')
    assert.equal(made.exit, 0, made.stderr)
    assert.equal(readFileSync(join(home, 'tireless.yaml'), 'utf8'), config)
    assert.deepEqual(await query(url.href, TABLES), [{ n: 0 }], 'init does not need the database')
    await query(server.adminUrl, 'CREATE DATABASE foreign_one')
    const wrong: readonly [string, RegExp][] = [
      [
        Object.assign(new URL(url), { password: 'wrong' }).href,
        /refused the connection.*password.*do this: .*`store`/s,
      ],
      [Object.assign(new URL(url), { pathname: '/none' }).href, /refused the connection.*does not exist.*do this/s],
      [
        Object.assign(new URL(url), { pathname: '/foreign_one' }).href,
        /create its tables.*permission denied.*rights of/s,
      ],
    ]
    for (const [address, message] of wrong) {
      write(address)
      const { exit, stderr } = await tireless(home, 'start', '--until-idle')
      assert.equal(exit, 1)
      assert.match(stderr, message)
      assert.doesNotMatch(stderr, new RegExp(`${url.password}|internal`))
    }
    write(url.href)
    const first = await tirelessJson<{ queue: { failed: number } }>(home, 'start', '--until-idle')
    assert.deepEqual([first.exit, first.queue.failed], [0, 0])
    assert.notDeepEqual(await query(url.href, TABLES), [{ n: 0 }])
    assert.equal(existsSync(join(home, 'tireless.db')), false)
  })

  test('a database that cannot be reached is named without its password', async (t) => {
    const home = await createHome(t, [])
    appendFileSync(join(home, 'tireless.yaml'), 'store: postgres://joe:hunter2@127.0.0.1:1/none\n')
    const { exit, stderr } = await tireless(home, 'run', 'x')
    assert.equal(exit, 1)
    assert.match(stderr, /the database cannot be reached.*check that PostgreSQL runs/)
    assert.doesNotMatch(stderr, /hunter2/)
  })
})
