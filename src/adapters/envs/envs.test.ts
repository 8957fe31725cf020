/** The back ends against the suite of the port, and the same tools on all of them. */

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { IMAGE, WITHOUT_CONTAINERS } from '../../../test/container/here.ts'
import { WITHOUT_SANDBOX } from '../../../test/sandbox/here.ts'
import type { CallResult } from '../../domain/decision.ts'
import type { Json } from '../../domain/json.ts'
import { CLEAN } from '../../domain/trust.ts'
import { type Env, opsOf } from '../../ports/env.ts'
import { envConformance } from '../../testing/env-conformance.ts'
import { systemClock } from '../clock.ts'
import { builtinTools } from '../tools/tools.ts'
import { createContainers } from './container/container.ts'
import { workspaceEnvs } from './envs.ts'
import { createSandbox } from './sandbox/sandbox.ts'

const { PATH } = process.env

type Where = 'machine' | 'sandbox' | 'container'

/** One for all: whether it holds is tried once. */
const containers = createContainers({
  ...{ image: IMAGE, folder: join(os.tmpdir(), `tireless-containers-${process.pid}`) },
  ...{ hidden: [], env: process.env, clock: systemClock },
})
after(() => fs.rmSync(join(os.tmpdir(), `tireless-containers-${process.pid}`), { recursive: true, force: true }))

function place(t: TestContext, where: Where = 'machine') {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'tireless-envs-')))
  t.after(() => fs.rmSync(base, { recursive: true, force: true }))
  const options = { clock: systemClock, env: { PATH } }
  const launchers = {
    machine: undefined,
    sandbox: createSandbox({ ...options, folder: join(base, 'sandbox'), hidden: [] }).launcher,
    container: containers.launcher,
  }
  const envs = workspaceEnvs({ ...options, callsDir: join(base, 'calls'), launcher: launchers[where] })
  return { base, ws: join(base, 'ws'), open: envs.open }
}

const KINDS = ['host', 'repository']
const SKIPPED = { machine: false, sandbox: WITHOUT_SANDBOX, container: WITHOUT_CONTAINERS } as const

async function openEmpty(t: TestContext, kind: string, where: Where = 'machine'): Promise<Env> {
  const { ws, open } = place(t, where)
  if (kind === 'repository') execFileSync('git', ['init', '-q', ws])
  return open(ws, kind)
}

/** What git does in a repository it does on the machine, wherever commands run. */
const BACK_ENDS = [
  ['host', 'machine'],
  ['repository', 'machine'],
  ['host', 'sandbox'],
  ['repository', 'sandbox'],
  ['host', 'container'],
] as const

for (const [kind, where] of BACK_ENDS)
  describe(`the ${kind} env, commands in the ${where}`, { skip: SKIPPED[where] }, () => {
    for (const { name, run } of envConformance) test(name, async (t) => run(await openEmpty(t, kind, where)))
  })

/** What an expression about the env of that folder comes to for somebody without rights: permissions mean nothing to root. */
function asNobody(t: TestContext, ws: string, expression: string): string | undefined {
  fs.chmodSync(join(ws, '..'), 0o777)
  const script = `
    import { hostEnvs } from ${JSON.stringify(new URL('./host/host.ts', import.meta.url).href)}
    const envs = hostEnvs({ callsDir: ${JSON.stringify(join(ws, '../calls'))}, env: {} })
    const env = await envs.open(${JSON.stringify(ws)})
    console.log(JSON.stringify(${expression}))`
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], { ...nobody, encoding: 'utf8' })
  if (!/ERR_MODULE_NOT_FOUND|EACCES.*host\.ts/s.test(child.error?.message ?? child.stderr)) return child.stdout
  t.skip('the sources may be read by root alone')
  return undefined
}

test('case 13: a folder that may not be written to is unhealthy, and says why', async (t) => {
  const { ws } = place(t)
  fs.mkdirSync(ws)
  fs.chmodSync(ws, 0o555)
  const said = asNobody(t, ws, 'await env.health()')
  if (said !== undefined) assert.match(said, /"ok":false.*permission denied/)
})

test('Q7: a file may be written to where it and its folder say so, and a folder where it does', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root, to be somebody else than the owner')
  const { ws } = place(t)
  for (const [folder, mode] of Object.entries({ open: 0o777, shut: 0o755 })) {
    fs.mkdirSync(join(ws, folder), { recursive: true })
    fs.chmodSync(join(ws, folder), mode)
    for (const [file, own] of Object.entries({ rw: 0o666, ro: 0o444 })) {
      fs.writeFileSync(join(ws, folder, file), 'text')
      fs.chmodSync(join(ws, folder, file), own)
    }
  }
  const paths = ['open', 'open/rw', 'open/ro', 'shut', 'shut/rw', 'shut/ro']
  const asked = `await Promise.all(${JSON.stringify(paths)}.map((path) => env.getOps('file').writable(path)))`
  const said = asNobody(t, ws, asked)
  if (said !== undefined) assert.deepEqual(JSON.parse(said), [true, true, false, false, false, false])
})

describe('the folder decides, unless somebody asks', () => {
  const groups = async (opened: Promise<Env>) => (await opened).groups.join(' ')

  test('Q8: a git work tree is a repository, and so is a worktree of it; every other folder is the host', async (t) => {
    const { base, ws, open } = place(t)
    assert.equal(await groups(open(ws)), 'file process')
    execFileSync('git', ['init', '-q', ws])
    assert.equal(await groups(open(ws)), 'file process git')
    assert.equal(await groups(open(ws, 'host')), 'file process')
    fs.symlinkSync(ws, join(base, 'alias'))
    assert.equal(await groups(open(join(base, 'alias'))), 'file process git')
    execFileSync('git', ['-C', ws, '-c', 'user.name=x', '-c', 'user.email=x', 'commit', '-qm', 'x', '--allow-empty'])
    execFileSync('git', ['-C', ws, 'worktree', 'add', '-q', '--detach', join(base, 'linked')])
    assert.equal(await groups(open(join(base, 'linked'))), 'file process git')
  })

  test('Q8: a folder below a repository, and a repository that git will not read, are the host', async (t) => {
    const { ws, open } = place(t)
    execFileSync('git', ['init', '-q', ws])
    assert.equal(await groups(open(join(ws, 'below'))), 'file process')
    fs.rmSync(join(ws, '.git/HEAD'))
    assert.equal(await groups(open(ws)), 'file process')
  })

  test('case 12: what cannot be set up throws: a kind there is none of, a file, a folder without git', async (t) => {
    const { base, ws, open } = place(t)
    await assert.rejects(open(ws, 'moon'), { code: 'not_found', message: /got moon; expected one of host, repository/ })
    await assert.rejects(open(ws, 'repository'), { code: 'workspace_refused', message: /not the top folder of a git/ })
    fs.writeFileSync(join(base, 'file'), '')
    for (const kind of [undefined, ...KINDS])
      await assert.rejects(open(join(base, 'file'), kind), { code: 'workspace_refused', message: /no folder/ })
  })
})

describe('case 28: back ends are interchangeable', () => {
  async function results(env: Env, calls: readonly (readonly [string, Json])[]): Promise<readonly CallResult[]> {
    const seen = new Map<string, string>()
    const told: CallResult[] = []
    for (const [index, [name, args]] of calls.entries()) {
      const tool = builtinTools().find((one) => one.name === name)
      assert.ok(tool)
      const result = await tool.run(tool.args.parse(args), {
        env,
        ops: (group) => opsOf(env, group),
        clock: systemClock,
        signal: new AbortController().signal,
        call: `s/1/${index}`,
        origin: { agent_id: 'default', session_id: 'session', turn: 1 },
        intendedAt: 0,
        cwd: '',
        say: () => {},
        seen,
        label: CLEAN,
      })
      const facts = result.facts as { seen?: Record<string, string> } | undefined
      for (const [path, digest] of Object.entries(facts?.seen ?? {})) seen.set(path, digest)
      told.push({ ...result, content: result.content.replaceAll(env.root, '<root>') })
    }
    return told
  }

  const OUT = ['../x', '/etc/passwd', 'file:///etc/passwd', 'link/passwd', '<root>-evil/x', 'a\0']

  async function onAll(t: TestContext, callsOf: (root: string) => readonly (readonly [string, Json])[]) {
    const told: (readonly CallResult[])[] = []
    for (const [kind, where] of BACK_ENDS.filter((one) => SKIPPED[one[1]] === false)) {
      const env = await openEmpty(t, kind, where)
      fs.symlinkSync('/etc', join(env.root, 'link'))
      told.push(await results(env, callsOf(env.root)))
    }
    for (const other of told.slice(1)) assert.deepEqual(other, told[0])
    return told[0] ?? []
  }

  test('case 28: the same calls have the same results on all of them', async (t) => {
    const told = await onAll(t, () => [
      ['create_file', { path: 'a/b', content: 'one\ntwo\n' }],
      ['edit_file', { path: 'a/b', old: 'two', new: 'three' }],
      ['view_file', { path: 'a/b' }],
      ['view_file', { path: 'a/c' }],
      ['list_files', { path: 'a' }],
      ['bash', { command: 'cat a/b; pwd; echo "($GIT_DIR)"; exit 4' }],
    ])
    assert.deepEqual(
      told.map(({ status }) => status),
      ['ok', 'ok', 'ok', 'error', 'ok', 'error'],
    )
    assert.equal(told.at(-1)?.content, 'one\nthree\n<root>\n()\n[exit 4]')
  })

  test('case 37: every file tool refuses every way out, in the same words on all of them', async (t) => {
    const told = await onAll(t, (root) =>
      OUT.map((path) => path.replace('<root>', root)).flatMap((path): [string, Json][] => [
        ['view_file', { path }],
        ['create_file', { path, content: 'x' }],
        ['edit_file', { path, old: 'a', new: 'b' }],
        ['list_files', { path }],
      ]),
    )
    assert.equal(told.length, OUT.length * 4)
    for (const { status, facts } of told) assert.deepEqual([status, facts], ['error', undefined])
  })
})
