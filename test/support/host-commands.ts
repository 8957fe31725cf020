/** Runs commands as real processes in a temporary folder. */

import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type HostOptions, hostEnvs } from '../../src/adapters/envs/host/host.ts'
import { processTable } from '../../src/adapters/envs/host/process-table.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { type ProcessOps, requireOps } from '../../src/ports/env.ts'

export const table = processTable()

export const hasProc = fs.existsSync('/proc/self/stat')

const PATH = process.env.PATH ?? '/usr/bin:/bin'

export interface Setup {
  readonly root: string
  readonly calls: string
  readonly process: ProcessOps
  /** The pid that the command writes into a file of the workspace; waits for it. */
  pid(name: string): Promise<number>
}

export async function setUp(t: TestContext, options: Partial<HostOptions> = {}): Promise<Setup> {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'tireless-processes-')))
  t.after(() => fs.rmSync(base, { recursive: true, force: true }))
  const calls = join(base, 'calls')
  const envs = hostEnvs({ callsDir: calls, clock: systemClock, env: { PATH }, ...options })
  const env = await envs.open(join(base, 'ws'))
  const { root } = env
  return { root, calls, process: requireOps(env, 'process'), pid: (name) => waitForLine(join(root, name)).then(Number) }
}

export async function waitForLine(path: string): Promise<string> {
  for (;;) {
    const text = fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : ''
    if (text.endsWith('\n')) return text.trim()
    await systemClock.sleep(5)
  }
}

export const noAbort = new AbortController().signal

export const run = (setUp: Setup, command: string, call = 'call') =>
  setUp.process.run(call, command, { timeoutMs: 60_000, signal: noAbort })

export const isAlive = (pid: number) => table.row(pid)?.zombie === false

/** Starts a `sleep` that belongs to no call. */
export function startBystander(t: TestContext): number {
  const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  return child.pid ?? 0
}

/** Each starts a process that tries to survive its parents, and writes its pid. */
const SURVIVORS: Readonly<Record<string, string>> = {
  background: '(echo $BASHPID > background; exec sleep 1000) &',
  setsid: "setsid sh -c 'echo $$ > setsid; exec sleep 1000' &",
  nohup: "nohup sh -c 'echo $$ > nohup; exec sleep 1000' > /dev/null 2>&1 &",
  daemon:
    '(setsid sh -c \'(echo $$ > /dev/null; sh -c "echo \\$\\$ > daemon; exec sleep 1000") ' +
    "> /dev/null 2>&1 < /dev/null & exit' &) ; true",
  deaf: 'setsid sh -c \'trap "" TERM HUP INT; echo $$ > deaf; while :; do sleep 1000; done\' &',
  nameless: "env -i setsid sh -c 'echo $$ > nameless; exec sleep 1000' &",
  cleared: '(env -i PATH="$PATH" sh -c \'echo $$ > cleared; exec sleep 1000\' > /dev/null 2>&1 &)',
  frozen: "setsid sh -c 'echo $$ > frozen; kill -STOP $$; sleep 1000' &",
}

export const ALL = Object.values(SURVIVORS).join('\n')

export const UNTIL_THERE = `for f in ${Object.keys(SURVIVORS).join(' ')}; do until [ -s $f ]; do sleep 0.01; done; done`

export async function pids(w: Setup): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const name of Object.keys(SURVIVORS)) found.set(name, await w.pid(name))
  return found
}
