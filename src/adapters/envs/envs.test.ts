/** Runs the env conformance suite, and the same tool calls, on every back end. */

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { IMAGE, WITHOUT_CONTAINERS } from '../../../test/support/container-available.ts'
import { WITHOUT_SANDBOX } from '../../../test/support/sandbox-available.ts'
import type { CallResult } from '../../domain/decision.ts'
import type { Json } from '../../domain/json.ts'
import { CLEAN_LABEL } from '../../domain/label.ts'
import { type Env, requireOps } from '../../ports/env.ts'
import { envConformance } from '../../testing/env-conformance.ts'
import { systemClock } from '../system/clock.ts'
import { builtinTools } from '../tools/tools.ts'
import { createContainers } from './container/container-sandbox.ts'
import { createWorkspaceEnvs } from './envs.ts'
import { createSandbox } from './sandbox/sandbox.ts'

const { PATH } = process.env

type CommandSandbox = 'machine' | 'sandbox' | 'container'

/** Shared by all tests, so that its self-test runs once. */
const containers = createContainers({
  ...{ image: IMAGE, folder: join(os.tmpdir(), `tireless-containers-${process.pid}`) },
  ...{ hidden: [], env: process.env, clock: systemClock },
})
after(() => fs.rmSync(join(os.tmpdir(), `tireless-containers-${process.pid}`), { recursive: true, force: true }))

function makeWorkspace(t: TestContext, where: CommandSandbox = 'machine') {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'tireless-envs-')))
  t.after(() => fs.rmSync(base, { recursive: true, force: true }))
  const options = { clock: systemClock, env: { PATH } }
  const launchers = {
    machine: undefined,
    sandbox: createSandbox({ ...options, folder: join(base, 'sandbox'), hidden: [] }).launcher,
    container: containers.launcher,
  }
  const envs = createWorkspaceEnvs({ ...options, callsDir: join(base, 'calls'), launcher: launchers[where] })
  return { base, ws: join(base, 'ws'), open: envs.open }
}

const KINDS = ['host', 'repository']
const SKIPPED = { machine: false, sandbox: WITHOUT_SANDBOX, container: WITHOUT_CONTAINERS } as const

async function openEmpty(t: TestContext, kind: string, where: CommandSandbox = 'machine'): Promise<Env> {
  const { ws, open } = makeWorkspace(t, where)
  if (kind === 'repository') execFileSync('git', ['init', '-q', ws])
  return open(ws, kind)
}

/** Not `repository` with `container`: the runtime's git runs on the machine there, which `repository` covers above. */
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

/** Evaluates an expression about the env of `ws` as an unprivileged user, because permissions do not stop root. */
function evaluateAsNobody(t: TestContext, ws: string, expression: string): string | undefined {
  fs.chmodSync(join(ws, '..'), 0o777)
  const script = `
    import { hostEnvs } from ${JSON.stringify(new URL('./host/host.ts', import.meta.url).href)}
    const envs = hostEnvs({ callsDir: ${JSON.stringify(join(ws, '../calls'))}, env: {} })
    const env = await envs.open(${JSON.stringify(ws)})
    console.log(JSON.stringify(${expression}))`
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], { ...nobody, encoding: 'utf8' })
  if (!/ERR_MODULE_NOT_FOUND|EACCES.*host\.ts/s.test(child.error?.message ?? child.stderr)) return child.stdout
  t.skip('only root may read the sources')
  return undefined
}

test('case 13: a read-only folder is unhealthy, with the reason', async (t) => {
  const { ws } = makeWorkspace(t)
  fs.mkdirSync(ws)
  fs.chmodSync(ws, 0o555)
  const printed = evaluateAsNobody(t, ws, 'await env.health()')
  if (printed !== undefined) assert.match(printed, /"ok":false.*permission denied/)
})

test('Q7: a file is writable if it and its folder are, a folder if it is itself', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root, to act as another user')
  const { ws } = makeWorkspace(t)
  for (const [folder, mode] of Object.entries({ open: 0o777, shut: 0o755 })) {
    fs.mkdirSync(join(ws, folder), { recursive: true })
    fs.chmodSync(join(ws, folder), mode)
    for (const [file, own] of Object.entries({ rw: 0o666, ro: 0o444 })) {
      fs.writeFileSync(join(ws, folder, file), 'text')
      fs.chmodSync(join(ws, folder, file), own)
    }
  }
  const paths = ['open', 'open/rw', 'open/ro', 'shut', 'shut/rw', 'shut/ro']
  const expression = `await Promise.all(${JSON.stringify(paths)}.map((path) => env.getOps('file').writable(path)))`
  const printed = evaluateAsNobody(t, ws, expression)
  if (printed !== undefined) assert.deepEqual(JSON.parse(printed), [true, true, false, false, false, false])
})

describe('the env kind follows from the folder unless it is given', () => {
  const groups = async (opened: Promise<Env>) => (await opened).groups.join(' ')

  test('Q8: a git work tree and a linked worktree open as repository, any other folder as host', async (t) => {
    const { base, ws, open } = makeWorkspace(t)
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

  test('Q8: a folder below a repository, and a repository that git cannot read, open as host', async (t) => {
    const { ws, open } = makeWorkspace(t)
    execFileSync('git', ['init', '-q', ws])
    assert.equal(await groups(open(join(ws, 'below'))), 'file process')
    fs.rmSync(join(ws, '.git/HEAD'))
    assert.equal(await groups(open(ws)), 'file process')
  })

  test('case 12: an unknown kind, a file, and a folder without git are refused', async (t) => {
    const { base, ws, open } = makeWorkspace(t)
    await assert.rejects(open(ws, 'moon'), { code: 'not_found', message: /got moon; expected one of host, repository/ })
    await assert.rejects(open(ws, 'repository'), { code: 'workspace_refused', message: /not the top folder of a git/ })
    fs.writeFileSync(join(base, 'file'), '')
    for (const kind of [undefined, ...KINDS])
      await assert.rejects(open(join(base, 'file'), kind), {
        code: 'workspace_refused',
        message: /cannot be created or opened/,
      })
  })
})

describe('case 28: back ends are interchangeable', () => {
  async function runCalls(env: Env, calls: readonly (readonly [string, Json])[]): Promise<readonly CallResult[]> {
    const seen = new Map<string, string>()
    const outcomes: CallResult[] = []
    for (const [index, [name, args]] of calls.entries()) {
      const tool = builtinTools().find((one) => one.name === name)
      assert.ok(tool)
      const result = await tool.run(tool.args.parse(args), {
        env,
        ops: (group) => requireOps(env, group),
        clock: systemClock,
        signal: new AbortController().signal,
        call: `s/1/${index}`,
        state: null,
        behaviour: 'solo',
        origin: { agent_id: 'default', session_id: 'session', turn: 1 },
        intendedAt: 0,
        cwd: '',
        say: () => {},
        seen,
        label: CLEAN_LABEL,
      })
      const facts = result.facts as { seen?: Record<string, string> } | undefined
      for (const [path, digest] of Object.entries(facts?.seen ?? {})) seen.set(path, digest)
      outcomes.push({ ...result, content: result.content.replaceAll(env.root, '<root>') })
    }
    return outcomes
  }

  const OUTSIDE = ['../x', '/etc/passwd', 'file:///etc/passwd', 'link/passwd', '<root>-evil/x', 'a\0']

  async function runOnAllBackEnds(t: TestContext, callsOf: (root: string) => readonly (readonly [string, Json])[]) {
    const outcomes: (readonly CallResult[])[] = []
    for (const [kind, where] of BACK_ENDS.filter((one) => SKIPPED[one[1]] === false)) {
      const env = await openEmpty(t, kind, where)
      fs.symlinkSync('/etc', join(env.root, 'link'))
      outcomes.push(await runCalls(env, callsOf(env.root)))
    }
    for (const other of outcomes.slice(1)) assert.deepEqual(other, outcomes[0])
    return outcomes[0] ?? []
  }

  test('case 28: the same calls have the same results on every back end', async (t) => {
    const outcomes = await runOnAllBackEnds(t, () => [
      ['create_file', { path: 'a/b', content: 'one\ntwo\n' }],
      ['edit_file', { path: 'a/b', old: 'two', new: 'three' }],
      ['view_file', { path: 'a/b' }],
      ['view_file', { path: 'a/c' }],
      ['list_files', { path: 'a' }],
      ['bash', { command: 'cat a/b; pwd; echo "($GIT_DIR)"; exit 4' }],
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['ok', 'ok', 'ok', 'error', 'ok', 'error'],
    )
    assert.equal(outcomes.at(-1)?.content, 'one\nthree\n<root>\n()\n[exit 4]')
  })

  test('case 37: every file tool refuses every path outside, with the same message on every back end', async (t) => {
    const outcomes = await runOnAllBackEnds(t, (root) =>
      OUTSIDE.map((path) => path.replace('<root>', root)).flatMap((path): [string, Json][] => [
        ['view_file', { path }],
        ['create_file', { path, content: 'x' }],
        ['edit_file', { path, old: 'a', new: 'b' }],
        ['list_files', { path }],
      ]),
    )
    assert.equal(outcomes.length, OUTSIDE.length * 4)
    for (const { status, facts } of outcomes) assert.deepEqual({ status, facts }, { status: 'error', facts: undefined })
  })
})
