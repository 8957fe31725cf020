/** The watchdog, with real processes: it kills the commands of a home unless it is told in time that they may run. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { freshFolder } from '../../test/support/open-app.ts'
import { callEnvironment } from '../adapters/envs/host/call-folder.ts'
import { systemClock } from '../adapters/system/clock.ts'

const NEEDS_PROC = process.platform !== 'linux' && 'finds processes by /proc'

/** The program itself, as a worker starts it. */
function startWatchdog(t: TestContext, calls: string) {
  const program = [join(import.meta.dirname, 'watchdog-main.ts'), calls, '', '']
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...program], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  return child
}

/**
 * A command of the home that ignores SIGTERM, with a child in a session of its own. Contract: resolves when both run.
 * Starts another one if the watchdog, which still looks for the processes of the command before, has ended it.
 */
async function startCommand(t: TestContext, calls: string): Promise<NonNullable<Awaited<ReturnType<typeof startOne>>>> {
  return (await startOne(t, calls)) ?? startCommand(t, calls)
}

async function startOne(t: TestContext, calls: string) {
  const script = "trap '' TERM; setsid sh -c 'trap : TERM; echo $$; while :; do sleep 600; done' & wait; sleep 600"
  const env = { ...process.env, ...callEnvironment(calls, 'call') }
  const command = spawn('sh', ['-c', script], { detached: true, env, stdio: ['ignore', 'pipe', 'ignore'] })
  const closed = once(command, 'close')
  const [grandchild] = await Promise.race([once(command.stdout.setEncoding('utf8'), 'data'), closed.then(() => [])])
  if (grandchild === undefined) return
  t.after(() => {
    for (const pid of [command.pid, Number(grandchild)])
      try {
        process.kill(-(pid ?? Number.NaN), 'SIGKILL')
      } catch {}
  })
  /** Contract: resolves when both have ended. The pipe is closed when the last process that has it ends. */
  return { ended: closed.then(() => 'ended'), pid: command.pid ?? 0 }
}

function newCalls(t: TestContext): string {
  const calls = join(freshFolder(t), 'calls')
  mkdirSync(calls)
  return calls
}

test('E15: commands end when the time that the worker allowed has passed', { skip: NEEDS_PROC }, async (t) => {
  const calls = newCalls(t)
  const [watchdog, first] = [startWatchdog(t, calls), await startCommand(t, calls)]
  watchdog.stdin.write('600000\n')
  watchdog.stdin.write('1\n')
  await first.ended
  // It goes on: what runs later is guarded, too.
  const second = await startCommand(t, calls)
  watchdog.stdin.write('1\n')
  await second.ended
})

test('E15: commands end with their worker, but not if it has left', { skip: NEEDS_PROC }, async (t) => {
  const [calls, others] = [newCalls(t), newCalls(t)]
  const [command, other] = [await startCommand(t, calls), await startCommand(t, others)]
  const [dead, leaving] = [startWatchdog(t, calls), startWatchdog(t, others)]
  dead.stdin.end('600000\n')
  leaving.stdin.end('600000\nleft\n')
  await Promise.all([once(dead, 'exit'), once(leaving, 'exit')])
  await command.ended
  assert.equal(await Promise.race([other.ended, systemClock.sleep(0).then(() => 'runs')]), 'runs')
  assert.ok(process.kill(other.pid, 0))
})
