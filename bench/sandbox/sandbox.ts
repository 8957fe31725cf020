/**
 * The sandbox suite: the time of a command in the sandbox, compared with a plain process and with our env without a
 * sandbox. They take turns after each command, so that other load affects all of them.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { hostEnvs } from '../../src/adapters/envs/host/host.ts'
import { createSandbox } from '../../src/adapters/envs/sandbox/sandbox.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { type OpenSocketProxy, requireOps } from '../../src/ports/env.ts'
import { atMost } from '../bars.ts'
import { machineNow } from '../machine.ts'
import { type Figure, figureOf } from '../measure.ts'
import { lower, quotient } from '../ratios.ts'
import { barsTable, headOf, spread, table } from '../report.ts'
import type { Scale, SuiteOptions, SuiteResults } from '../suite.ts'

interface SandboxResults extends SuiteResults {
  readonly suite: 'sandbox'
  readonly what: string
  readonly tryMs: number
  readonly rows: readonly { readonly name: string; readonly ms: Figure }[]
}

const COMMAND = 'true'
const PLANS: Readonly<Record<Scale, { readonly warmUp: number; readonly rounds: number }>> = {
  full: { warmUp: 5, rounds: 200 },
  quick: { warmUp: 5, rounds: 30 },
  smoke: { warmUp: 0, rounds: 2 },
}

export async function measureSandbox({ scale, folder, say }: SuiteOptions): Promise<SandboxResults> {
  const machine = machineNow()
  const { PATH = '' } = process.env
  const ws = join(folder, 'ws')
  mkdirSync(ws)
  const sandbox = createSandbox({
    folder: join(folder, 'sandbox'),
    hidden: [folder],
    env: { PATH },
    clock: systemClock,
  })
  const began = performance.now()
  const trial = await sandbox.trial()
  const tryMs = performance.now() - began
  if (!trial.holds) throw new Error(`the sandbox does not work on this machine: ${trial.why}; ${trial.remedy}`)
  const rows = await measureRounds(
    await subjectsIn(ws, { folder, PATH, launcher: sandbox.launcher }),
    PLANS[scale],
    say,
  )
  const at = new Date().toISOString()
  return { suite: 'sandbox', scale, at, machine, what: trial.what, tryMs, rows, ...judgeRows(rows, scale) }
}

type Row = SandboxResults['rows'][number]
type Launcher = ReturnType<typeof createSandbox>['launcher']

/** Bars and ratios: what a command costs more than a bare one. */
function judgeRows(rows: readonly Row[], scale: Scale): Pick<SandboxResults, 'bars' | 'ratios'> {
  const [plain, , boxed, reaching] = rows
  const over = (row: Row | undefined) => row && plain && row.ms.median - plain.ms.median
  const format = { unit: ' ms', digits: 1 }
  const bars = [
    atMost('P7', 'a sandboxed command over the bare one', 15, over(boxed), format),
    atMost('P7', 'the same with a proxy to allowed hosts', 35, over(reaching), format),
  ]
  const ratios = rows
    .slice(1)
    .map(({ name, ms }) => lower(`a command, ${name}, against a bare one`, quotient(ms.median, plain?.ms.median)))
  return { bars: scale === 'smoke' ? [] : bars, ratios }
}

/** The subjects take turns after each command. */
async function measureRounds(
  subjects: Readonly<Record<string, Subject>>,
  { warmUp, rounds }: (typeof PLANS)[Scale],
  say: SuiteOptions['say'],
): Promise<readonly Row[]> {
  const samples = Object.keys(subjects).map((): number[] => [])
  say(`${rounds} rounds …`)
  for (let round = -warmUp; round < rounds; round += 1)
    for (const [at, { run, afterwards }] of Object.values(subjects).entries()) {
      const from = performance.now()
      await run()
      if (round >= 0) samples[at]?.push(performance.now() - from)
      await afterwards()
    }
  return Object.keys(subjects).map((name, at) => ({ name, ms: figureOf(samples[at] ?? []) }))
}

interface Place {
  readonly folder: string
  readonly PATH: string
  readonly launcher: Launcher
}

async function subjectsIn(ws: string, { folder, PATH, launcher }: Place): Promise<Readonly<Record<string, Subject>>> {
  const options = { callsDir: join(folder, 'calls'), clock: systemClock, env: { PATH } }
  let calls = 0
  const ours = async (launcher?: Launcher, network = false): Promise<Subject> => {
    const processes = requireOps(await hostEnvs({ ...options, launcher }).open(ws), 'process')
    // Every call has its own name; with a repeated one, the env would first look for remains.
    const name = () => `bench-${calls}`
    return {
      async run() {
        calls += 1
        const { exit } = await processes.run(name(), COMMAND, {
          timeoutMs: 60_000,
          signal: new AbortController().signal,
          ...(network && { network: openProxy }),
        })
        if (exit !== 0) throw new Error(`the command ended with ${exit}`)
      },
      // The engine does this after the step is committed, so it does not count.
      afterwards: () => processes.forget(name()),
    }
  }
  return {
    bare: bare(ws),
    'ours, no sandbox': await ours(),
    sandboxed: await ours(launcher),
    'with a way out': await ours(launcher, true),
  }
}

/** A proxy that refuses nothing and reaches nothing: only its start and end are measured. */
const openProxy: OpenSocketProxy = async (socket) => {
  const proxy = createServer()
  await new Promise<void>((resolve) => proxy.listen(socket, resolve))
  const close = () => new Promise<void>((resolve) => proxy.close(() => resolve()))
  return { user: 'bench', password: 'bench', refusals: () => [], close }
}

interface Subject {
  run(): Promise<void>
  /** Not measured. */
  afterwards(): Promise<void>
}

function bare(cwd: string): Subject {
  return {
    async run() {
      const child = spawn('bash', ['-c', COMMAND], { cwd, stdio: 'ignore' })
      const [code] = await once(child, 'exit')
      if (code !== 0) throw new Error(`the bare command ended with ${code}`)
    },
    async afterwards() {},
  }
}

export function sandboxReport(results: SandboxResults): string {
  const [plain] = results.rows
  return [
    ...headOf(results),
    results.what,
    '',
    table(
      ['a command', 'ms', '±', 'over bare'],
      results.rows.map(({ name, ms }) => [
        name,
        ms.median.toFixed(1),
        spread(ms),
        (ms.median - (plain?.ms.median ?? 0)).toFixed(1),
      ]),
    ),
    '',
    `\`bash -c ${COMMAND}\`, from its start until all its processes have ended.`,
    `The sandbox's self-test at the start took ${results.tryMs.toFixed(0)} ms.`,
    '',
    barsTable(results),
  ].join('\n')
}
