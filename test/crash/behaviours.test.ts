/**
 * Kills a conversation at its records, from the message in a chat through router, plan, do, check and adjust to the
 * reply, and checks that it ends as if nothing had happened.
 */

import assert from 'node:assert/strict'
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { isFrontSession } from '../../src/domain/reply-to.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { makeInbox, wordCounter, writeAssistant } from '../support/word-counter.ts'
import { delivered, fileChannel, receiveTask } from './behaviours-chat.ts'
import { NODE_FLAGS, run } from './kills.ts'

const MAIN = join(import.meta.dirname, 'behaviours-main.ts')
const FULL = process.env.CRASH_SWEEP === 'full'
/** Records of the whole conversation, and how many of them are tried as kill points. */
const RECORDS = 203
const POINTS = FULL ? 60 : 3

const QUICK_REPLY = 'I will count them.'
const REPLY = /^REPORT\.md holds the number of words\.\n\n- T001 .*: proved by a check\n- T002 .*: proved by a check\n/

describe('O13: kill -9 between a message and its reply', () => {
  for (let n = 1; n <= POINTS; n += 1) {
    const at = Math.round((n * RECORDS) / (POINTS + 1))
    test(`at record ${at}: the same files, todos and answer, and one reply`, async (t) => {
      const home = freshFolder(t)
      const workspace = realpathSync(makeInbox(freshFolder(t, 'ws')))
      writeAssistant(home, workspace)
      const died = await run(process.execPath, [...NODE_FLAGS, MAIN, home, String(at)])
      assert.equal(died.exit, null, `not killed; it made ${died.stdout} records ${died.stderr}`)
      const app = await openApp(t, { home, model: wordCounter(), channels: [fileChannel(home)] })
      assert.deepEqual(await receiveTask(app), { duplicate: true })
      await app.run('start', { until_idle: true })
      const { items } = await app.run('queue list', {})
      assert.deepEqual(
        items.map(({ status, session_id }) => `${isFrontSession(session_id) ? 'front' : 'work'} ${status}`),
        ['work done', 'front done'],
        items.map(({ error }) => error).join('\n'),
      )
      assert.match(String(items[0]?.result), REPLY)
      assert.equal(readFileSync(join(workspace, 'REPORT.md'), 'utf8'), 'words: 5\n')
      assert.equal(readFileSync(join(workspace, 'NOTES.md'), 'utf8'), 'Counted by count.sh.\n')
      const todos = await app.service('store').todos(items[0]?.session_id ?? '')
      assert.deepEqual(
        todos.map(({ code, status, proof }) => `${code} ${status} ${proof}`),
        ['T001 DONE proved', 'T002 DONE proved', 'T003 DONE asserted'],
      )
      const [quick, reply, ...more] = delivered(home)
      assert.deepEqual({ quick: quick?.text, more }, { quick: QUICK_REPLY, more: [] })
      assert.match(String(reply?.text), REPLY)
    })
  }
})
