/** Sessions run in the home that has their files. */

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { definePlugin } from '../../src/ports/plugin.ts'
import { tireless, tirelessJson, waitForExit } from '../support/command-line.ts'
import { freshFolder, openApp, readLogs, waitUntil } from '../support/open-app.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'
import { scriptedWork, WORK_YAML } from '../support/scripted-work.ts'
import { createSharedHome, type SharedHome, startRole } from '../support/shared-homes.ts'

/** An undo stays unfinished, as if its process died before the end. */
const withoutEndOfUndo = definePlugin({
  name: 'without end of undo',
  needs: ['store'],
  setup(host) {
    const store = host.get('store')
    const { commit } = store
    const refusing: typeof commit = async (batches) => {
      if (batches.some(({ ops }) => ops.some(({ op }) => op === 'undo_end' || op === 'undo_stop')))
        throw new Error('died')
      return commit(batches)
    }
    Object.assign(store, { commit: refusing })
  },
})

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

  test('E15: only the home whose files an undo changes finishes it, at its next start', async (t) => {
    const yaml = `${WORK_YAML}store: ${await server.newDatabase()}\n`
    const home = freshFolder(t, 'a')
    const { model, tool, run } = scriptedWork()
    const parts = { model, tools: [tool] }
    const first = await openApp(t, { ...parts, home, yaml, plugins: [withoutEndOfUndo] })
    const other = await openApp(t, { ...parts, home: freshFolder(t, 'b'), yaml })
    const { dispatch_id } = await run(first, [(root) => writeFileSync(join(root, 'a.txt'), '1')])
    await assert.rejects(first.run('undo', { target: dispatch_id, yes: true }), /died/)
    const undo = () => other.run('undo', { target: dispatch_id, yes: true })
    await assert.rejects(undo(), { code: 'conflict', message: /half done in another home.* on .*start Tireless/s })
    await first.close()
    const next = await openApp(t, { ...parts, home })
    await run(next, [])
    assert.ok((await readLogs(next, 50)).items.some(({ event }) => event === 'undo finished'))
    assert.equal((await undo()).status, 'nothing')
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
