/** What a worker that is stopped or killed leaves: its commands end, and its work goes on elsewhere. */

import assert from 'node:assert/strict'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { tireless, tirelessJson, waitForExit } from '../support/command-line.ts'
import { query } from '../support/moved-homes.ts'
import { waitUntil } from '../support/open-app.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'
import { createSharedHome, type SharedHome, startRole } from '../support/shared-homes.ts'

/** A command that ignores SIGTERM, and a grandchild in a session of its own that does, too, and writes all the time. */
const STUBBORN =
  "trap '' TERM; setsid sh -c 'trap : TERM; while :; do echo . >> beats; sleep 0.02; done' > /dev/null 2>&1 & " +
  'while :; do sleep 1; done'

describe('workers that are gone', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })

  const show = (home: string, id: string) =>
    tirelessJson<{ status: string; workspace: string; session_id: string }>(home, 'queue', 'show', id)

  async function enqueue(home: string, task: string, ...more: string[]): Promise<string> {
    return String((await tirelessJson(home, 'enqueue', '--prompt', task, ...more)).dispatch_id)
  }

  async function homes(t: TestContext, more = ''): Promise<{ a: string; b: string; database: string }> {
    const database = await server.newDatabase()
    const [a, b] = ['a', 'b'].map((name) => createSharedHome(t, database, name, more))
    assert.ok(a && b)
    return { a, b, database }
  }

  async function stop({ process }: SharedHome): Promise<void> {
    process.kill('SIGTERM')
    assert.equal(await waitForExit(process), 0)
  }

  /** Contract: the file that the stubborn command writes, once it writes. */
  async function startStubborn(home: string): Promise<{ id: string; size: () => number }> {
    const id = await enqueue(home, `Run \`${STUBBORN}\`.`)
    const file = async (): Promise<string> => join((await show(home, id)).workspace, 'beats')
    await waitUntil(async () => existsSync(await file()))
    const beats = await file()
    return { id, size: () => statSync(beats).size }
  }

  test('E15: while a worker is stopped, its commands are killed before another may go on with the run', async (t) => {
    const { a, b } = await homes(t, 'workspaces: { shared: true }\n')
    const stale = await startRole(t, a, 'worker')
    const { id, size } = await startStubborn(a)
    const other = await startRole(t, b, 'scheduler')
    stale.process.kill('SIGSTOP')
    await waitUntil(async () => (await show(b, id)).status === 'pending')
    const written = size()
    await tireless(b, 'queue', 'cancel', id, '--how', 'after_step')
    stale.process.kill('SIGCONT')
    await waitUntil(async () => (await show(b, id)).status === 'cancelled')
    assert.equal(size(), written, 'no process has written since')
    await Promise.all([stop(stale), stop(other)])
  })

  test('E15: commands of a killed worker end, and after the grace its run goes on elsewhere', async (t) => {
    const { a, b, database } = await homes(t, 'workspaces: { grace: 1s }\n')
    const first = await startRole(t, a, 'worker')
    const { id, size } = await startStubborn(a)
    const old = (await show(a, id)).workspace
    assert.ok(old.startsWith(realpathSync(a)))
    const second = await startRole(t, b, 'all')
    first.process.kill('SIGKILL')
    await waitUntil(async () => (await show(b, id)).workspace.startsWith(realpathSync(b)))
    const written = size()
    await tireless(b, 'queue', 'cancel', id)
    await waitUntil(async () => (await show(b, id)).status === 'cancelled')
    assert.equal(size(), written)
    const { session_id } = await show(b, id)
    const told = `SELECT body FROM inbox WHERE body LIKE '%workspace_moved%' AND session =
      (SELECT n FROM sessions WHERE session_id = '${session_id}')`
    assert.match(String((await query(database, told))[0]?.body), new RegExp(`${hostname()}.*${old}`))
    const posted = "SELECT text FROM outbox WHERE text LIKE '%goes on on another machine%'"
    await waitUntil(async () => String((await query(database, posted))[0]?.text).includes(session_id))
    await stop(second)
  })
})
