/**
 * The sandbox holds: every attempt fails inside and succeeds outside, and a sandbox with one guard less is detected.
 */

import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { hostEnvs } from '../../src/adapters/envs/host/host.ts'
import { createSandbox } from '../../src/adapters/envs/sandbox/sandbox.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { type ProcessResult, requireOps } from '../../src/ports/env.ts'
import { isSleepRunning, waitUntil } from '../support/open-app.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'
import { makeWorkspace, type Outcome, outcomes, REMOVED_TRAPS } from './escapes.ts'

const isRoot = process.getuid?.() === 0
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

interface SandboxedWorkspace {
  readonly base: string
  readonly root: string
  run(command: string, options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal }): Promise<ProcessResult>
}

async function sandboxedWorkspace(
  t: TestContext,
  prepare: (root: string) => void = makeWorkspace,
): Promise<SandboxedWorkspace> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tireless-sandbox-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const root = join(base, 'ws')
  mkdirSync(root)
  prepare(root)
  const { launcher } = createSandbox({
    folder: join(base, 'sandbox'),
    hidden: [],
    env: process.env,
    clock: systemClock,
  })
  const env = await hostEnvs({ callsDir: join(base, 'calls'), clock: systemClock, env: process.env, launcher }).open(
    root,
  )
  const { signal } = new AbortController()
  return {
    base,
    root,
    run: (command, options) =>
      requireOps(env, 'process').run('call', command, { timeoutMs: 60_000, signal, ...options }),
  }
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

describe('git in the sandbox', { skip: WITHOUT_SANDBOX }, () => {
  const git = (folder: string, ...args: string[]): string =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=Owner', '-c', 'user.email=o@w', ...args], { encoding: 'utf8' })

  test('init, commit, branch and log work, and the result can be used outside', async (t) => {
    const { root, run } = await sandboxedWorkspace(t, () => {})
    const made = await run(
      [
        'git init -q && echo a > a && git add a && git commit -qm first && git checkout -qb topic &&',
        'git log --format=%an:%s',
      ].join(' '),
    )
    assert.equal(made.output, 'Tireless:first\n')
    const second = await run(
      'echo b > b && git add -A && git commit -qm second && git status --short && git log --oneline | wc -l',
    )
    assert.equal(second.output, '2\n')
    assert.match(git(root, 'log', '--format=%s'), /^second\nfirst\n$/)
  })

  test('clone into an empty workspace works: no guard file is in its way', async (t) => {
    const { base, root, run } = await sandboxedWorkspace(t, () => {})
    git(base, 'init', '-q', 'ws/source')
    git(join(root, 'source'), 'commit', '-q', '--allow-empty', '-m', 'first')
    assert.equal((await run('mkdir c && cd c && git clone -q ../source . && git log --format=%s')).output, 'first\n')
    assert.equal((await run('ls -A')).output, 'c\nsource\n')
  })

  test('a worktree can commit, and cannot change the rest of its repository', async (t) => {
    const { base, root, run } = await sandboxedWorkspace(t, () => {})
    const main = join(base, 'main')
    git(base, 'init', '-q', '-b', 'main', main)
    git(main, 'commit', '-q', '--allow-empty', '-m', 'first')
    rmSync(root, { recursive: true })
    git(main, 'worktree', 'add', '-q', '--detach', root)
    const before = readFileSync(join(main, '.git/config'), 'utf8')
    const { output } = await run('echo a > a && git add a && git commit -qm mine && git log --format=%s -1')
    assert.equal(output, 'mine\n')
    assert.equal(git(main, 'log', '--format=%s', '-1', git(root, 'rev-parse', 'HEAD').trim()), 'mine\n')
    for (const command of [
      'git config alias.x y',
      'git branch -f main HEAD',
      'echo x > $(git rev-parse --git-common-dir)/hooks/pre-commit',
      'echo "gitdir: /x" > .git',
      'echo "$PWD/evil" > $(git rev-parse --git-dir)/commondir',
      'rm $(git rev-parse --git-dir)/commondir',
      'mv $(git rev-parse --git-dir) $(git rev-parse --git-common-dir)/worktrees/other',
      'ls $(git rev-parse --git-common-dir)/../file',
    ])
      assert.notEqual((await run(command)).exit, 0, command)
    assert.equal(readFileSync(join(main, '.git/config'), 'utf8'), before)
    assert.equal(git(main, 'log', '--format=%s', 'main'), 'first\n')
  })

  test('a worktree can move its own branch', async (t) => {
    const { base, root, run } = await sandboxedWorkspace(t, () => {})
    const main = join(base, 'main')
    git(base, 'init', '-q', '-b', 'main', main)
    git(main, 'commit', '-q', '--allow-empty', '-m', 'first')
    rmSync(root, { recursive: true })
    git(main, 'worktree', 'add', '-q', '-b', 'topic', root)
    assert.equal((await run('git commit -q --allow-empty -m mine')).exit, 0)
    assert.equal(git(main, 'log', '--format=%s', '-1', 'topic'), 'mine\n')
  })

  test('a repository without a hooks folder does not get one', async (t) => {
    const { root, run } = await sandboxedWorkspace(t, (folder) => {
      makeWorkspace(folder)
      rmSync(join(folder, '.git/hooks'), { recursive: true })
    })
    assert.notEqual((await run('mkdir -p .git/hooks && echo x > .git/hooks/pre-commit')).exit, 0)
    assert.deepEqual(readdirSync(join(root, '.git/hooks')), [])
  })
})

/** A bubblewrap that omits a guard: replaces arguments before it runs the real one. */
function weakened(
  t: TestContext,
  from: readonly string[],
  to: readonly string[],
): { readonly path: string; readonly folder: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tireless-weak-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const real = execFileSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' }).trim()
  const word = (args: readonly string[]) =>
    `$'\\x1f${args.map((arg) => `${arg.replaceAll('FOLDER', base)}\\x1f`).join('')}'`
  writeFileSync(
    join(base, 'bwrap'),
    `#!/bin/bash
[ "$1" = --version ] && exec ${real} --version
all=$(printf '\\x1f%s' "$@")$'\\x1f'
from=${word(from)} to=${word(to)}
changed=\${all/"$from"/"$to"}
[ "$changed" = "$all" ] && { echo "nothing to leave out"; exit 99; }
mapfile -t -d $'\\x1f' args < <(printf %s "\${changed:1}")
exec ${real} "\${args[@]}"
`,
  )
  chmodSync(join(base, 'bwrap'), 0o755)
  return { path: `${base}:${process.env.PATH}`, folder: base }
}

const identity = ['--uid', String(process.getuid?.()), '--gid', String(process.getgid?.())]

/** The argument that is omitted, its replacement, and the findings that the self-test must report. */
const WEAKENED: readonly (readonly [
  guard: string,
  from: readonly string[],
  to: readonly string[],
  got: RegExp,
  root?: true,
])[] = [
  ['its own processes', ['--unshare-pid'], [], /namespace|process/],
  ['its own network', ['--unshare-net'], [], /opened a connection/],
  ['its own interprocess communication', ['--unshare-ipc'], [], /namespace/],
  ['its own host name', ['--unshare-uts', '--hostname', 'sandbox'], [], /namespace/, true],
  ['its own users', ['--unshare-user', ...identity, '--disable-userns'], [], /namespace/, true],
  ['no capabilities', ['--cap-drop', 'ALL'], ['--cap-add', 'ALL'], /capabilities/, true],
  ['a session of its own', ['--new-session'], [], /session/],
  ['a clean environment', ['--clearenv'], [], /environment/],
  ['refused system calls', ['--seccomp', '4'], [], /no seccomp filter/],
  ['/usr read-only', ['--ro-bind', '/usr', '/usr'], ['--bind', '/usr', '/usr'], /\/usr writable/, true],
  ['/etc read-only', ['--ro-bind', 'FOLDER/etc', '/etc'], ['--bind', 'FOLDER/etc', '/etc'], /\/etc writable/],
  ['the root folder read-only', ['--remount-ro', '/'], [], /\/ writable/],
  ['/proc read-only', ['--remount-ro', '/proc'], [], /kernel setting/, true],
  ['nodes of its own', ['--dev-bind', 'FOLDER/dev/null', '/dev/null'], [], /\/dev node/, true],
  ['no home', ['--dir', '/run'], ['--dir', '/run', '--bind', 'FOLDER', 'FOLDER'], /token/],
  [
    'a /tmp of its own',
    ['--dir', '/run'],
    ['--dir', '/run', '--bind', tmpdir(), tmpdir()],
    /temporary files|wrote a file outside/,
  ],
]

describe('a weakened sandbox', {
  skip: WITHOUT_SANDBOX || (arch() !== 'x64' && arch() !== 'arm64' && 'no filter on this machine'),
}, () => {
  const selfTestWith = ({ path, folder }: { readonly path: string; readonly folder: string }) =>
    createSandbox({ folder, hidden: [], env: { ...process.env, PATH: path }, clock: systemClock }).trial()

  for (const [guard, from, to, got, needsRoot] of WEAKENED)
    test(`is detected: without ${guard}`, async (t) => {
      if (needsRoot && !isRoot) return t.skip('needs root: it guards nothing for other users')
      const trial = await selfTestWith(weakened(t, from, to))
      assert.ok(!trial.holds)
      assert.match(trial.why, got)
    })

  const mounts = (): readonly string[] => readFileSync('/proc/self/mountinfo', 'utf8').match(/ \/mnt .*/g) ?? []

  test('is detected: one that does nothing at all', async (t) => {
    const { path, folder } = weakened(t, ['--'], ['--'])
    writeFileSync(
      join(folder, 'bwrap'),
      [
        '#!/bin/bash\n[ "$1" = --version ] && echo bubblewrap 0.8.0 && exit\nwhile [ "$1" != -- ]; do shift;',
        'done; shift; exec "$@"\n',
      ].join(' '),
    )
    const before = mounts()
    const trial = await selfTestWith({ path, folder })
    assert.ok(!trial.holds)
    assert.match(trial.why, /token.*opened a connection/s)
    assert.deepEqual(mounts(), before, 'the self-test removes what it mounted')
  })

  test('is detected: one that cannot start', async (t) => {
    const { path, folder } = weakened(t, ['--'], ['--'])
    writeFileSync(
      join(folder, 'bwrap'),
      [
        '#!/bin/bash\n[ "$1" = --version ] && echo bubblewrap 0.8.0 &&',
        'exit\necho "bwrap: No permissions to create new namespace" >&2; exit 1\n',
      ].join(' '),
    )
    const trial = await selfTestWith({ path, folder })
    assert.ok(!trial.holds && /No permissions/.test(trial.why) && /user namespaces/.test(trial.remedy))
  })

  test('the real one is not reported as weakened', async (t) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tireless-strong-')))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    assert.deepEqual(Object.keys(await selfTestWith({ path: process.env.PATH ?? '', folder })), ['holds', 'what'])
  })
})
