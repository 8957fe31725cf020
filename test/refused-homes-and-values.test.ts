/** What a command or the library refuses: an unwritable stdout or disk, odd homes, values that cannot be read. */

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createApp, definePlugin, runTask } from '../src/index.ts'
import { MAIN, NODE_FLAGS, run } from './crash/kills.ts'
import { createHome, tireless } from './support/command-line.ts'
import { freshFolder, openApp } from './support/open-app.ts'

/** A command that hangs is killed; its exit code is then null. */
const MAX_MS = 60_000

function shell(script: string, options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {}) {
  const command = `tireless() { ${[process.execPath, ...NODE_FLAGS, MAIN].join(' ')} "$@"; }; ${script}`
  const env = { ...process.env, ...options.env }
  const limits = { timeout: MAX_MS, killSignal: 'SIGKILL' } as const
  const { status, stderr } = spawnSync('bash', ['-c', command], { ...options, ...limits, env, encoding: 'utf8' })
  return { exit: status, stderr }
}

describe('the command line', () => {
  test('exits with 1 and says so if its output could not be written', { skip: !existsSync('/dev/full') }, (t) => {
    const { exit, stderr } = shell(`tireless status --home ${freshFolder(t)} > /dev/full`)
    assert.equal(exit, 1)
    assert.match(stderr, /^the output could not be written to stdout: ENOSPC/)
  })

  test('exits with 0 if the reader of its output has enough', (t) => {
    const { exit, stderr } = shell(`tireless status --home ${freshFolder(t)} | true; exit \${PIPESTATUS[0]}`)
    assert.deepEqual({ exit, stderr }, { exit: 0, stderr: '' })
  })

  test('creates no home in the current folder: an empty HOME or --home is refused', (t) => {
    const cwd = freshFolder(t)
    mkdirSync(cwd, { recursive: true })
    for (const [script, expected] of [
      ['HOME= TIRELESS_HOME= tireless status', /^usage: there is no folder for the home; .* set HOME/],
      ["tireless status --home ''", /^usage: --home is empty/],
    ] as const) {
      const { exit, stderr } = shell(script, { cwd })
      assert.equal(exit, 2, stderr)
      assert.match(stderr, expected)
    }
    assert.deepEqual(readdirSync(cwd), [])
  })

  test('ends with the cause if its store fails, not with what the failure broke later', async (t) => {
    const home = await createHome(t, [{ text: 'x'.repeat(1_000_000) }])
    const command = [process.execPath, ...NODE_FLAGS, MAIN, 'run', 'talk', '--home', home].join(' ')
    const { exit, stderr } = await run('bash', ['-c', `ulimit -f 500; ${command}`])
    assert.equal(exit, 1)
    assert.match(stderr.trim().split('\n').at(-1) ?? '', /^store_failed: the store cannot commit; got /)
  })

  test('refuses a home in a file system without folders', { skip: !existsSync('/proc/self') }, () => {
    const { exit, stderr } = shell('tireless run x --home /proc/tireless/home')
    assert.equal(exit, 1)
    assert.match(stderr, /^store_failed: \/proc\/tireless\/home: the home cannot be created; got .*ENOENT/)
  })

  test('refuses a workspace and a backup in a file system without folders', {
    skip: !existsSync('/proc/self'),
  }, (t) => {
    const at = `--home ${freshFolder(t)}`
    for (const [command, exit, expected] of [
      ['run x --workspace /proc/tireless/x', 2, /^workspace_refused: \/proc\/tireless\/x: .*ENOENT.*; do this: /m],
      ['backup /proc/tireless/x', 2, /^usage: \/proc\/tireless\/x: the folder cannot be created; got .*ENOENT/m],
    ] as const) {
      const refused = shell(`tireless ${command} ${at}`)
      assert.equal(refused.exit, exit, refused.stderr)
      assert.match(refused.stderr, expected)
    }
  })
})

describe('a home', () => {
  test('with a pipe or a device as configuration is refused', { skip: !existsSync('/dev/zero') }, async (t) => {
    const home = freshFolder(t)
    mkdirSync(join(home, 'agents', 'a'), { recursive: true })
    for (const [file, make] of [
      [join(home, 'tireless.yaml'), (file: string) => execFileSync('mkfifo', [file])],
      [join(home, 'agents', 'a', 'agent.yaml'), (file: string) => symlinkSync('/dev/zero', file)],
    ] as const) {
      make(file)
      const { exit, stderr } = shell(`tireless status --home ${home}`)
      assert.equal(exit, 1, stderr)
      assert.ok(stderr.includes(`${file}: this is not a regular file`), stderr)
      rmSync(file)
    }
  })

  test('with a file in place of a folder is refused, and the message names the file', async (t) => {
    for (const [name, expected] of [
      ['agents', "the agents' folder cannot be read (ENOTDIR)"],
      ['workspaces', 'there is a file in place of a folder of the home'],
      ['calls', 'there is a file in place of a folder of the home'],
    ] as const) {
      const home = freshFolder(t, name)
      mkdirSync(home, { recursive: true })
      writeFileSync(join(home, name), '')
      const { exit, stderr } = await tireless(home, 'status')
      assert.notEqual(exit, 0)
      assert.ok(stderr.includes(`${join(home, name)}: ${expected}`), stderr)
    }
  })

  test('with a folder in place of the notes of the last commits is refused', async (t) => {
    const home = freshFolder(t)
    assert.equal((await tireless(home, 'status')).exit, 0)
    mkdirSync(join(home, 'tireless.db-commits'))
    const { exit, stderr } = await tireless(home, 'enqueue', '--prompt', 'hello')
    assert.equal(exit, 1)
    assert.match(stderr, /tireless\.db-commits: the notes of the last commits are not a regular file; do this: move it/)
  })
})

describe('the library', () => {
  test('a closed app says that its store is closed', async (t) => {
    const app = await openApp(t)
    await app.close()
    for (const [command, input] of [['status', {}] as const, ['enqueue', { prompt: 'hello' }] as const])
      await assert.rejects(app.run(command, input), { code: 'store_closed' })
  })

  test('a plugin whose stopWithinMs is no time is refused', async (t) => {
    for (const stopWithinMs of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
      const plugins = [definePlugin({ name: 'odd', stopWithinMs })]
      await assert.rejects(createApp({ home: freshFolder(t), plugins }), {
        code: 'plugin_invalid',
        message: /the plugin odd has an invalid stopWithinMs/,
      })
    }
  })

  test('a value that cannot be read is a usage error', async (t) => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const unreadable = proxy as never
    const app = await openApp(t)
    const home = freshFolder(t, 'other')
    for (const attempt of [
      () => app.run('status', unreadable),
      () => app.run(unreadable, {} as never),
      () => createApp(unreadable),
      () => createApp({ home, tools: unreadable }),
      () => createApp({ home, tools: [unreadable] }),
      () => createApp({ home, plugins: [unreadable] }),
      () => runTask(unreadable, { home }),
      () => runTask('task', unreadable),
    ])
      await assert.rejects(attempt, { code: 'usage' }, String(attempt))
  })
})
