/**
 * Limits for all commands of a home together, also for root. The fork bombs are bounded: a limit that fails costs
 * seconds, not the machine.
 */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { hostEnvs } from '../../src/adapters/envs/host/host.ts'
import { createCommandLimits, type ResourceLimits } from '../../src/adapters/envs/host/resource-limits.ts'
import { createSandbox } from '../../src/adapters/envs/sandbox/sandbox.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { type ProcessResult, requireOps } from '../../src/ports/env.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { openApp, runTaskIn } from '../support/open-app.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'
import { countMarked, forkBomb, peakDuring } from './fork-bombs.ts'

const bash = (command: string) => ({ calls: [{ tool: 'bash', args: { command } }] })
const MAX_PROCESSES = 150
const MANY_PROCESSES: ResourceLimits = { processes: 1_000_000, memoryBytes: 2 ** 50, freeDiskBytes: 0 }

async function place(t: TestContext, limits: Partial<ResourceLimits>, without: 'no control group' | 'group' = 'group') {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tireless-limits-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  mkdirSync(join(base, 'ws'))
  const sandbox = createSandbox({ folder: join(base, 'sandbox'), hidden: [], env: process.env, clock: systemClock })
  const all = { ...MANY_PROCESSES, ...limits }
  const own = without === 'group' ? createCommandLimits(all) : createCommandLimits(all, () => undefined)
  t.after(() => own.close())
  const options = { callsDir: join(base, 'calls'), clock: systemClock, env: process.env, limits: own }
  const env = await hostEnvs({ ...options, launcher: sandbox.launcher }).open(join(base, 'ws'))
  const run = (call: string, command: string): Promise<ProcessResult> =>
    requireOps(env, 'process').run(call, command, { timeoutMs: 60_000, signal: new AbortController().signal })
  return { ws: join(base, 'ws'), run }
}

describe('limits of all commands together', { skip: WITHOUT_SANDBOX }, () => {
  test('two fork bombs of two runs at once are limited, killed and reported; the home keeps working', async (t) => {
    const mark = `bomb-${process.pid}-app`
    const model = scriptedModel((_, turn) => (turn === 0 ? bash(forkBomb(mark)) : { text: 'done' }))
    const app = await openApp(t, { model, yaml: `sandbox: required\nlimits: { processes: ${MAX_PROCESSES} }` })
    const peak = await peakDuring(mark, Promise.all([runTaskIn(app, 'one'), runTaskIn(app, 'two')]))
    assert.ok(peak > 10, `the fork bombs ran: ${peak}`)
    assert.ok(peak <= MAX_PROCESSES + 20, `${peak} processes at once`)
    const told = model.requests.map(({ messages }) => JSON.stringify(messages.at(-1))).join()
    assert.match(
      told,
      new RegExp(
        `more than ${MAX_PROCESSES} processes of all commands and servers together; the whole process tree was killed`,
      ),
    )
    assert.equal(countMarked(mark), 0, 'no process of them is left')
  })

  test('the same without a control group: the processes are counted', async (t) => {
    const mark = `bomb-${process.pid}-counted`
    const { run } = await place(t, { processes: MAX_PROCESSES }, 'no control group')
    // How far they get before they are counted varies; that they are found and killed does not.
    const results = await Promise.all([run('a', forkBomb(mark)), run('b', forkBomb(mark))])
    const told = results.map(({ output }) => output).join()
    assert.match(told, /more than 150 processes of all commands and servers together/)
    assert.equal(countMarked(mark), 0)
    assert.equal((await run('c', 'echo works')).output, 'works\n')
  })

  test('memory in total: two commands that are fine alone are too much together', async (t) => {
    const { run } = await place(t, { memoryBytes: 400 * 1024 ** 2 }, 'no control group')
    const fill = (seconds: number): string => `perl -e '$x = "a" x (125 * 1024 * 1024); sleep ${seconds}; print "kept"'`
    assert.equal((await run('alone', fill(1))).output, 'kept')
    const both = await Promise.all([run('a', fill(5)), run('b', fill(5))])
    assert.equal(both.filter(({ output }) => output.includes('more than 400 MB of memory of all commands')).length, 1)
    assert.equal(both.filter(({ output }) => output === 'kept').length, 1)
  })

  test('free disk: a command that fills the disk is killed while there is room left', async (t) => {
    const { bavail, bsize } = statfsSync(tmpdir())
    const { ws, run } = await place(t, { freeDiskBytes: bavail * bsize - 150 * 1024 ** 2 })
    const fill = 'for i in {1..400}; do head -c 10M /dev/zero > fill.$i; sleep 0.02; done; echo full'
    const { output } = await run('fill', fill)
    assert.match(output, /less than \d+ MB free on the disk.*the whole process tree was killed/)
    assert.equal(existsSync(join(ws, 'fill.400')), false)
    assert.equal((await run('tidy', 'rm fill.*; ls')).output, '', 'a command that frees space is not killed')
  })

  test('space cannot be reserved without being written', async (t) => {
    const { run } = await place(t, {})
    const { output, exit } = await run('reserve', 'fallocate -l 100M big 2>&1; echo "$?"; test ! -s big')
    assert.equal(exit, 0, output)
    assert.match(output, /not supported|^1$/m)
  })

  test('doctor shows which limits this machine enforces, and which are only counted', async (t) => {
    const app = await openApp(t, { yaml: 'limits: { processes: 321, memory_mb: 700, free_disk_mb: 90 }' })
    const { checks } = await app.run('doctor', {})
    const found = checks.find(({ name }) => name === 'limits')
    const processes = '321 processes, (enforced by the kernel \\(cgroup v[12]\\)|checked .* a burst can exceed it)'
    assert.match(found?.found ?? '', new RegExp(`${processes}; 700 MB of memory, .*; 90 MB of each disk`))
    assert.match(
      createCommandLimits(MANY_PROCESSES, () => undefined).describe(),
      /processes, checked ten times a second, because no cgroup/,
    )
  })
})
