/**
 * The env's conformance suite: what every back end must show. Each case gets an env that was opened on an empty workspace `ws` (a
 * repository's `.git` aside) in a folder where nothing else is:  for (const { name, run } of envConformance) test(name, async () => run(await openEmpty()))
 */

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Env, type FileOps, type OpsGroup, opsOf } from '../ports/env.ts'

export interface EnvConformanceCase {
  readonly name: string
  run(env: Env): Promise<void>
}

const GROUPS: readonly OpsGroup[] = ['file', 'process', 'git']
const TEXT = 'text\n'
const SECRET = 'secret\n'

/** Beside the workspace, with a name that begins like its own: what must be neither read nor changed. */
function evilBeside(env: Env): { readonly folder: string; isUntouched(): boolean } {
  const folder = `${env.root}-evil`
  const secret = join(folder, 'secret')
  fs.mkdirSync(folder)
  fs.writeFileSync(secret, SECRET)
  return {
    folder,
    isUntouched: () => fs.readdirSync(folder).length === 1 && fs.readFileSync(secret, 'utf8') === SECRET,
  }
}

async function refusedBy(file: FileOps, path: string): Promise<void> {
  const works: readonly [string, () => Promise<unknown>][] = [
    ['read', () => file.read(path)],
    ['write', () => file.write(path, TEXT, null)],
    ['writable', () => file.writable(path)],
    ['list', () => file.list(path, 1, 10)],
  ]
  for (const [name, work] of works)
    await assert.rejects(work, (error: Error & { code?: string }) => {
      assert.equal(error.code, 'path_refused', `${name} ${path}: ${error.message}`)
      return true
    })
}

const run = (env: Env, command: string) =>
  opsOf(env, 'process').run('conformance', command, { timeoutMs: 60_000, signal: new AbortController().signal })

export const envConformance: readonly EnvConformanceCase[] = [
  {
    name: 'Q8: it has the ops groups it names, the same each time, and no others',
    async run(env) {
      assert.deepEqual(
        GROUPS.filter((group) => env.getOps(group) !== undefined),
        GROUPS.filter((group) => env.groups.includes(group)),
      )
      for (const group of env.groups) assert.equal(env.getOps(group), env.getOps(group))
    },
  },
  {
    name: 'case 13: a group that it does not have is refused by name',
    async run(env) {
      const bare: Env = { ...env, groups: [], getOps: () => undefined }
      for (const group of GROUPS)
        assert.throws(() => opsOf(bare, group), { code: 'tool_failed', message: new RegExp(`no ops group "${group}"`) })
    },
  },
  {
    name: 'Q8: what is written is read, listed and seen by commands',
    async run(env) {
      const file = opsOf(env, 'file')
      const { sha } = await file.write('a/b', TEXT, null)
      assert.deepEqual(await file.read('a/b'), { text: TEXT, sha })
      assert.equal(await file.read('none'), undefined)
      assert.deepEqual(await file.list('a', 1, 10), { entries: [{ path: 'a/b', bytes: 5 }], more: false })
      await assert.rejects(file.write('a/b', 'other', null), { code: 'conflict' })
      const done = await run(env, 'cat a/b; pwd; exit 3')
      assert.deepEqual([done.exit, done.ended, done.output], [3, 'exited', `${TEXT}${env.root}\n`])
      await opsOf(env, 'process').forget('conformance')
    },
  },
  {
    name: 'Q8: whether a file or a folder may be written to is told without a write',
    async run(env) {
      const file = opsOf(env, 'file')
      await file.write('a/b', TEXT, null)
      const looks = (): unknown => ['', 'a', 'a/b'].map((path) => fs.statSync(join(env.root, path)).mtimeMs)
      const before = [looks(), fs.readdirSync(join(env.root, 'a'))]
      const told = ['a/b', 'a', '.', 'none', 'none/b'].map((path) => file.writable(path))
      assert.deepEqual(await Promise.all(told), [true, true, true, false, false])
      assert.deepEqual([looks(), fs.readdirSync(join(env.root, 'a'))], before)
    },
  },
  {
    name: 'case 37: a path that leads out by its letters is refused by every operation',
    async run(env) {
      const evil = evilBeside(env)
      const secret = join(evil.folder, 'secret')
      const paths = ['..', '../ws-evil/secret', 'a/../../ws-evil/secret', '/etc/passwd', evil.folder, secret]
      const urls = [pathToFileURL(secret).href, 'file:secret', 'FILE://localhost/etc/passwd']
      for (const path of [...paths, ...urls, `${env.root}/../ws-evil/secret`, 'a\0b', '~/x'])
        await refusedBy(opsOf(env, 'file'), path)
      assert.ok(evil.isUntouched())
    },
  },
  {
    name: 'case 37: a link that leads out is refused by every operation',
    async run(env) {
      const evil = evilBeside(env)
      const file = opsOf(env, 'file')
      fs.symlinkSync(evil.folder, join(env.root, 'folder'))
      fs.symlinkSync(join(evil.folder, 'secret'), join(env.root, 'file'))
      fs.linkSync(join(evil.folder, 'secret'), join(env.root, 'hard'))
      for (const path of ['folder/secret', 'folder/new', 'file']) await refusedBy(file, path)
      await assert.rejects(file.read('hard'), { code: 'path_refused' })
      assert.ok(evil.isUntouched())
    },
  },
  {
    name: 'Q8: nothing is written to names that others obey; they may be read',
    async run(env) {
      const file = opsOf(env, 'file')
      fs.mkdirSync(join(env.root, 'sub/.git/hooks'), { recursive: true })
      fs.writeFileSync(join(env.root, '.mcp.json'), TEXT)
      assert.equal((await file.read('.mcp.json'))?.text, TEXT)
      for (const path of [
        '.mcp.json',
        '.tireless/x',
        '.claude/agents/a.md',
        'sub/.git/hooks/pre-commit',
        'sub/.git/config',
        // At any depth, because several programs look in every folder.
        'sub/.mcp.json',
        'sub/deep/.vscode/tasks.json',
        'sub/CLAUDE.md',
        'sub/HEAD',
        // The same names to file systems that do not tell cases apart, or leave out what is at the end.
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
    name: 'Q8: a command stands where the one before has ended, as long as that is in the workspace',
    async run(env) {
      const stands = async (command: string, cwd: string): Promise<string> =>
        (
          await opsOf(env, 'process').run('conformance', command, {
            timeoutMs: 60_000,
            signal: new AbortController().signal,
            cwd,
          })
        ).cwd
      assert.equal(await stands('mkdir -p a/b && cd a/b', ''), 'a/b')
      assert.equal(await stands('cd .. && test -d b', 'a/b'), 'a')
      assert.equal(await stands('cd /tmp', 'a'), '')
      assert.equal(await stands('cd b; exit 3', 'a'), 'a/b')
      assert.equal(await stands('rm -r ../b', 'a/b'), 'a/b')
      assert.equal(await stands('test -d a', 'a/b'), '')
      assert.equal(await stands('test -d a', '../../..'), '')
    },
  },
  {
    name: 'Q9: what a command writes is heard while it runs',
    async run(env) {
      const heard: string[] = []
      const seen = join(env.root, 'seen')
      const hear = (text: string): void => {
        heard.push(text)
        if (heard.join('').includes('first')) fs.writeFileSync(seen, '')
      }
      // It ends only because it was heard.
      const waiting = 'echo first; until [ -e seen ]; do sleep 0.01; done; echo last'
      const options = { timeoutMs: 60_000, signal: new AbortController().signal, heard: hear }
      const done = await opsOf(env, 'process').run('conformance', waiting, options)
      assert.deepEqual([done.exit, done.output], [0, 'first\nlast\n'])
    },
  },
  {
    name: 'Q8: it is healthy until its folder is gone, replaced by a link, or by a file; and looking changes nothing',
    async run(env) {
      const before = fs.statSync(env.root).mtimeMs
      assert.deepEqual(await env.health(), { ok: true })
      assert.equal(fs.statSync(env.root).mtimeMs, before)
      const aside = join(dirname(env.root), 'aside')
      fs.renameSync(env.root, aside)
      await unhealthy(env)
      fs.symlinkSync(aside, env.root)
      await unhealthy(env)
      fs.unlinkSync(env.root)
      fs.writeFileSync(env.root, TEXT, { mode: 0o755 })
      await unhealthy(env)
      fs.unlinkSync(env.root)
      fs.renameSync(aside, env.root)
      assert.deepEqual(await env.health(), { ok: true })
    },
  },
  {
    name: 'Q8: closing takes nothing from the workspace, and can be done again',
    async run(env) {
      await opsOf(env, 'file').write('kept', TEXT, null)
      await env.close()
      await env.close()
      assert.equal(fs.readFileSync(join(env.root, 'kept'), 'utf8'), TEXT)
    },
  },
]

async function unhealthy(env: Env): Promise<void> {
  const health = await env.health()
  assert.ok(!health.ok)
  assert.ok(health.reason.length > 0)
}
