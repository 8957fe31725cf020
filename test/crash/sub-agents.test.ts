/** Five sub-agents at once: one crashes, one spends too much, one asks, two edit one line; with kills at any record. */

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { endOfFamily, type FamilyEnd, fiveAgentsOptions, fiveAgentsYaml } from '../support/five-agents.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { NODE_FLAGS, run } from './kills.ts'

const MAIN = join(import.meta.dirname, 'sub-agents-main.ts')
const FULL = process.env.CRASH_SWEEP === 'full'
/** Records before the first crash of the family itself, and how many of them are tried as kill points. */
const RECORDS = 90
const POINTS = FULL ? 50 : 1
/** Processes that the crashing sub-agent takes with it before it is dead; with some to spare. */
const MAX_PROCESSES = 10

/** Starts processes until one ends by itself. `at`: the record at which the first one is killed. */
async function workUntilDone(t: TestContext, at: number): Promise<{ readonly end: FamilyEnd; readonly kills: number }> {
  const home = freshFolder(t)
  writeFileSync(join(home, 'tireless.yaml'), fiveAgentsYaml)
  for (let kills = 0; kills < MAX_PROCESSES; kills += 1) {
    const point = kills === 0 && at > 0 ? [String(at)] : []
    const ended = await run(process.execPath, [...NODE_FLAGS, MAIN, home, ...point])
    if (ended.exit === null) continue
    assert.equal(ended.exit, 0, ended.stderr)
    const app = await openApp(
      t,
      fiveAgentsOptions(home, () => assert.fail('nothing is left to do')),
    )
    return { end: await endOfFamily(app, (file) => readFileSync(file, 'utf8')), kills }
  }
  return assert.fail(`not done after ${MAX_PROCESSES} processes`)
}

function checkEnd({ lead, results, merged, kept, errors, approval }: FamilyEnd): void {
  assert.equal(lead, 'done five results')
  assert.deepEqual(results, ['asker done', 'crasher dead', 'first done', 'greedy failed', 'second done'])
  assert.deepEqual([merged, kept].sort(), ['FIRST', 'SECOND'], 'one is merged, the other kept beside it')
  assert.match(String(errors.crasher), /died \d times in a row/)
  assert.match(String(errors.greedy), /budget|limit/)
  assert.match(approval ?? '', /it costs money \(sub-agent default, spawned by default, run /)
}

describe('O9, case 114, case 116, case 117: five sub-agents', () => {
  test('the parent reads each result once, the conflict among them, and ends', async (t) => {
    const { end, kills } = await workUntilDone(t, 0)
    checkEnd(end)
    assert.ok(kills >= 3, `the crashing sub-agent killed ${kills} processes`)
  })

  for (let n = 1; n <= POINTS; n += 1) {
    const at = Math.round((n * RECORDS) / (POINTS + 1))
    test(`killed with -9 at record ${at}, the family ends the same`, async (t) => {
      checkEnd((await workUntilDone(t, at)).end)
    })
  }
})
