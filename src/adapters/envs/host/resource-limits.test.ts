/** The total limits with real processes, without a cgroup. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { createCommandLimits, DEFAULT_RESOURCE_LIMITS } from './resource-limits.ts'

const MB = 1024 ** 2

/** A session leader that holds as many megabytes as the last line of its input says. */
async function startHog(t: TestContext, megabytes: number) {
  const program = `$| = 1; while (<STDIN>) { $x = "a" x ($_ * ${MB}); print "holds $_" }`
  const child = spawn('perl', ['-e', program], { detached: true, stdio: ['pipe', 'pipe', 'ignore'] })
  t.after(() => child.kill('SIGKILL'))
  const hold = async (size: number): Promise<void> => {
    child.stdin.write(`${size}\n`)
    await once(child.stdout, 'data')
  }
  await hold(megabytes)
  return { pid: child.pid ?? 0, hold }
}

test('Q8: a command that is being ended does not cause the end of a second one', async (t) => {
  const limits = createCommandLimits({ ...DEFAULT_RESOURCE_LIMITS, memoryBytes: 200 * MB }, () => undefined)
  const [first, second] = [await startHog(t, 130), await startHog(t, 100)]
  const commands = await Promise.all([limits.register([]), limits.register([])])
  commands[0].setShell(first.pid)
  commands[1].setShell(second.pid)
  assert.match((await commands[0].check()) ?? '', /more than 200 MB of memory/)
  await second.hold(160)
  assert.equal(await commands[1].check(), undefined)
  commands[0].end()
  assert.equal(await commands[1].check(), undefined, 'alone it is below the limit')
  await second.hold(250)
  assert.match((await commands[1].check()) ?? '', /more than 200 MB of memory/)
})
