/** Sessions run in the home that has their files. */

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { tireless, tirelessJson, waitForExit } from '../support/command-line.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'
import { createSharedHome, type SharedHome, startRole } from '../support/shared-homes.ts'

describe('workspaces of several homes', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })

  const show = (home: string, id: string) =>
    tirelessJson<{ status: string; workspace: string; session_id: string }>(home, 'queue', 'show', id)

  async function enqueue(home: string, task: string, ...more: string[]): Promise<string> {
    return String((await tirelessJson(home, 'enqueue', '--prompt', task, ...more)).dispatch_id)
  }

  async function homes(t: TestContext, more = ''): Promise<{ a: string; b: string }> {
    const database = await server.newDatabase()
    const [a, b] = ['a', 'b'].map((name) => createSharedHome(t, database, name, more))
    assert.ok(a && b)
    return { a, b }
  }

  async function stop({ process }: SharedHome): Promise<void> {
    process.kill('SIGTERM')
    assert.equal(await waitForExit(process), 0)
  }

  test('E15: a task in a named folder waits for the machine that has it, and the lists say so', async (t) => {
    const { a, b } = await homes(t)
    const folder = join(freshFolder(t), 'work')
    mkdirSync(folder)
    const id = await enqueue(a, 'Create one.md with the text "one".', '--workspace', folder)
    const anywhere = await startRole(t, b, 'all')
    const free = await enqueue(b, 'Create two.md with the text "two".')
    await waitUntil(async () => (await show(b, free)).status === 'done')
    assert.equal((await show(b, free)).workspace, join(realpathSync(b), 'workspaces', (await show(b, free)).session_id))
    const listed = await tirelessJson<{ items: Record<string, { kind: string }>[] }>(b, 'queue', 'list', '--open')
    assert.deepEqual(
      listed.items.map(({ held_by }) => held_by?.kind),
      ['away'],
    )
    assert.match(
      (await tireless(b, 'queue', 'list', '--open')).stdout,
      new RegExp(`waits for ${hostname()}, which has`),
    )
    const { degraded } = await tirelessJson<{ degraded: string[] }>(b, 'status')
    assert.match(
      degraded.join('\n'),
      new RegExp(`1 run waits for the machine ${hostname()}, .* no worker was seen there`),
    )
    const owner = await startRole(t, a, 'worker')
    await waitUntil(async () => (await show(b, id)).status === 'done')
    assert.equal(readFileSync(join(folder, 'one.md'), 'utf8'), 'one')
    await Promise.all([stop(owner), stop(anywhere)])
  })

  test('E15: a folder that is declared as shared belongs to no home', async (t) => {
    const shared = freshFolder(t)
    const { a, b } = await homes(t, `workspaces: { shared: ["${shared}"] }\n`)
    const folder = join(shared, 'work')
    mkdirSync(folder)
    const id = await enqueue(a, 'Create one.md with the text "one".', '--workspace', folder)
    const worker = await startRole(t, b, 'worker')
    await waitUntil(async () => (await show(b, id)).status === 'done')
    assert.equal(readFileSync(join(folder, 'one.md'), 'utf8'), 'one')
    await stop(worker)
  })
})
