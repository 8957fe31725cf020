/** Real kills. The full sweep over every write and every sync: `npm run crash`; a part of it is in every test run. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { countCalls, EXPECTED_LINES, hasStrace, type Killed, killAndResume } from './kills.ts'

const FULL = process.env.CRASH_SWEEP === 'full'
/** Without the full sweep, every so-manieth point. */
const STRIDE = { pwrite64: 40, fsync: 5 }

function check(at: string, result: Killed): void {
  const { lines, unknown, boughtTwice, statuses, answers, resumeExit, resumeErrors } = result
  assert.equal(resumeExit, 0, `${at}: resume failed: ${resumeErrors}`)
  assert.equal(new Set(lines).size, lines.length, `${at}: a line was written twice: ${lines.join(' ')}`)
  const missing = EXPECTED_LINES.filter((line) => !lines.includes(line))
  const unlisted = missing.filter((line) => !unknown.includes(`echo ${line} >> out.txt`))
  // Killed before it was acknowledged: then it never was in the queue, and nothing was done.
  if (statuses.length === 0) {
    assert.deepEqual(lines, [], at)
    return
  }
  assert.deepEqual(unlisted, [], `${at}: lines missing and not listed as unknown`)
  assert.deepEqual(boughtTwice, [], `${at}: recorded answers were asked for again`)
  assert.deepEqual([statuses, answers], [['done'], ['twelve lines']], at)
}

describe('killed with -9 at the database, then resumed (case 93, case 100)', {
  skip: hasStrace ? false : 'strace is not installed: apt-get install strace',
}, () => {
  for (const syscall of ['pwrite64', 'fsync'] as const)
    test(`O13: at ${FULL ? 'every' : `every ${STRIDE[syscall]}th`} ${syscall}: each line at most once, none lost unlisted, no answer bought twice`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'tireless-kill-'))
      try {
        const calls = await countCalls(folder, syscall)
        // Three commits a step, each synced: synchronous=NORMAL would sync at checkpoints only, and no kill could show what that loses.
        if (syscall === 'fsync') assert.ok(calls >= 3 * EXPECTED_LINES.length, `only ${calls} syncs`)
        const stride = FULL ? 1 : STRIDE[syscall]
        const points = Array.from({ length: Math.ceil(calls / stride) }, (_, i) => 1 + i * stride)
        const found = { killed: 0, unknown: 0 }
        const worker = async (): Promise<void> => {
          for (let point = points.shift(); point !== undefined; point = points.shift()) {
            const result = await killAndResume(folder, syscall, point)
            check(`${syscall} ${point} of ${calls}`, result)
            found.killed += result.killed ? 1 : 0
            found.unknown += result.unknown.length
          }
        }
        await Promise.all(Array.from({ length: availableParallelism() }, worker))
        t.diagnostic(`${syscall}: ${calls} calls, ${found.killed} kills, ${found.unknown} unknown outcomes`)
        assert.ok(found.killed > 0, 'nothing was killed')
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
})
