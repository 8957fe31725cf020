/** Commands while start holds the home, and runs in a folder of the user. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Script } from '../src/testing/provider-server.ts'
import { run } from './crash/kills.ts'
import { createHome, startKernelIn, tireless, tirelessJson, waitForExit } from './support/command-line.ts'
import { freshFolder, waitUntil } from './support/open-app.ts'
import { WAITING_SCRIPT } from './support/waiting-script.ts'

describe('while start is running', () => {
  test('a second start exits with 75 and names the holder; other commands go through the holder', async (t) => {
    const home = await createHome(t, WAITING_SCRIPT)
    const holder = await startKernelIn(t, home)
    const refused = await tireless(home, 'start', '--until-idle')
    assert.equal(refused.exit, 75)
    assert.match(refused.stderr, new RegExp(`process ${holder.pid};`))

    const parked = await tirelessJson(home, 'run', 'wait for me')
    assert.deepEqual({ exit: parked.exit, status: parked.status }, { exit: 3, status: 'waiting' })
    const sent = await tirelessJson(home, 'send', 'here I am', '--session', String(parked.session_id))
    assert.equal(sent.exit, 0)
    await waitUntil(
      async () => (await tirelessJson(home, 'queue', 'show', String(parked.dispatch_id))).status === 'done',
    )
    const queued = await tirelessJson(home, 'enqueue', '--prompt', 'another one')
    await waitUntil(
      async () => (await tirelessJson(home, 'queue', 'show', String(queued.dispatch_id))).status === 'waiting',
    )

    holder.kill('SIGTERM')
    assert.equal(await waitForExit(holder), 0, 'SIGTERM: exit 0')
    assert.equal((await tireless(home, 'start', '--until-idle')).exit, 0, 'the home is free')
  })

  test('run shows the progress of its own run only', async (t) => {
    const home = await createHome(t, [
      { calls: [{ tool: 'bash', args: { command: 'echo working' } }] },
      { text: 'done' },
    ])
    await startKernelIn(t, home)
    const result = await tireless(home, 'run', '--behaviour', 'solo', 'work')
    assert.deepEqual({ exit: result.exit, stdout: result.stdout }, { exit: 0, stdout: 'done\n' })
    assert.match(result.stderr, /bash .*echo working/)
  })

  test('case 129: after SIGKILL the next start takes over at once and finishes the work', async (t) => {
    const home = await createHome(t, [
      { calls: [{ tool: 'bash', args: { command: 'touch begun; sleep 600' } }] },
      { text: 'after all' },
    ])
    const holder = await startKernelIn(t, home)
    const { dispatch_id, session_id } = await tirelessJson(home, 'enqueue', '--prompt', 'long')
    await waitUntil(() => existsSync(join(home, 'workspaces', String(session_id), 'begun')))
    holder.kill('SIGKILL')
    await waitForExit(holder)
    assert.equal((await tireless(home, 'start', '--until-idle')).exit, 0)
    const dispatch = await tirelessJson(home, 'queue', 'show', String(dispatch_id))
    assert.deepEqual({ status: dispatch.status, result: dispatch.result }, { status: 'done', result: 'after all' })
  })

  test('SIGTERM, then SIGINT, during a long command kills it and leaves the dispatch pending', async (t) => {
    const home = await createHome(t, [
      { calls: [{ tool: 'bash', args: { command: 'echo $$ > pid.txt; sleep 600' } }] },
      { text: 'x' },
    ])
    const holder = await startKernelIn(t, home)
    const { dispatch_id, session_id } = await tirelessJson(home, 'enqueue', '--prompt', 'long')
    const pidFile = join(home, 'workspaces', String(session_id), 'pid.txt')
    await waitUntil(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'))
    const exit = waitForExit(holder)
    // Two signals of one kind may be merged into one by the operating system, so two kinds are sent.
    holder.kill('SIGTERM')
    holder.kill('SIGINT')
    assert.equal(await exit, 0)
    assert.throws(() => process.kill(Number(readFileSync(pidFile, 'utf8')), 0), 'the command has ended')
    assert.equal((await tirelessJson(home, 'queue', 'show', String(dispatch_id))).status, 'pending')
  })

  test('20 commands at once on one home all succeed, and every task is queued', async (t) => {
    const home = await createHome(t, [{ text: 'done' }])
    const result = await Promise.all(
      Array.from({ length: 20 }, (_, i) => tirelessJson(home, 'enqueue', '--prompt', `task ${i}`)),
    )
    assert.deepEqual(
      result.map(({ exit }) => exit),
      Array.from({ length: 20 }, () => 0),
    )
    assert.equal(((await tirelessJson(home, 'status')).queue as { pending: number }).pending, 20)
  })
})

describe('run --workspace', () => {
  const script: Script = [
    { calls: [{ tool: 'create_file', args: { path: 'new.txt', content: 'new' } }] },
    { text: 'done' },
  ]
  const git = (folder: string, ...args: string[]) =>
    run('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args])

  test('an empty folder is used in place; a missing one is created', async (t) => {
    const home = await createHome(t, script)
    const folder = join(freshFolder(t, 'work'), 'deep', 'er')
    assert.equal((await tireless(home, 'run', '--behaviour', 'solo', 'x', '--workspace', folder)).exit, 0)
    assert.equal(readFileSync(join(folder, 'new.txt'), 'utf8'), 'new')
  })

  test('a clean git repository is used in place; one with changes gets a worktree and stays unchanged', async (t) => {
    const home = await createHome(t, script)
    const folder = freshFolder(t, 'repo')
    writeFileSync(join(folder, 'old.txt'), 'old')
    await git(folder, 'init', '-q')
    await git(folder, 'add', '-A')
    await git(folder, 'commit', '-qm', 'before')
    assert.equal((await tireless(home, 'run', '--behaviour', 'solo', 'x', '--workspace', folder)).exit, 0)
    assert.ok(existsSync(join(folder, 'new.txt')))
    await git(folder, 'clean', '-qfd')
    writeFileSync(join(folder, 'old.txt'), 'edited and not committed')
    const inWorktree = await tirelessJson(home, 'run', '--behaviour', 'solo', 'x', '--workspace', folder)
    assert.equal(inWorktree.exit, 0)
    assert.notEqual(inWorktree.workspace, folder)
    assert.equal(readFileSync(join(String(inWorktree.workspace), 'old.txt'), 'utf8'), 'old')
    assert.ok(existsSync(join(String(inWorktree.workspace), 'new.txt')))
    assert.equal(existsSync(join(folder, 'new.txt')), false)
    assert.equal(readFileSync(join(folder, 'old.txt'), 'utf8'), 'edited and not committed')
  })

  test('a folder with files but no git, or the home itself, is refused; nothing is queued', async (t) => {
    const home = await createHome(t, script)
    const folder = freshFolder(t, 'work')
    writeFileSync(join(folder, 'precious.txt'), 'mine')
    const refused = await tireless(home, 'run', 'x', '--workspace', folder)
    assert.equal(refused.exit, 2)
    assert.match(refused.stderr, /git init/)
    mkdirSync(join(home, 'inside'))
    assert.equal((await tireless(home, 'run', 'x', '--workspace', join(home, 'inside'))).exit, 2)
    assert.equal((await tireless(home, 'run', 'x', '--workspace', home)).exit, 2)
    assert.deepEqual((await tirelessJson(home, 'queue', 'list')).items, [])
  })

  test('a repository whose configuration would run programs runs none of them', async (t) => {
    const home = await createHome(t, script)
    const folder = freshFolder(t, 'repo')
    await git(folder, 'init', '-q')
    writeFileSync(join(folder, '.gitattributes'), '* filter=trap\n')
    await git(folder, 'add', '-A')
    await git(folder, 'commit', '-qm', 'before')
    writeFileSync(join(folder, 'touched.txt'), 'x')
    const trap = join(home, 'trapped')
    await git(folder, 'config', 'core.fsmonitor', `touch ${trap}; false`)
    await git(folder, 'config', 'filter.trap.smudge', `touch ${trap}; cat`)
    writeFileSync(join(folder, '.git', 'hooks', 'post-checkout'), `#!/bin/sh\ntouch ${trap}\n`, { mode: 0o755 })
    assert.equal((await tireless(home, 'run', '--behaviour', 'solo', 'x', '--workspace', folder)).exit, 0)
    assert.equal(existsSync(trap), false)
  })
})
