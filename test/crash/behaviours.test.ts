/** Kills a run of plan, do, check and adjust at its records, and checks that it ends as if nothing had happened. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { freshFolder, openApp } from '../support/open-app.ts'
import { makeInbox, wordCounter } from '../support/word-counter.ts'
import { NODE_FLAGS, run } from './kills.ts'

const MAIN = join(import.meta.dirname, 'behaviours-main.ts')
const FULL = process.env.CRASH_SWEEP === 'full'
/** Records of the whole run, and how many of them are tried as kill points. */
const RECORDS = 120
const POINTS = FULL ? 60 : 3

describe('O13: kill -9 in plan, do, check and adjust', () => {
  for (let n = 1; n <= POINTS; n += 1) {
    const at = Math.round((n * RECORDS) / (POINTS + 1))
    test(`at record ${at} the run ends with the same files, todos and answer`, async (t) => {
      const home = freshFolder(t)
      const workspace = makeInbox(freshFolder(t, 'ws'))
      const died = await run(process.execPath, [...NODE_FLAGS, MAIN, home, workspace, String(at)])
      assert.equal(died.exit, null, `not killed; it made ${died.stdout} records ${died.stderr}`)
      const app = await openApp(t, { home, model: wordCounter() })
      await app.run('start', { until_idle: true })
      const [only, ...more] = (await app.run('queue list', {})).items
      assert.deepEqual({ status: only?.status, more }, { status: 'done', more: [] }, `${only?.error}`)
      assert.match(String(only?.result), /^REPORT\.md holds the number of words\./)
      assert.equal(readFileSync(join(workspace, 'REPORT.md'), 'utf8'), 'words: 5\n')
      const todos = await app.service('store').todos(only?.session_id ?? '')
      assert.deepEqual(
        todos.map(({ code, status, proof }) => `${code} ${status} ${proof}`),
        ['T001 DONE proved', 'T002 DONE proved'],
      )
    })
  }
})
