/** Commands whose runtime was killed: their processes are found and ended, and their output is kept. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import {
  ALL,
  hasProc,
  isAlive,
  pids,
  run,
  type Setup,
  setUp,
  startBystander,
  table,
  UNTIL_THERE,
  waitForLine,
} from '../../../../test/support/host-commands.ts'
import { waitUntil } from '../../../../test/support/open-app.ts'
import { callFolder } from './call-folder.ts'

describe('after the runtime was killed', { skip: !hasProc && 'needs /proc' }, () => {
  /** Runs a command in a separate runtime process, and kills that process with SIGKILL once the command is ready. */
  async function runAndKillRuntime(w: Setup, command: string): Promise<void> {
    const script = `
      import { hostEnvs } from ${JSON.stringify(new URL('./host.ts', import.meta.url).href)}
      import { systemClock } from ${JSON.stringify(new URL('../../system/clock.ts', import.meta.url).href)}
      const { PATH } = process.env
      const envs = hostEnvs({ callsDir: ${JSON.stringify(w.calls)}, clock: systemClock, env: { PATH } })
      const env = await envs.open(${JSON.stringify(w.root)})
      const options = { timeoutMs: 600000, signal: new AbortController().signal }
      await env.getOps('process').run('call', ${JSON.stringify(command)}, options)`
    const runtime = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    const exited = new Promise((resolve) => runtime.once('exit', resolve))
    await waitForLine(join(w.root, 'ready'))
    runtime.kill('SIGKILL')
    await exited
  }

  test('O13: the tree is still found and killed, its output is returned, and it can be forgotten', async (t) => {
    const w = await setUp(t)
    await runAndKillRuntime(
      w,
      `${ALL}\n${UNTIL_THERE}\necho before; echo > ready; until [ -e more ]; do sleep 0.01; done
      echo after; echo > later; sleep 1000`,
    )
    const found = await pids(w)
    for (const [name, pid] of found) assert.equal(isAlive(pid), true, name)
    fs.writeFileSync(join(w.root, 'more'), '')
    await waitForLine(join(w.root, 'later')).catch(() => {})
    assert.deepEqual(await w.process.reap('call'), { output: 'before\nafter\n', killed: true })
    for (const [name, pid] of found) assert.equal(isAlive(pid), false, name)
    assert.deepEqual(await w.process.reap('call'), { output: 'before\nafter\n', killed: false })
    await w.process.forget('call')
    assert.deepEqual(await w.process.reap('call'), { output: '', killed: false })
    assert.deepEqual(fs.readdirSync(w.calls), [])
  })

  test('O13: processes that outlived the shell are found by their mark, even without the report', async (t) => {
    const w = await setUp(t)
    // The shell ends only after the runtime is dead: at the end of a shell, the runtime ends what it left.
    await runAndKillRuntime(
      w,
      `setsid sh -c 'echo $$ > left; exec sleep 1000' & until [ -s left ]; do sleep 0.01; done
      echo $$ > shell; echo > ready; until [ -e end ]; do sleep 0.01; done`,
    )
    const [left, shell] = [await w.pid('left'), await w.pid('shell')]
    fs.writeFileSync(join(w.root, 'end'), '')
    await waitUntil(() => !isAlive(shell))
    fs.rmSync(join(callFolder(w.calls, 'call'), 'pid'))
    assert.equal((await w.process.reap('call')).killed, true)
    assert.equal(isAlive(left), false)
  })

  test('a call name is used again only after its old processes are dead', async (t) => {
    const w = await setUp(t)
    await runAndKillRuntime(w, 'echo $$ > shell; echo > ready; exec sleep 1000')
    assert.equal((await run(w, 'echo again')).output, 'again\n')
    assert.equal(isAlive(await w.pid('shell')), false)
  })

  test('O13: a process is killed by a report only if pid, start time and boot all match', async (t) => {
    const w = await setUp(t)
    const pid = startBystander(t)
    const line = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    const start = String(table.row(pid)?.start)
    const report = (boot: string, row: string) => {
      fs.mkdirSync(callFolder(w.calls, 'call'), { recursive: true })
      fs.writeFileSync(join(callFolder(w.calls, 'call'), 'pid'), `${boot}\n${row}`)
    }
    const forged: [string, string][] = [
      [table.bootId(), line.replace(` ${start} `, ` ${Number(start) + 1} `)],
      [table.bootId(), line.replace(` ${start} `, ` ${Number(start) - 1} `)],
      ['00000000-0000-0000-0000-000000000000', line],
      [table.bootId(), line.slice(0, -1)],
      ['', line],
      [table.bootId(), ''],
    ]
    for (const [boot, row] of forged) {
      report(boot, row)
      assert.deepEqual(await w.process.reap('call'), { output: '', killed: false })
      assert.equal(isAlive(pid), true)
    }
    report(table.bootId(), line)
    assert.deepEqual(await w.process.reap('call'), { output: '', killed: true })
  })

  test('an unknown call has no output, and forget never throws', async (t) => {
    const w = await setUp(t)
    assert.deepEqual(await w.process.reap('never/was'), { output: '', killed: false })
    await w.process.forget('never/was')
    await w.process.forget('a\0b')
    fs.mkdirSync(callFolder(w.calls, 'odd'))
    fs.symlinkSync('/etc/passwd', join(callFolder(w.calls, 'odd'), 'output'))
    assert.deepEqual(await w.process.reap('odd'), { output: '', killed: false })
  })
})
