/** What works in throw-away copies and on read-only mounts, their limits, and that they are removed. */

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { CUT_LINK_TARGET } from '../../src/adapters/envs/copies/copy-link.ts'
import { removeLeftCopies } from '../../src/adapters/envs/copies/throw-away-copy.ts'
import { requireOps } from '../../src/ports/env.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'
import { contentsOf, git, makePlace, runIn } from './copy-places.ts'

describe('a throw-away copy', { skip: WITHOUT_SANDBOX }, () => {
  test('O4: commands see it at the path of the workspace, with its repository, links and programs', async (t) => {
    const { ws, open } = makePlace(t, true)
    const env = await open(ws, 'copy')
    t.after(() => env.close())
    assert.equal(env.root, ws)
    const { output, exit, cwd } = await runIn(
      env,
      `set -e; [ "$(pwd)" = '${ws}' ]; [ "$(cat sub/absolute)" = original ]; [ "$(${ws}/run.sh)" = ran ]
       git status --short; git log --format=%s; echo new > made; git add made
       git -c user.name=x -c user.email=x commit -qam two
       cd sub; pwd`,
    )
    assert.equal(exit, 0, output)
    assert.match(output, new RegExp(`^first\\n${ws}/sub$`, 'm'))
    assert.equal(cwd, 'sub')
    const file = requireOps(env, 'file')
    assert.equal((await file.read('made'))?.text, 'new\n')
    await file.write('file', 'changed\n', (await file.read('file'))?.sha ?? null)
    assert.match((await runIn(env, 'cat sub/absolute; git status --short sub')).output, /^changed\n$|^changed\n\[/)
    await assert.rejects(file.read('out'), { code: 'path_refused' })
    assert.equal((await requireOps(env, 'git').log(9)).length, 2)
    assert.equal(git(ws, 'log', '--format=%s'), 'first\n')
    assert.equal(fs.readFileSync(join(ws, 'file'), 'utf8'), 'original\n')
  })

  test('O4: a linked worktree gets a repository of its own, with its branch and index', async (t) => {
    const { base, open } = makePlace(t, true)
    const linked = join(base, 'linked')
    fs.writeFileSync(join(linked, 'staged'), 'x')
    git(linked, 'add', 'staged')
    const env = await open(linked, 'copy')
    t.after(() => env.close())
    const { output } = await runIn(env, 'git branch --show-current; git status --short; git rev-parse --git-dir')
    assert.match(output, /^side\nA {2}staged\n\.git\n/m)
  })

  test('O4: has the $HOME of the workspace, copied', async (t) => {
    const { ws, open } = makePlace(t, true)
    const original = await open(ws, 'write')
    await runIn(original, 'echo kept > ~/tool')
    const copy = await original.openCopy?.()
    assert.ok(copy)
    assert.match((await runIn(copy, 'cat ~/tool; echo changed > ~/tool; touch ~/more')).output, /^kept/)
    await copy.close()
    assert.match((await runIn(original, 'cat ~/tool; ls ~')).output, /^kept\ntool\n/)
  })

  test('O4: a copy of a copy is one of the original, with the same digest until a file changes', async (t) => {
    const { ws, open } = makePlace(t, true)
    const first = await open(ws, 'copy')
    await runIn(first, 'echo forged > file')
    const second = await first.openCopy?.()
    assert.ok(second)
    assert.match((await runIn(second, 'cat file')).output, /^original/)
    assert.equal(second.digest, first.digest)
    fs.appendFileSync(join(ws, 'file'), 'more\n')
    const third = await first.openCopy?.()
    assert.notEqual(third?.digest, first.digest)
    for (const env of [first, second, third]) await env?.close()
  })
})

describe('a read-only mount', { skip: WITHOUT_SANDBOX }, () => {
  test('O2: commands and git can read, and file tools say why they cannot write', async (t) => {
    const { ws, open } = makePlace(t, true)
    const env = await open(ws, 'read_only')
    const { output } = await runIn(
      env,
      'cat file; git log --format=%s; echo x > file; echo x > ~/scratch && cat ~/scratch',
    )
    assert.match(output, /^original\nfirst\n.*Read-only file system\nx/s)
    const file = requireOps(env, 'file')
    assert.equal((await file.read('file'))?.text, 'original\n')
    assert.equal(await file.writable('file'), false)
    const refused = { code: 'path_refused', message: /read-only in this behaviour.*do this: plan the change as a todo/ }
    await assert.rejects(file.write('file', 'x', null), refused)
    await assert.rejects(requireOps(env, 'git').commit('x'), refused)
    assert.equal((await requireOps(env, 'git').log(9)).length, 1)
    await env.close()
  })
})

describe('copies without a sandbox', () => {
  test('O4: links that lead outside are cut; links to installed programs and inside the workspace stay', async (t) => {
    const { base, ws, beside, open } = makePlace(t, false)
    fs.symlinkSync('/usr/bin/env', join(ws, 'program'))
    const before = contentsOf(ws, beside)
    const env = await open(ws, 'copy')
    assert.ok(env.root.startsWith(join(base, 'copies')))
    const linkOf = (path: string): string => fs.readlinkSync(join(env.root, path))
    for (const path of ['out', 'outdir', 'winding']) assert.equal(linkOf(path), CUT_LINK_TARGET, path)
    assert.deepEqual([linkOf('program'), linkOf('sub/absolute')], ['/usr/bin/env', '../file'])
    await runIn(
      env,
      `echo x > file; echo x > hard; echo x > out; echo x > winding; git -c user.name=x -c user.email=x commit -qam x
       git worktree remove --force ../linked; git branch -D side; rm -rf sub`,
    )
    assert.deepEqual(contentsOf(ws, beside), before)
    await env.close()
    assert.deepEqual(fs.readdirSync(join(base, 'copies')), [])
  })

  test('O4: a read-only workspace is a copy', async (t) => {
    const { ws, open } = makePlace(t, false)
    const before = contentsOf(ws)
    const env = await open(ws, 'read_only')
    assert.equal((await runIn(env, 'echo x > file')).exit, 0)
    await assert.rejects(requireOps(env, 'file').write('file', 'x', null), { code: 'path_refused' })
    await env.close()
    assert.deepEqual(contentsOf(ws), before)
  })

  test('O4: a nested .git file that names a repository elsewhere is left out', async (t) => {
    const { base, ws, open } = makePlace(t, false)
    fs.mkdirSync(join(ws, 'nested'))
    fs.writeFileSync(join(ws, 'nested/.git'), `gitdir: ${join(base, 'ws/.git/worktrees/linked')}\n`)
    fs.mkdirSync(join(ws, 'stolen'))
    fs.writeFileSync(join(ws, 'stolen/.git'), `gitdir: ${join(base, 'elsewhere/.git')}\n`)
    const env = await open(ws, 'copy')
    assert.equal(fs.readFileSync(join(env.root, 'nested/.git'), 'utf8'), 'gitdir: ../.git/worktrees/linked\n')
    assert.ok(!fs.existsSync(join(env.root, 'stolen/.git')))
    await env.close()
  })

  test('O4: a workspace beyond the limits is refused with the remedy, and nothing is left', async (t) => {
    for (const limits of [
      { files: 5, bytes: 1e9 },
      { files: 1e6, bytes: 100 },
    ]) {
      const { base, ws, open } = makePlace(t, false, limits)
      await assert.rejects(open(ws, 'copy'), {
        code: 'workspace_refused',
        message: /too large to copy; got more than .*expected at most .*do this: move data and build output/,
      })
      assert.deepEqual(fs.readdirSync(join(base, 'copies')), [])
    }
  })

  test('O4: sockets and pipes are left out; copies that a killed process left are removed', async (t) => {
    const { base, ws, open } = makePlace(t, false)
    const original = await open(ws, 'write')
    await runIn(original, 'mkfifo pipe')
    const env = await open(ws, 'copy')
    assert.ok(!fs.existsSync(join(env.root, 'pipe')))
    await runIn(env, 'mkdir shut; touch shut/x; chmod 000 shut')
    await removeLeftCopies(join(base, 'copies'))
    assert.deepEqual(fs.readdirSync(join(base, 'copies')), [])
  })
})
