/** A1: a home that an earlier version wrote opens, and its work continues. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { openInMemory } from '../../src/adapters/stores/sqlite/connection.ts'
import { OLDEST_MIGRATED } from '../../src/adapters/stores/sqlite/migrations/list.ts'
import { SCHEMA_VERSION } from '../../src/adapters/stores/sqlite/schema.ts'
import type { Dispatch } from '../../src/domain/dispatch.ts'
import { tirelessJson } from '../support/command-line.ts'
import { advanceUntilDone, freshFolder, replayIn } from '../support/open-app.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'
import { dumpDatabase, schemaIn } from './dump-database.ts'
import { openKeptApp } from './kept-home-content.ts'
import { copyKeptHome, keptSchemas } from './kept-homes.ts'

function openKeptHome(t: TestContext, schema: number): string {
  const home = freshFolder(t)
  copyKeptHome(schema, home)
  return home
}

interface Doctor {
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly found: string }[]
}

/** Allows only the finding that a home with open questions must have. */
async function assertHealthy(home: string): Promise<void> {
  const { checks } = await tirelessJson<Doctor>(home, 'doctor')
  const bad = checks.filter(({ name, ok }) => !ok && !(name === 'sandbox' && WITHOUT_SANDBOX !== false))
  assert.deepEqual(
    bad.map(({ name }) => name),
    ['unknown outcomes'],
    JSON.stringify(bad),
  )
  assert.match(checks.find(({ name }) => name === 'database')?.found ?? '', new RegExp(`schema ${SCHEMA_VERSION}\\b`))
}

const statuses = (items: readonly Pick<Dispatch, 'prompt' | 'status'>[]): Record<string, string> =>
  Object.fromEntries(items.map(({ prompt, status }) => [prompt.split('\n')[0], status]))

describe('homes of earlier schemas', () => {
  test('a home of every released schema is kept', () => {
    const expected = Array.from({ length: SCHEMA_VERSION - OLDEST_MIGRATED }, (_, i) => OLDEST_MIGRATED + i)
    assert.deepEqual(
      keptSchemas().filter((schema) => schema < SCHEMA_VERSION),
      expected,
      'before you change the schema, keep a home of it: node test/homes/keep-main.ts',
    )
    assert.ok(keptSchemas().includes(OLDEST_MIGRATED))
  })

  for (const schema of keptSchemas())
    describe(`schema ${schema}`, () => {
      test('a dump contains everything in the database', (t) => {
        const home = openKeptHome(t, schema)
        assert.equal(
          dumpDatabase(join(home, 'tireless.db'), home),
          readFileSync(join(import.meta.dirname, `schema-${schema}`, 'tireless.sql'), 'utf8'),
        )
      })

      test('the opened home has the tables, indexes and triggers of a fresh one', async (t) => {
        const home = openKeptHome(t, schema)
        await tirelessJson(home, 'status')
        const [fresh, opened] = [openInMemory(), new DatabaseSync(join(home, 'tireless.db'))]
        try {
          assert.deepEqual(schemaIn(opened), schemaIn(fresh))
          const copy = `tireless-schema-${schema}-before-upgrade.db`
          assert.equal(existsSync(join(home, copy)), schema < SCHEMA_VERSION, 'a copy of the old database is kept')
          assert.equal(opened.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok')
        } finally {
          for (const db of [fresh, opened]) db.close()
        }
      })

      test('commands show its content, and doctor finds no false problem', async (t) => {
        const home = openKeptHome(t, schema)
        const { items } = await tirelessJson<{ items: Dispatch[] }>(home, 'queue', 'list')
        assert.deepEqual(statuses(items), {
          'Write a file': 'done',
          'Fail at it': 'failed',
          'Wait for word': 'waiting',
          'Ask me': 'waiting',
          'Send a letter': 'waiting',
          'Remember it': 'done',
          ...Object.fromEntries(
            items.filter(({ cycle_id }) => cycle_id).map(({ prompt }) => [prompt.split('\n')[0], 'done']),
          ),
          'Order it': 'waiting',
          'Do it soon': 'pending',
          'Do it later': 'waiting',
        })
        for (const command of ['schedule list', 'approvals list', 'unknowns list', 'memory list', 'cycles list'])
          assert.equal(
            (await tirelessJson<{ items: unknown[] }>(home, ...command.split(' '))).items.length > 0,
            true,
            command,
          )
        await assertHealthy(home)
      })

      test('its parked work continues after a message, an approval or a resolution', async (t) => {
        const home = openKeptHome(t, schema)
        const app = await openKeptApp(home, 'third')
        try {
          const { items: open } = await app.run('approvals list', {})
          await app.run('approvals allow', { id: open[0]?.id ?? '' })
          const { items: unknown } = await app.run('unknowns list', {})
          await app.run('unknowns resolve', { id: unknown[0]?.id ?? '', as: 'happened' })
          const { items } = await app.run('queue list', {})
          for (const { prompt, session_id } of items)
            if (prompt === 'Wait for word' || prompt === 'Ask me')
              await app.run('send', { session: session_id, text: 'go on' })
          await advanceUntilDone(app.clock, app.run('start', { until_idle: true }))
          const { items: after } = await app.run('queue list', {})
          const left = statuses(after.filter(({ status }) => status !== 'done'))
          assert.deepEqual(left, { 'Fail at it': 'failed', 'Do it later': 'waiting' })
          // A prompt that names its folder is recorded with the digest of the place where the home was kept.
          const replayable = after.filter(({ status, prompt }) => status === 'done' && !prompt.includes(home))
          for (const { dispatch_id, prompt } of replayable) {
            const { identical, first_divergence } = await replayIn(app, dispatch_id)
            assert.deepEqual(
              { prompt, identical, first_divergence },
              { prompt, identical: true, first_divergence: null },
            )
          }
        } finally {
          // Before its folder is removed: a running app writes to it.
          await app.close()
        }
      })

      test('its backup can be restored in another place, and opens there', async (t) => {
        const home = openKeptHome(t, schema)
        const dir = join(freshFolder(t, 'backup'), 'made')
        assert.equal((await tirelessJson(home, 'backup', dir)).exit, 0)
        const other = join(freshFolder(t), 'other')
        assert.equal((await tirelessJson(other, 'restore', dir)).exit, 0)
        await assertHealthy(other)
        assert.equal((await tirelessJson<{ items: Dispatch[] }>(other, 'queue', 'list')).items.length, 10)
      })
    })
})
