/** The sandbox holds: every attempt fails inside and succeeds outside. */

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { isSleepRunning, waitUntil } from '../support/open-app.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'
import { isRoot, sandboxedWorkspace } from '../support/sandboxed-workspace.ts'
import { type Outcome, outcomes, REMOVED_TRAPS } from './escapes.ts'

const NOBODY = { uid: 65_534, gid: 65_534 }

function assertOutcomes(t: TestContext, all: readonly Outcome[], user: 'root' | 'user'): void {
  assert.deepEqual(
    all.filter(({ inside }) => inside).map(({ name }) => name),
    [],
    'escapes',
  )
  const expected = all.filter(({ outside }) => outside === 'all' || (user === 'root' && outside === 'root'))
  assert.deepEqual(
    expected.filter(({ control }) => !control).map(({ name }) => name),
    [],
    'attempts that do not even work outside',
  )
  const shown = all.filter(({ control }) => control).length
  t.diagnostic(`${all.length} attempts, none got out; ${shown} of them work outside`)
  assert.ok(shown >= (user === 'root' ? 60 : 45))
}

/** The start of a script for another process: opens `env` in the sandbox, and an abort `signal`. */
function scriptOpening(base: string, root: string): string {
  const module = (path: string): string => JSON.stringify(new URL(`../../src/adapters/${path}`, import.meta.url).href)
  return `import { systemClock as clock } from ${module('system/clock.ts')}
      import { hostEnvs } from ${module('envs/host/host.ts')}
      import { createSandbox } from ${module('envs/sandbox/sandbox.ts')}
      const shared = { clock, env: process.env }
      const { launcher } = createSandbox({ ...shared, folder: ${JSON.stringify(join(base, 'own'))}, hidden: [] })
      const envs = hostEnvs({ ...shared, callsDir: ${JSON.stringify(join(base, 'calls2'))}, launcher })
      const env = await envs.open(${JSON.stringify(root)})
      const { signal } = new AbortController()`
}

describe('escapes from the sandbox', { skip: WITHOUT_SANDBOX }, () => {
  test('Q8: no attempt succeeds inside for the user of the tests, and each succeeds outside', async (t) => {
    assertOutcomes(t, await outcomes(), isRoot ? 'root' : 'user')
  })

  test('Q8: nor for a user without rights', async (t) => {
    if (!isRoot) return t.skip('needs root, to switch to another user')
    const main = join(import.meta.dirname, 'escapes-main.ts')
    const flags = ['--disable-warning=ExperimentalWarning', main]
    const child = spawnSync(process.execPath, flags, {
      ...NOBODY,
      encoding: 'utf8',
      cwd: '/',
      env: { PATH: process.env.PATH, HOME: '/' },
    })
    if (/ERR_MODULE_NOT_FOUND|EACCES/.test(child.error?.message ?? child.stderr))
      return t.skip('only root may read the sources')
    assert.equal(child.status, 0, child.stderr)
    assertOutcomes(t, JSON.parse(child.stdout), 'user')
  })

  test('a setuid program gives no root rights inside', async (t) => {
    if (!isRoot) return t.skip('needs root, to make a setuid program')
    const { root, base, run } = await sandboxedWorkspace(t, () => {})
    copyFileSync('/usr/bin/id', join(root, 'id'))
    chmodSync(join(root, 'id'), 0o4755)
    assert.match((await run('grep NoNewPrivs /proc/self/status; mount | grep " $PWD "')).output, /1\n.*nosuid/)
    chmodSync(base, 0o755)
    const outside = spawnSync(join(root, 'id'), ['-u'], { ...NOBODY, encoding: 'utf8', cwd: '/' })
    assert.equal(outside.stdout.trim(), '0', 'outside it makes its user root')
  })

  test('an inherited open folder gives no way out', async (t) => {
    const { base, root, run } = await sandboxedWorkspace(t)
    assert.ok(root)
    writeFileSync(join(base, 'beside'), 'secret\n')
    // As a careless parent process would leave it: open across exec.
    const script = `
      ${scriptOpening(base, root)}
      const command = 'cat /proc/self/fd/*/beside; ls /proc/self/fd'
      console.log((await env.getOps('process').run('c', command, { timeoutMs: 60000, signal })).output)`
    const child = spawnSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit', openSync(base, 'r')],
      },
    )
    assert.equal(child.status, 0)
    assert.doesNotMatch(child.stdout, /secret/)
    assert.match(child.stdout, /^0\n1\n/m)
    assert.match((await run('ls /proc/self/fd')).output, /^0\n1\n199\n2\n3\n$/)
  })
})

describe('a command in the sandbox', { skip: WITHOUT_SANDBOX }, () => {
  test('leaves no process behind, even with its own session, a cleared environment and hidden output', async (t) => {
    const { run } = await sandboxedWorkspace(t)
    const mark = `${40_000 + process.pid}.5`
    const hide = `env -i setsid sh -c "setsid sleep ${mark} < /dev/null > /dev/null 2>&1 &"`
    assert.equal((await run(`${hide}; sleep 0.2`)).exit, 0)
    assert.equal(isSleepRunning(mark), false)
    assert.equal((await run(`trap '' TERM; ${hide}; sleep ${mark}`, { timeoutMs: 300 })).ended, 'timed_out')
    assert.equal(isSleepRunning(mark), false)
    const stop = new AbortController()
    const running = run(`${hide}; touch begun; sleep ${mark}`, { signal: stop.signal })
    await waitUntil(() => isSleepRunning(mark))
    stop.abort()
    assert.equal((await running).ended, 'interrupted')
    assert.equal(isSleepRunning(mark), false)
  })

  test('leaves none behind either when the runtime is killed with -9', async (t) => {
    const { base, root } = await sandboxedWorkspace(t)
    const mark = `${50_000 + process.pid}.5`
    const script = `
      ${scriptOpening(base, root)}
      await env.getOps('process').run('c', 'sleep ${mark}', { timeoutMs: 600000, signal })`
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script],
      { stdio: 'ignore' },
    )
    t.after(() => child.kill('SIGKILL'))
    await waitUntil(() => isSleepRunning(mark))
    child.kill('SIGKILL')
    await waitUntil(() => !isSleepRunning(mark))
  })

  test('has limits that it cannot raise', async (t) => {
    const { run } = await sandboxedWorkspace(t)
    const { output } = await run(
      [
        'ulimit -Hc; ulimit -Hf; ulimit -Hd; ulimit -Hu; ulimit -f unlimited || echo kept;',
        'ulimit -c unlimited || echo kept',
      ].join(' '),
    )
    const [cores, files, memory, processes, ...rest] = output.split('\n')
    assert.equal(cores, '0')
    for (const limit of [files, memory, processes]) assert.match(limit ?? '', /^\d+$/)
    assert.equal(rest.filter((line) => line === 'kept').length, 2)
  })

  test('sees only its own environment', async (t) => {
    const { run } = await sandboxedWorkspace(t)
    process.env.TIRELESS_TEST_API_KEY = 'sk-planted'
    t.after(() => delete process.env.TIRELESS_TEST_API_KEY)
    const { output } = await run('env; cat /proc/*/environ 2> /dev/null | tr "\\0" "\\n"')
    assert.doesNotMatch(output, /sk-planted/)
    const names = output.split('\n').flatMap((line) => line.split('=')[0] || [])
    assert.deepEqual(
      names.filter(
        (name) =>
          !/^(PATH|HOME|LANG|TERM|TZ|PWD|SHLVL|_|OLDPWD|BASH_ENV|TIRELESS_CALL|TIRELESS_CALL_SCOPE)$/.test(name),
      ),
      [],
    )
    assert.match(output, /^HOME=\/home\/agent$/m)
  })

  test('keeps its home between commands, apart from other workspaces, but not its /tmp', async (t) => {
    const { run } = await sandboxedWorkspace(t)
    await run('echo kept > ~/file; echo gone > /tmp/file')
    assert.equal((await run('cat ~/file; cat /tmp/file')).output.split('\n')[0], 'kept')
    assert.equal((await run('test -e /tmp/file')).exit, 1)
    const other = await sandboxedWorkspace(t)
    assert.equal((await other.run('test -e ~/file')).exit, 1)
  })

  for (const [name, command, left] of REMOVED_TRAPS)
    test(`leaves nothing behind that another git or agent would obey: ${name}`, async (t) => {
      const { root, run } = await sandboxedWorkspace(t)
      const { output, exit } = await run(command)
      assert.equal(exit, 0, output)
      assert.ok(output.includes(left), output)
      assert.equal(existsSync(join(root, left)), false)
    })
})
