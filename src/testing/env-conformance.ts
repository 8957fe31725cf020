/**
 * The conformance suite of the env port. Each case gets an env on an empty workspace `ws` (except a repository's
 * `.git`) in a folder without other files:
 * for (const { name, run } of envConformance) test(name, async () => run(await openEmpty()))
 */

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Env, type FileOps, type OpsGroup, requireOps } from '../ports/env.ts'

export interface EnvConformanceCase {
  readonly name: string
  run(env: Env): Promise<void>
}

const GROUPS: readonly OpsGroup[] = ['file', 'process', 'git']
const TEXT = 'text\n'
const SECRET = 'secret\n'

/** Creates a folder next to the workspace, with a similar name, that must not be read or changed. */
function createForbiddenFolder(env: Env): { readonly folder: string; isUntouched(): boolean } {
  const folder = `${env.root}-evil`
  const secret = join(folder, 'secret')
  fs.mkdirSync(folder)
  fs.writeFileSync(secret, SECRET)
  return {
    folder,
    isUntouched: () => fs.readdirSync(folder).length === 1 && fs.readFileSync(secret, 'utf8') === SECRET,
  }
}

async function assertRefused(file: FileOps, path: string): Promise<void> {
  const operations: readonly [string, () => Promise<unknown>][] = [
    ['read', () => file.read(path)],
    ['write', () => file.write(path, TEXT, null)],
    ['writable', () => file.writable(path)],
    ['list', () => file.list(path, 1, 10)],
  ]
  for (const [name, operation] of operations)
    await assert.rejects(operation, (error: Error & { code?: string }) => {
      assert.equal(error.code, 'path_refused', `${name} ${path}: ${error.message}`)
      return true
    })
}

const run = (env: Env, command: string) =>
  requireOps(env, 'process').run('conformance', command, { timeoutMs: 60_000, signal: new AbortController().signal })

export const envConformance: readonly EnvConformanceCase[] = [
  {
    name: 'Q8: getOps returns exactly the ops groups that the env names, always the same objects',
    async run(env) {
      assert.deepEqual(
        GROUPS.filter((group) => env.getOps(group) !== undefined),
        GROUPS.filter((group) => env.groups.includes(group)),
      )
      for (const group of env.groups) assert.equal(env.getOps(group), env.getOps(group))
    },
  },
  {
    name: 'case 13: a missing ops group is refused by name',
    async run(env) {
      const bare: Env = { ...env, groups: [], getOps: () => undefined }
      for (const group of GROUPS)
        assert.throws(() => requireOps(bare, group), {
          code: 'tool_failed',
          message: new RegExp(`no ops group "${group}"`),
        })
    },
  },
  {
    name: 'Q8: a written file can be read, listed and used by commands',
    async run(env) {
      const file = requireOps(env, 'file')
      const { sha } = await file.write('a/b', TEXT, null)
      assert.deepEqual(await file.read('a/b'), { text: TEXT, sha })
      assert.equal(await file.read('none'), undefined)
      assert.deepEqual(await file.list('a', 1, 10), { entries: [{ path: 'a/b', bytes: 5 }], more: false })
      await assert.rejects(file.write('a/b', 'other', null), { code: 'conflict' })
      const done = await run(env, 'cat a/b; pwd; exit 3')
      assert.deepEqual(
        { exit: done.exit, ended: done.ended, output: done.output },
        { exit: 3, ended: 'exited', output: `${TEXT}${env.root}\n` },
      )
      await requireOps(env, 'process').forget('conformance')
    },
  },
  {
    name: 'Q8: writable checks files and folders without writing',
    async run(env) {
      const file = requireOps(env, 'file')
      await file.write('a/b', TEXT, null)
      const modificationTimes = (): unknown => ['', 'a', 'a/b'].map((path) => fs.statSync(join(env.root, path)).mtimeMs)
      const look = () => ({ times: modificationTimes(), names: fs.readdirSync(join(env.root, 'a')) })
      const before = look()
      const answers = ['a/b', 'a', '.', 'none', 'none/b'].map((path) => file.writable(path))
      assert.deepEqual(await Promise.all(answers), [true, true, true, false, false])
      assert.deepEqual(look(), before)
    },
  },
  {
    name: 'case 37: a path that leaves the workspace is refused by every operation',
    async run(env) {
      const forbidden = createForbiddenFolder(env)
      const secret = join(forbidden.folder, 'secret')
      const paths = ['..', '../ws-evil/secret', 'a/../../ws-evil/secret', '/etc/passwd', forbidden.folder, secret]
      const urls = [pathToFileURL(secret).href, 'file:secret', 'FILE://localhost/etc/passwd']
      for (const path of [...paths, ...urls, `${env.root}/../ws-evil/secret`, 'a\0b', '~/x'])
        await assertRefused(requireOps(env, 'file'), path)
      assert.ok(forbidden.isUntouched())
    },
  },
  {
    name: 'case 37: a link that leaves the workspace is refused by every operation',
    async run(env) {
      const forbidden = createForbiddenFolder(env)
      const file = requireOps(env, 'file')
      fs.symlinkSync(forbidden.folder, join(env.root, 'folder'))
      fs.symlinkSync(join(forbidden.folder, 'secret'), join(env.root, 'file'))
      fs.linkSync(join(forbidden.folder, 'secret'), join(env.root, 'hard'))
      for (const path of ['folder/secret', 'folder/new', 'file']) await assertRefused(file, path)
      await assert.rejects(file.read('hard'), { code: 'path_refused' })
      assert.ok(forbidden.isUntouched())
    },
  },
  {
    name: 'Q8: configuration files of other programs can be read but not written',
    async run(env) {
      const file = requireOps(env, 'file')
      fs.mkdirSync(join(env.root, 'sub/.git/hooks'), { recursive: true })
      fs.writeFileSync(join(env.root, '.mcp.json'), TEXT)
      assert.equal((await file.read('.mcp.json'))?.text, TEXT)
      for (const path of [
        '.mcp.json',
        '.tireless/x',
        '.claude/agents/a.md',
        'sub/.git/hooks/pre-commit',
        'sub/.git/config',
        // Protected at any depth, because several programs read these files in every folder.
        'sub/.mcp.json',
        'sub/deep/.vscode/tasks.json',
        'sub/CLAUDE.md',
        'sub/HEAD',
        // The same names for file systems that ignore case or trailing characters.
        'TIRELESS.yaml',
        '.Claude/x',
        '.mcp.json.',
        'sub/.GIT /config',
      ])
        await assert.rejects(file.write(path, TEXT, null), { code: 'path_refused' }, path)
      await file.write('sub/package.json', TEXT, null)
    },
  },
  {
    name: 'Q8: a command starts in the folder where the previous one ended, if inside the workspace',
    async run(env) {
      const cwdAfter = async (command: string, cwd: string): Promise<string> =>
        (
          await requireOps(env, 'process').run('conformance', command, {
            timeoutMs: 60_000,
            signal: new AbortController().signal,
            cwd,
          })
        ).cwd
      assert.equal(await cwdAfter('mkdir -p a/b && cd a/b', ''), 'a/b')
      assert.equal(await cwdAfter('cd .. && test -d b', 'a/b'), 'a')
      assert.equal(await cwdAfter('cd /tmp', 'a'), '')
      assert.equal(await cwdAfter('cd b; exit 3', 'a'), 'a/b')
      assert.equal(await cwdAfter('rm -r ../b', 'a/b'), 'a/b')
      assert.equal(await cwdAfter('test -d a', 'a/b'), '')
      assert.equal(await cwdAfter('test -d a', '../../..'), '')
    },
  },
  {
    name: 'Q9: output of a command is reported while it runs',
    async run(env) {
      const heard: string[] = []
      const seen = join(env.root, 'seen')
      const onOutput = (text: string): void => {
        heard.push(text)
        if (heard.join('').includes('first')) fs.writeFileSync(seen, '')
      }
      // The command ends only after its first output was reported: the callback then creates the file `seen`.
      const command = 'echo first; until [ -e seen ]; do sleep 0.01; done; echo last'
      const options = { timeoutMs: 60_000, signal: new AbortController().signal, onOutput }
      const done = await requireOps(env, 'process').run('conformance', command, options)
      assert.deepEqual({ exit: done.exit, output: done.output }, { exit: 0, output: 'first\nlast\n' })
    },
  },
  {
    name: 'Q8: the env is unhealthy if its folder is missing, a link or a file; the check changes nothing',
    async run(env) {
      const before = fs.statSync(env.root).mtimeMs
      assert.deepEqual(await env.health(), { ok: true })
      assert.equal(fs.statSync(env.root).mtimeMs, before)
      const movedAway = join(dirname(env.root), 'aside')
      fs.renameSync(env.root, movedAway)
      await assertUnhealthy(env)
      fs.symlinkSync(movedAway, env.root)
      await assertUnhealthy(env)
      fs.unlinkSync(env.root)
      fs.writeFileSync(env.root, TEXT, { mode: 0o755 })
      await assertUnhealthy(env)
      fs.unlinkSync(env.root)
      fs.renameSync(movedAway, env.root)
      assert.deepEqual(await env.health(), { ok: true })
    },
  },
  {
    name: 'Q8: close removes nothing from the workspace and is idempotent',
    async run(env) {
      await requireOps(env, 'file').write('kept', TEXT, null)
      await env.close()
      await env.close()
      assert.equal(fs.readFileSync(join(env.root, 'kept'), 'utf8'), TEXT)
    },
  },
]

async function assertUnhealthy(env: Env): Promise<void> {
  const health = await env.health()
  assert.ok(!health.ok)
  assert.ok(health.reason.length > 0)
}
