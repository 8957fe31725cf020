/**
 * Commands in containers: what they can see and write, that no process is left, and that a weakened container is
 * detected.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { createContainers } from '../../src/adapters/envs/container/container-sandbox.ts'
import { hostEnvs } from '../../src/adapters/envs/host/host.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { type ProcessOps, type RunOptions, requireOps } from '../../src/ports/env.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { waitForExit } from '../support/command-line.ts'
import { ENGINE, IMAGE, WITHOUT_CONTAINERS } from '../support/container-available.ts'
import { freshFolder, isSleepRunning, openApp, runTaskIn, waitUntil } from '../support/open-app.ts'

const options = (base: string) => ({
  ...{ image: IMAGE, folder: join(base, 'sandbox'), hidden: [], env: process.env, clock: systemClock },
})

async function processesIn(base: string): Promise<ProcessOps> {
  const { launcher } = createContainers(options(base))
  const envs = hostEnvs({ callsDir: join(base, 'calls'), clock: systemClock, env: process.env, launcher })
  return requireOps(await envs.open(join(base, 'ws')), 'process')
}

interface Workspace {
  readonly base: string
  readonly root: string
  run(command: string, more?: Partial<RunOptions>): ReturnType<ProcessOps['run']>
}

async function openWorkspace(t: TestContext): Promise<Workspace> {
  const base = freshFolder(t, 'container')
  const root = join(base, 'ws')
  mkdirSync(join(root, '.git/hooks'), { recursive: true })
  writeFileSync(join(root, '.git/HEAD'), 'ref: refs/heads/main\n')
  writeFileSync(join(root, '.git/config'), '[core]\n')
  const processes = await processesIn(base)
  const { signal } = new AbortController()
  return {
    base,
    root,
    run: (command, more) => processes.run('call', command, { timeoutMs: 60_000, signal, ...more }),
  }
}

/** A module of the adapters as a string literal for an import statement. */
const importPath = (path: string): string => JSON.stringify(new URL(`../../src/adapters/${path}`, import.meta.url).href)

/** The output of all calls so far. */
const outputIn = (calls: string): string =>
  readdirSync(calls)
    .map((name) => join(calls, name, 'output'))
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('')

const listContainers = async (): Promise<string> =>
  (await ENGINE?.run('ps', '--all', '--filter', 'name=^tireless-')) ?? ''

describe('a command in a container', { skip: WITHOUT_CONTAINERS }, () => {
  test('Q8: has no capabilities and no network; writes the workspace, but no protected names', async (t) => {
    const { root, run } = await openWorkspace(t)
    const { output } = await run(`id -u; echo $HOME; touch made ~/kept && echo both written
grep -c -E '^Cap(Prm|Eff|Bnd):.0+$' /proc/self/status
{ : > /etc/x; } 2> /dev/null || echo root kept
{ : > .git/hooks/pre-commit; } 2> /dev/null || echo hooks kept
{ : >> .git/config; } 2> /dev/null || echo config kept
{ mv .git away; } 2> /dev/null || echo place kept
{ exec 5<> /dev/tcp/1.1.1.1/53; } 2> /dev/null || echo no network
echo '{}' > .mcp.json; cat ${join(root, '../sandbox/container-bash-env')} 2> /dev/null || echo no home`)
    const protections = ['root kept', 'hooks kept', 'config kept', 'place kept', 'no network', 'no home']
    const removed = '\n[removed, because agents do not write these: .mcp.json]'
    const expected = [process.getuid?.(), '/home/agent', 'both written', 3, ...protections].join('\n')
    assert.equal(output, `${expected}\n${removed}`)
    assert.deepEqual(readdirSync(root).sort(), ['.git', 'made'])
  })

  test('Q8: leaves no process when it ends, times out or is cancelled', async (t) => {
    const { run } = await openWorkspace(t)
    const mark = `${60_000 + process.pid}.5`
    const hide = `setsid sleep ${mark} < /dev/null > /dev/null 2>&1 &`
    assert.equal((await run(`${hide} exit 4`)).exit, 4)
    assert.equal(isSleepRunning(mark), false)
    assert.equal((await run(`${hide} sleep ${mark}`, { timeoutMs: 3000 })).ended, 'timed_out')
    assert.equal(isSleepRunning(mark), false)
    const stop = new AbortController()
    const cancelled = run(`trap '' TERM; ${hide} while :; do sleep ${mark}; done`, { signal: stop.signal })
    await waitUntil(() => isSleepRunning(mark))
    stop.abort()
    assert.equal((await cancelled).ended, 'interrupted')
    assert.equal(isSleepRunning(mark), false)
    assert.doesNotMatch(await listContainers(), /tireless-/)
  })

  test('I4: after SIGKILL of the program, the next start ends its containers and keeps their output', async (t) => {
    const { base } = await openWorkspace(t)
    for (const how of ['asked about', 'not asked about'] as const) {
      const mark = `${70_000 + process.pid}.${how.length}`
      const script = `
        import { systemClock } from ${importPath('system/clock.ts')}
        import { hostEnvs } from ${importPath('envs/host/host.ts')}
        import { createContainers } from ${importPath('envs/container/container-sandbox.ts')}
        const { env, clock } = { env: process.env, clock: systemClock }
        const given = ${JSON.stringify({ ...options(base), env: {}, clock: null })}
        const { launcher } = createContainers({ ...given, env, clock })
        const envs = hostEnvs({ callsDir: ${JSON.stringify(join(base, 'calls'))}, clock, env, launcher })
        const opened = await envs.open(${JSON.stringify(join(base, 'ws'))})
        const { signal } = new AbortController()
        await opened.getOps('process').run('c', 'echo begun; sleep ${mark}', { timeoutMs: 600000, signal })`
      const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]
      const child = spawn(process.execPath, flags, { stdio: 'ignore' })
      t.after(() => child.kill('SIGKILL'))
      await waitUntil(() => isSleepRunning(mark) && outputIn(join(base, 'calls')).includes('begun\n'))
      child.kill('SIGKILL')
      await waitForExit(child)
      assert.equal(isSleepRunning(mark), true, 'a container must outlive the program that started it')
      if (how === 'asked about')
        assert.deepEqual(await (await processesIn(base)).reap('c'), { output: 'begun\n', killed: true })
      else assert.equal((await createContainers(options(base)).trial()).holds, true)
      assert.equal(isSleepRunning(mark), false)
    }
  })

  test('Q8: a call that needs a network is refused with the reason', async (t) => {
    const { run } = await openWorkspace(t)
    const network = () => assert.fail('no connection may be opened')
    await assert.rejects(run('true', { network }), { code: 'tool_failed', message: /in a container have none/ })
  })
})

test('Q8: with sandbox_image, bash runs in a container and doctor tests it', {
  skip: WITHOUT_CONTAINERS,
}, async (t) => {
  const bashCall = { calls: [{ tool: 'bash', args: { command: 'echo "$HOSTNAME"; ls /usr/bin | grep -c .; pwd' } }] }
  const model = scriptedModel([bashCall, { text: 'done' }])
  const app = await openApp(t, { model, yaml: `sandbox: required\nsandbox_image: ${IMAGE}` })
  const { session_id } = await runTaskIn(app)
  assert.match(model.requests[0]?.tools.find(({ name }) => name === 'bash')?.description ?? '', /In a container/)
  const result = JSON.stringify(model.requests[1]?.messages.at(-1))
  assert.match(result, new RegExp(`sandbox\\\\n\\d\\d\\\\n.*${session_id}\\\\n\\[exit 0\\]`))
  assert.match(JSON.stringify(await app.run('doctor', {})), /a container of tireless-test .* it was tried and holds/)
})

describe('a weakened container', { skip: WITHOUT_CONTAINERS }, () => {
  const WEAKER: readonly (readonly [guard: string, from: string, to: string, got: RegExp])[] = [
    ['its own network', '--network none', '--network host', /opened a connection/],
    ['no capabilities', '--cap-drop ALL', '--cap-drop MKNOD', /capabilities/],
    ['guards of git', '/hooks,readonly', '/hooks', /a hook of git written/],
    ['a read-only root', '--read-only ', '', /\/usr writable/],
  ]
  for (const [guard, from, to, expected] of WEAKER)
    test(`is detected: without ${guard}`, async (t) => {
      const base = freshFolder(t, 'weak')
      const program = join(base, ENGINE?.name ?? '')
      // The command itself may contain blanks, so only the arguments before it are changed.
      writeFileSync(
        program,
        `#!/bin/bash
[ "$1" = run ] || exec ${ENGINE?.program} "$@"
args=(); while [ "$1" != --entrypoint ]; do args+=("$1"); shift; done
all="\${args[*]} "; changed=\${all/"${from}"/"${to}"}
[ "$changed" = "$all" ] && { echo "the argument was not found"; exit 99; }
exec ${ENGINE?.program} $changed "$@"
`,
      )
      chmodSync(program, 0o755)
      const env = { ...process.env, PATH: `${base}:/usr/bin:/bin` }
      const trial = await createContainers({ ...options(base), env }).trial()
      assert.ok(!trial.holds)
      assert.match(trial.why, expected)
    })
})
