/** Commands as real processes: their environment, their output, and that no process of them survives. */

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import {
  ALL,
  hasProc,
  isAlive,
  noAbort,
  pids,
  run,
  setUp,
  startBystander,
  table,
  UNTIL_THERE,
  waitForLine,
} from '../../../../test/support/host-commands.ts'
import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { systemClock } from '../../system/clock.ts'
import { callFolder } from './call-folder.ts'
import { type ProcessTable, psTable } from './process-table.ts'

describe('a command', () => {
  test('runs with bash in the workspace, with empty stdin, both outputs in order, and returns its exit', async (t) => {
    const w = await setUp(t)
    const done = await run(w, 'pwd; cat; echo two >&2; echo three; [[ -n $BASH_VERSION ]] && exit 7')
    const output = `${w.root}\ntwo\nthree\n`
    assert.deepEqual(done, { exit: 7, signal: null, output, dropped: 0, ended: 'exited', cwd: '' })
    assert.equal((await run(w, 'true')).exit, 0)
    assert.equal((await run(w, 'kill -KILL $$')).signal, 'SIGKILL')
    assert.equal((await run(w, 'no-such-command')).exit, 127)
    assert.equal((await run(w, '-x')).exit, 127)
    assert.equal((await run(w, 'exit 125')).exit, 125)
  })

  test('falls back to sh where there is no bash', async (t) => {
    const w = await setUp(t, { env: { PATH: '/nowhere' } })
    const done = await run(w, 'echo "sh$BASH_VERSION"')
    assert.equal(done.output, 'sh\n')
  })

  test('case 136: gets a clean environment, without variables of the runtime', async (t) => {
    process.env.TIRELESS_TEST_API_KEY = 'sk-planted'
    t.after(() => delete process.env.TIRELESS_TEST_API_KEY)
    const w = await setUp(t, {
      env: { ...process.env, LC_ALL: 'C', GIT_DIR: '/x', BASH_ENV: '/x', LD_PRELOAD: '', lc_x: '1' },
    })
    const { output } = await run(w, 'env', 's1/2:3.x')
    const names = output
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0] ?? '')
    const allowed =
      /^(PATH|HOME|LANG|LC_\w+|TERM|TZ|TMPDIR|USER|SHELL|TIRELESS_CALL|TIRELESS_CALL_SCOPE|PWD|SHLVL|_|OLDPWD)$/
    assert.deepEqual(
      names.filter((name) => !allowed.test(name)),
      [],
    )
    assert.ok(!output.includes('sk-planted'))
    assert.match(output, /^LC_ALL=C$/m)
    assert.match(output, /^TIRELESS_CALL=s1\/2:3\.x$/m)
  })

  test('Q9: shows head and tail of a long output, cut between characters, and counts dropped bytes', async (t) => {
    const w = await setUp(t)
    const line = '中文中文中文中文\n'
    const { output, dropped } = await run(
      w,
      `echo first; for i in $(seq 20000); do echo ${line.trim()}; done; echo last`,
    )
    const total = 'first\nlast\n'.length + 20_000 * Buffer.byteLength(line)
    const [head = '', tail = ''] = output.split(`\n[… ${dropped} bytes dropped …]\n`)
    assert.ok(output.length < 31_000)
    assert.ok(head.startsWith('first\n') && tail.endsWith('last\n'))
    assert.equal(dropped, total - Buffer.byteLength(head) - Buffer.byteLength(tail))
    assert.ok(!output.includes('\ufffd'))
  })

  test('may write any bytes: those that are not UTF-8 are replaced', async (t) => {
    const w = await setUp(t)
    assert.equal((await run(w, "printf 'a\\377b\\000c\\303'")).output, 'a\ufffdb\ufffdc\ufffd')
  })

  test('is killed when it writes too much output', async (t) => {
    const w = await setUp(t, { maxOutputBytes: 100_000 })
    const done = await run(w, 'echo $$ > shell; yes')
    assert.equal(done.exit, null)
    assert.equal(done.ended, 'exited')
    assert.match(done.output, /more than 100000 bytes of output; the whole process tree was killed\]$/)
    assert.equal(isAlive(await w.pid('shell')), false)
  })

  test('that cannot be started fails with an error', async (t) => {
    const w = await setUp(t)
    const failed = (what: RegExp) => (error: unknown) =>
      error instanceof TirelessError && error.code === 'tool_failed' && what.test(error.message)
    await assert.rejects(run(w, `: ${'x'.repeat(200_000)}`), failed(/too long/))
    await assert.rejects(run(w, 'a\0b'), failed(/could not be started/))
    fs.rmSync(w.root, { recursive: true })
    await assert.rejects(run(w, 'true'), failed(/could not be started/))
  })

  test('O13: is not started when its process cannot be recorded', async (t) => {
    const unableToReport: ProcessTable = { ...table, reportScript: 'false' }
    const w = await setUp(t, { table: unableToReport })
    await assert.rejects(run(w, 'touch ran'), /could not be recorded/)
    assert.deepEqual(fs.readdirSync(w.root), [])
  })

  test('is not started after an abort', async (t) => {
    let looked = 0
    const counting = (pid: number) => {
      looked += 1
      return table.row(pid)
    }
    const w = await setUp(t, { table: { ...table, row: counting } })
    const done = await w.process.run('call', 'touch ran', { timeoutMs: 1000, signal: AbortSignal.abort() })
    assert.deepEqual({ ended: done.ended, looked }, { ended: 'interrupted', looked: 0 })
  })
})

describe('no process of a command survives', { skip: !hasProc && 'needs /proc' }, () => {
  test('after it has exited: background children end with it', async (t) => {
    const w = await setUp(t)
    const done = await run(w, `${ALL}\n${UNTIL_THERE}\necho done`)
    assert.deepEqual(
      { exit: done.exit, ended: done.ended, output: done.output },
      { exit: 0, ended: 'exited', output: 'done\n' },
    )
    for (const [name, pid] of await pids(w)) assert.equal(isAlive(pid), false, name)
  })

  test('case 29: after its timeout: background children are killed too', async (t) => {
    const timeoutMs = 77_000
    let expire = () => {}
    const expired = new Promise<void>((resolve) => {
      expire = resolve
    })
    const clock: Clock = {
      ...systemClock,
      sleep: (ms, signal) => (ms === timeoutMs ? expired : systemClock.sleep(ms, signal)),
    }
    const w = await setUp(t, { clock })
    const running = w.process.run('call', `${ALL}\n${UNTIL_THERE}\necho so far; echo > ready; sleep 1000`, {
      timeoutMs,
      signal: noAbort,
    })
    await waitForLine(join(w.root, 'ready'))
    const found = await pids(w)
    for (const [name, pid] of found) assert.equal(isAlive(pid), true, name)
    expire()
    const done = await running
    assert.equal(done.ended, 'timed_out')
    // A shell that outlives its child for a moment prints this.
    assert.match(done.output, /^so far\n(Terminated\n)?$/)
    for (const [name, pid] of found) assert.equal(isAlive(pid), false, name)
  })

  test('case 51: after an abort: background children are killed too', async (t) => {
    const w = await setUp(t)
    const abort = new AbortController()
    const command = `${ALL}\n${UNTIL_THERE}\necho > ready; sleep 1000`
    const running = w.process.run('call', command, { timeoutMs: 60_000, signal: abort.signal })
    await waitForLine(join(w.root, 'ready'))
    abort.abort()
    assert.equal((await running).ended, 'interrupted')
    for (const [name, pid] of await pids(w)) assert.equal(isAlive(pid), false, name)
  })

  test('but it gets SIGTERM first, and may clean up', async (t) => {
    const patient: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() / 100 }
    const w = await setUp(t, { clock: patient })
    const abort = new AbortController()
    const command = "trap 'echo tidy; exit 3' TERM; echo > ready; while :; do sleep 0.01; done"
    const running = w.process.run('call', command, { timeoutMs: 60_000, signal: abort.signal })
    await waitForLine(join(w.root, 'ready'))
    abort.abort()
    const done = await running
    assert.deepEqual({ ended: done.ended, exit: done.exit }, { ended: 'interrupted', exit: 3 })
    assert.match(done.output, /^tidy$/m)
  })

  for (const start of ['', 'setsid '])
    test(`also if it forks as fast as it is scanned (${start}sh)`, async (t) => {
      const w = await setUp(t)
      // The script ends by itself when the test removes the folder.
      fs.writeFileSync(join(w.root, 'hop'), `${start}sh ./hop &\necho hop >> hops`)
      await run(w, 'sh ./hop; until [ "$(wc -l < hops)" -gt 5 ]; do :; done')
      const hops = fs.readFileSync(join(w.root, 'hops'), 'utf8').length
      await systemClock.sleep(50)
      assert.equal(fs.readFileSync(join(w.root, 'hops'), 'utf8').length, hops)
    })

  test('but other processes do, also those of the same call in another home', async (t) => {
    const bystander = startBystander(t)
    const [w, other] = [await setUp(t), await setUp(t)]
    const abort = new AbortController()
    const running = other.process.run('call', 'echo $$ > shell; exec sleep 1000', {
      timeoutMs: 60_000,
      signal: abort.signal,
    })
    const shell = await other.pid('shell')
    await run(w, 'sleep 1000 & true')
    fs.rmSync(join(callFolder(w.calls, 'call'), 'pid'))
    assert.equal((await w.process.reap('call')).killed, false)
    assert.equal(isAlive(shell) && isAlive(bystander), true)
    abort.abort()
    await running
    assert.equal(isAlive(bystander), true)
  })
})

test('without /proc, the process group and the descendants of a command end with it', async (t) => {
  const w = await setUp(t, { table: psTable })
  const bystander = startBystander(t)
  const done = await run(w, 'sleep 1000 & echo $! > child; echo out')
  assert.equal(done.output, 'out\n')
  assert.equal(isAlive(await w.pid('child')), false)
  assert.equal(isAlive(bystander), true)
  assert.match(fs.readFileSync(join(callFolder(w.calls, 'call'), 'pid'), 'utf8'), /^ps\n.*\d{4}\n$/)
})

test('every call has its own folder, directly in the calls folder', () => {
  const names = [
    'a/b',
    'a:b',
    'a.b',
    'a_b',
    'A_b',
    '.',
    '..',
    '../x',
    '/',
    '',
    'x'.repeat(500),
    'x'.repeat(501),
    '中',
    's-1/2:3.4',
  ]
  const folders = names.map((name) => callFolder('/calls', name))
  assert.equal(new Set(folders.map((folder) => folder.toLowerCase())).size, names.length)
  for (const folder of folders) assert.match(folder, /^\/calls\/[A-Za-z0-9_-]{1,100}$/)
})
