/** Real kills. `npm run crash` kills at every write and every sync; each test run tries some of these points. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { countCalls, EXPECTED_LINES, hasStrace, type KillResult, killAndResume } from './kills.ts'

const FULL = process.env.CRASH_SWEEP === 'full'
/** Without the full sweep, only every nth point. */
const STRIDE = { pwrite64: 130, fsync: 19 }
/** The kill points, for the titles. */
const POINTS = FULL
  ? { pwrite64: 'every pwrite64', fsync: 'every fsync' }
  : { pwrite64: `every ${STRIDE.pwrite64}th pwrite64`, fsync: `every ${STRIDE.fsync}th fsync` }

function check(at: string, result: KillResult): void {
  const { lines, unknown, requestedTwice, statuses, answers, resumeExit, resumeErrors } = result
  assert.equal(resumeExit, 0, `${at}: resume failed: ${resumeErrors}`)
  assert.equal(new Set(lines).size, lines.length, `${at}: a line was written twice: ${lines.join(' ')}`)
  const missing = EXPECTED_LINES.filter((line) => !lines.includes(line))
  const unlisted = missing.filter((line) => !unknown.includes(`echo ${line} >> out.txt`))
  // Killed before the task was acknowledged: it is not in the queue, and nothing was done.
  if (statuses.length === 0) {
    assert.deepEqual(lines, [], at)
    return
  }
  assert.deepEqual(unlisted, [], `${at}: lines missing and not listed as unknown`)
  assert.deepEqual(requestedTwice, [], `${at}: recorded answers were requested again`)
  assert.deepEqual({ statuses, answers }, { statuses: ['done'], answers: ['twelve lines'] }, at)
}

describe('killed with -9 at a database call, then resumed (case 93, case 100)', {
  skip: hasStrace ? false : 'strace is not installed: apt-get install strace',
}, () => {
  for (const syscall of ['pwrite64', 'fsync'] as const)
    test(`O13: at ${POINTS[syscall]}: no line twice or silently lost, no answer paid twice`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'tireless-kill-'))
      try {
        const calls = await countCalls(folder, syscall)
        // Three commits per step, each synced. With synchronous=NORMAL only checkpoints would sync, and no kill could
        // show the loss.
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
        assert.ok(found.killed > 0, 'no process was killed')
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
})
