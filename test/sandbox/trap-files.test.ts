/**
 * Files that a command leaves in its workspace and that other programs would obey are removed after the command or a
 * crash: the owner's next git runs none of them.
 */

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { MAIN, NODE_FLAGS } from '../crash/kills.ts'
import { createHome, waitForExit } from '../support/command-line.ts'
import { freshFolder, openApp, runTaskIn, waitUntil } from '../support/open-app.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'
import { KEPT_FILES, OBEYED_FILES } from './obeyed-files.ts'
import { TRAP_FILES, TRAP_FUNCTIONS } from './trap-files.ts'

const bash = (command: string) => ({ calls: [{ tool: 'bash', args: { command } }] })
const final = { text: 'done' }

interface TrappedWorkspace {
  readonly ws: string
  readonly proof: string
  /** Runs bash as the owner of the workspace. */
  readonly asOwner: (command: string) => string
  readonly script: (plant: string) => string
}

function trappedWorkspace(t: TestContext, owner = 'plain .', disk = tmpdir()): TrappedWorkspace {
  const base = realpathSync(mkdtempSync(join(disk, 'tireless-planted-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const [ws, proof] = [join(base, 'ws'), join(base, 'proof')]
  mkdirSync(ws)
  const env = {
    ...{ PATH: process.env.PATH, HOME: base, GIT_CONFIG_NOSYSTEM: '1' },
    ...{ GIT_AUTHOR_NAME: 'o', GIT_AUTHOR_EMAIL: 'o@w', GIT_COMMITTER_NAME: 'o', GIT_COMMITTER_EMAIL: 'o@w' },
  }
  const asOwner = (command: string): string =>
    execFileSync('bash', ['-c', `${TRAP_FUNCTIONS}\n${command}`], { cwd: ws, env, encoding: 'utf8', stdio: 'pipe' })
  asOwner(owner)
  asOwner('[ ! -e .git ] || { git add -A; git commit -qm all; }')
  return { ws, proof, asOwner, script: (plant) => `T='touch ${proof}'\n${TRAP_FUNCTIONS}\n${plant}` }
}

/** The git calls of a shell prompt, an editor and the owner, in every folder that git takes for a repository. */
const OWNER_GIT_CALLS = `{
  echo -ne '.\\0'; find . \\( -name .git -o -name HEAD -o -name commondir \\) -printf '%h\\0'
} | sort -zu | while IFS= read -r -d '' folder; do
  ( cd "$folder" && git status --short && git diff && git fetch --all ) > /dev/null 2>&1
done; true`

/** Opens an app that runs each command it is given as one task. */
async function openTrapApp(t: TestContext) {
  let command = ''
  const model = scriptedModel((_, turn) => (turn === 0 ? bash(command) : final))
  const app = await openApp(t, { model, yaml: 'sandbox: required' })
  /** Contract: the result of the command, as the model reads it. */
  return async ({ ws, script }: TrappedWorkspace, plant: string): Promise<string> => {
    command = script(plant)
    await runTaskIn(app, 'x', { workspace: ws })
    return JSON.stringify(model.requests.at(-1)?.messages.at(-1))
  }
}

describe('trap files that a command leaves', { skip: WITHOUT_SANDBOX }, () => {
  test('are not run or obeyed afterwards', async (t) => {
    const runCommand = await openTrapApp(t)
    for (const { name, plant, removedPath, owner } of TRAP_FILES)
      await t.test(name, async (t) => {
        const here = trappedWorkspace(t, owner)
        const told = await runCommand(here, plant)
        if (removedPath !== undefined) {
          assert.equal(lstatSync(join(here.ws, removedPath), { throwIfNoEntry: false }), undefined)
          assert.match(told, /moved out of the workspace|Read-only/)
        }
        here.asOwner(OWNER_GIT_CALLS)
        assert.equal(existsSync(here.proof), false)
      })
  })

  test('files that other programs obey are removed in every spelling; other files stay', async (t) => {
    const here = trappedWorkspace(t)
    const make = [...OBEYED_FILES, ...KEPT_FILES].map((name) => `mkdir -p "$(dirname '${name}')" && echo x > '${name}'`)
    await (await openTrapApp(t))(here, make.join('\n'))
    const isThere = (name: string): boolean => lstatSync(join(here.ws, name), { throwIfNoEntry: false }) !== undefined
    assert.deepEqual(OBEYED_FILES.filter(isThere), [])
    assert.deepEqual(
      KEPT_FILES.filter((name) => !isThere(name)),
      [],
    )
  })

  test('a link on the path to a hook exposes no file outside the workspace', async (t) => {
    const outside = freshFolder(t, 'outside')
    mkdirSync(join(outside, 'hooks'))
    writeFileSync(join(outside, 'hooks/secret'), 'secret')
    const here = trappedWorkspace(t, 'plain . && git config core.hooksPath tools/hooks')
    const runCommand = await openTrapApp(t)
    await runCommand(here, `ln -s ${outside} tools`)
    assert.equal(readFileSync(join(outside, 'hooks/secret'), 'utf8'), 'secret', 'it was not removed')
    assert.equal(lstatSync(join(here.ws, 'tools'), { throwIfNoEntry: false }), undefined)
    // The owner's own link points there; a command still cannot read through it.
    here.asOwner(`ln -s ${outside} tools`)
    assert.doesNotMatch(await runCommand(here, 'cat tools/hooks/secret'), /"secret/)
  })

  test("file tools do not write files that git obeys by the owner's configuration either", async (t) => {
    const here = trappedWorkspace(
      t,
      'plain . && git config include.path ../.gitconfig && git config core.hooksPath tools/hooks',
    )
    const create = (path: string) => ({ calls: [{ tool: 'create_file', args: { path, content: '[alias]\n' } }] })
    const model = scriptedModel([create('.gitconfig'), create('tools/hooks/pre-commit'), create('tools/other'), final])
    await runTaskIn(await openApp(t, { model }), 'x', { workspace: here.ws })
    const isThere = (name: string): boolean => existsSync(join(here.ws, name))
    assert.deepEqual(['.gitconfig', 'tools/hooks/pre-commit', 'tools/other'].map(isThere), [false, false, true])
    assert.match(JSON.stringify(model.requests.at(-1)?.messages), /the owner's git would run or obey this file/)
  })

  test('the traps work: they run when the owner creates them', async (t) => {
    for (const plant of ['repo a', 'bare a', 'mkdir a && bare data && ln -s ../data a/.git']) {
      const here = trappedWorkspace(t)
      here.asOwner(`T='touch ${here.proof}'; ${plant}`)
      here.asOwner(OWNER_GIT_CALLS)
      assert.equal(existsSync(here.proof), true, plant)
    }
  })

  test('fifty thousand folders hide no trap, and removed files are kept in the home', async (t) => {
    // In memory: on a disk this would take minutes. Also a different file system from the home's.
    const here = trappedWorkspace(t, 'plain .', existsSync('/dev/shm') ? '/dev/shm' : undefined)
    const home = freshFolder(t)
    const many =
      'mkdir -p f{1..500}/g{1..100}; repo f499/g99/x; mkdir f500/g100/.vscode; echo kept > f500/g100/.vscode/tasks.json'
    const app = await openApp(t, {
      home,
      model: scriptedModel([bash(here.script(many)), final]),
      yaml: 'sandbox: required',
    })
    await runTaskIn(app, 'x', { workspace: here.ws })
    here.asOwner('cd f499/g99/x && git status')
    assert.equal(existsSync(here.proof), false)
    assert.equal(existsSync(join(here.ws, 'f500/g100/.vscode')), false)
    const taken = readdirSync(join(home, 'sandbox/taken')).map((name) => join(home, 'sandbox/taken', name))
    const kept = taken
      .map((folder) => join(folder, 'files/f500/g100/.vscode/tasks.json'))
      .filter((file) => existsSync(file))
    assert.deepEqual(
      kept.map((file) => readFileSync(file, 'utf8')),
      ['kept\n'],
    )
    assert.equal(readFileSync(join(taken[0] ?? '', 'from'), 'utf8'), `${here.ws}\n`)
  })

  test('earlier files stay unchanged: repositories with hooks, folders of editors and agents', async (t) => {
    const owner = `plain . && plain sub && plain node_modules/p && mkdir -p .vscode sub/.claude &&
      echo {} > .vscode/settings.json
      echo mine > CLAUDE.md; echo {} > sub/.claude/settings.json
      for r in . sub node_modules/p; do git -C $r config alias.x status; echo true > $r/.git/hooks/pre-commit; done
      echo mine > node_modules/p/AGENTS.md`
    const here = trappedWorkspace(t, owner)
    const before = here.asOwner(
      'find . -name objects -prune -o -type f ! -name file -exec md5sum {} + | grep -v -e index -e COMMIT -e logs',
    )
    const runCommand = await openTrapApp(t)
    const told = await runCommand(
      here,
      'echo work > new.txt; rm -rf node_modules/q; mkdir -p node_modules/q; git status --short',
    )
    assert.doesNotMatch(told, /moved out/)
    const after = here.asOwner(
      [
        'find . -name objects -prune -o -type f ! -name file ! -name new.txt -exec md5sum {} + |',
        'grep -v -e index -e COMMIT -e logs',
      ].join(' '),
    )
    assert.equal(after, before)
  })

  test('ordinary work continues: clone, submodule, worktree, node_modules, workflows, package.json', async (t) => {
    const here = trappedWorkspace(t)
    const runCommand = await openTrapApp(t)
    const told = await runCommand(
      here,
      `set -e; plain src; git clone -q src clone; git clone -q --bare src store.git
       echo more >> clone/file; git -C clone commit -qam more; git worktree add -q tree
       git -c protocol.file.allow=always submodule add -q ./src mod; git -C mod log -1 > /dev/null
       mkdir -p .github/workflows node_modules/a/lib
       echo {} > package.json; echo 'on: push' > .github/workflows/ci.yml; echo x > node_modules/a/lib/HEAD
       git add -A; git commit -qm all; echo all of it`,
    )
    assert.match(told, /all of it/)
    assert.doesNotMatch(told, /moved out/)
    here.asOwner(
      [
        'git -C clone status && git -C tree status && git -C mod status && git -C store.git log -1 &&',
        'test -f .github/workflows/ci.yml',
      ].join(' '),
    )
  })

  test('I4: traps that a killed program left are removed and reported when the home is opened again', async (t) => {
    const here = trappedWorkspace(t)
    const home = await createHome(t, [
      bash(here.script('bare node_modules/x; mkdir .vscode; echo x > .vscode/tasks.json; touch ready; sleep 60')),
      final,
    ])
    const file = join(home, 'tireless.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('sandbox: off', 'sandbox: required'))
    const args = [...NODE_FLAGS, MAIN, 'run', '--behaviour', 'solo', 'go', '--home', home, '--workspace', here.ws]
    const victim = spawn(process.execPath, args, { stdio: 'ignore' })
    t.after(() => victim.kill('SIGKILL'))
    await waitUntil(() => existsSync(join(here.ws, 'ready')))
    victim.kill('SIGKILL')
    await waitForExit(victim)
    assert.equal(existsSync(join(here.ws, '.vscode')), true, 'the trap was placed')
    const app = await openApp(t, { home })
    assert.equal(existsSync(join(here.ws, '.vscode')), false)
    here.asOwner(OWNER_GIT_CALLS)
    assert.equal(existsSync(here.proof), false)
    assert.match(
      app.service('sandbox').swept.join(),
      /a crash interrupted a command; moved out of the workspace.*\.vscode/,
    )
    await app.close()
    assert.deepEqual((await openApp(t, { home })).service('sandbox').swept, [], 'once')
  })
})
