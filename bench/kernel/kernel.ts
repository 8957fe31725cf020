/**
 * The kernel suite: the cost of a cycle with a short and with a long history, measured in turn; and the program as
 * users run it: start, status and idle cost, from source and from the package.
 */

import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { atMost, type Bar } from '../bars.ts'
import { machineNow } from '../machine.ts'
import { type Figure, figureOf, medianOf, runSubject } from '../measure.ts'
import { lower, quotient, type Ratio } from '../ratios.ts'
import type { Scale, SuiteOptions, SuiteResults } from '../suite.ts'
import type { CycleOrder, CycleSample } from './cycles.ts'
import { configure, makeHome } from './home.ts'
import { freePort, type Launcher, start, status, type Use, useOf } from './program.ts'

interface Plan {
  readonly short: number
  readonly long: number
  readonly rounds: number
  readonly warmUp: number
  readonly cycles: number
  /** How often each command is run in a round. */
  readonly asked: number
  readonly idleMs: number
  /** Pause before the idle measurement, so that one-time loading is over. */
  readonly settleMs: number
  readonly launchers: readonly Launcher['name'][]
}

const FULL: Plan = {
  ...{ short: 1000, long: 1_000_000, rounds: 5, warmUp: 5, cycles: 20, asked: 10, idleMs: 60_000, settleMs: 3000 },
  launchers: ['source', 'package'],
}
const QUICK: Plan = { ...FULL, long: 100_000, rounds: 2, warmUp: 3, cycles: 10, asked: 5, idleMs: 15_000 }
/** Without the package, which another test builds and runs. */
const SMOKE: Plan = {
  ...{ short: 10, long: 100, rounds: 1, warmUp: 0, cycles: 2, asked: 1, idleMs: 100, settleMs: 0 },
  launchers: ['source'],
}

const PLANS: Readonly<Record<Scale, Plan>> = { full: FULL, quick: QUICK, smoke: SMOKE }

export interface PastRow {
  readonly finished: number
  readonly databaseBytes: number
  readonly cycleMs: Figure
  readonly cpuMs: Figure
}

export interface ProgramRow {
  readonly launcher: Launcher['name']
  readonly startMs: Figure
  readonly startAfterCrashMs: Figure
  /** While a kernel is running. */
  readonly statusMs: Figure
  /** Without a running kernel. */
  readonly statusAloneMs: Figure
  readonly idle: Idle | null
}

export interface Idle {
  readonly rssMb: number
  readonly writesPerMinute: number
  readonly bytesPerMinute: number
  readonly cpuMsPerMinute: number
  readonly modelCalls: number
}

export interface KernelResults extends SuiteResults {
  readonly suite: 'kernel'
  readonly pasts: readonly PastRow[]
  /** Cost with the long history divided by cost with the short one, per round. */
  readonly growth: { readonly ms: Figure; readonly cpu: Figure }
  readonly programs: readonly ProgramRow[]
}

export async function measureKernel({ scale, folder, say }: SuiteOptions): Promise<KernelResults> {
  const plan = PLANS[scale]
  const machine = machineNow()
  const pasts = []
  for (const finished of [plan.short, plan.long]) {
    say(`a home with ${finished.toLocaleString('en-US')} finished dispatches`)
    const home = join(folder, `home-${finished}`)
    pasts.push({ finished, home, ...(await makeHome(home, finished)), rounds: [] as CycleSample[][] })
  }
  for (let round = 1; round <= plan.rounds; round++)
    for (const { home, finished, rounds } of pasts) {
      say(`round ${round} of ${plan.rounds}: ${plan.cycles} cycles after ${finished.toLocaleString('en-US')}`)
      const order: CycleOrder = { home, warmUp: plan.warmUp, cycles: plan.cycles }
      const samples = await runSubject<CycleSample>('kernel/cycles.ts', order)
      if (samples.length !== plan.cycles) throw new Error(`${samples.length} of ${plan.cycles} cycles were measured`)
      rounds.push([...samples])
    }
  const [short = [], long = []] = pasts.map(({ rounds }) => rounds)
  const growth = { ms: growthOf(short, long, ({ ms }) => ms), cpu: growthOf(short, long, ({ cpuMs }) => cpuMs) }
  const programs: ProgramRow[] = []
  const home = join(folder, `home-${plan.long}`)
  for (const launcher of launchersIn(folder, plan, say)) programs.push(await measureProgram(launcher, home, plan, say))
  const rows = pasts.map(({ finished, bytes, rounds }) => ({
    ...{ finished, databaseBytes: bytes },
    cycleMs: figureOf(rounds.flat().map(({ ms }) => ms)),
    cpuMs: figureOf(rounds.flat().map(({ cpuMs }) => cpuMs)),
  }))
  const bars = scale === 'smoke' ? [] : kernelBars(plan, growth, programs)
  const ratios = kernelRatios(growth, programs)
  return { suite: 'kernel', scale, at: new Date().toISOString(), machine, pasts: rows, growth, programs, bars, ratios }
}

function kernelRatios(growth: KernelResults['growth'], programs: readonly ProgramRow[]): readonly Ratio[] {
  return [
    lower('a cycle after a long past against one after a short past', growth.ms.median),
    lower('CPU of a cycle after a long past against a short past', growth.cpu.median),
    ...programs.flatMap(({ launcher, startMs, startAfterCrashMs, statusMs, statusAloneMs }) => [
      lower(`start after kill -9 against start, ${launcher}`, quotient(startAfterCrashMs.median, startMs.median)),
      lower(
        `status of a living kernel against status alone, ${launcher}`,
        quotient(statusMs.median, statusAloneMs.median),
      ),
    ]),
  ]
}

function growthOf(
  short: readonly (readonly CycleSample[])[],
  long: readonly (readonly CycleSample[])[],
  of: (sample: CycleSample) => number,
): Figure {
  return figureOf(long.map((round, i) => medianOf(round.map(of)) / medianOf((short[i] ?? []).map(of))))
}

const ROOT = join(import.meta.dirname, '../..')

/** The compile cache has its own folder, so that all measured starts have the same conditions. */
function launchersIn(folder: string, { launchers }: Plan, say: (line: string) => void): readonly Launcher[] {
  const compiled = { NODE_COMPILE_CACHE: join(folder, 'compiled') }
  const env = { ...process.env, ...(launchers.includes('package') ? compiled : {}) }
  const source: Launcher = { name: 'source', command: [join(ROOT, 'bin/tireless')], env }
  if (!launchers.includes('package')) {
    say('without the package: a smoke run starts the program only from source')
    return [source]
  }
  say('building the package')
  const built = join(folder, 'package')
  const { status: code, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/build.mjs'), built])
  if (code !== 0) {
    say(`without the package: ${stderr}`)
    return [source]
  }
  const cache = join(folder, 'cache')
  mkdirSync(cache)
  const packageEnv = { ...process.env, XDG_CACHE_HOME: cache }
  return [source, { name: 'package', command: [process.execPath, join(built, 'bin/tireless.cjs')], env: packageEnv }]
}

async function measureProgram(launcher: Launcher, home: string, plan: Plan, say: SuiteOptions['say']) {
  const port = await freePort()
  configure(home, port)
  const times = { start: [] as number[], crashed: [] as number[], running: [] as number[], alone: [] as number[] }
  const measureStatus = async (into: number[]): Promise<void> => {
    for (let i = 0; i < plan.asked; i++) into.push((await status(launcher, home)).ms)
  }
  if (plan.warmUp > 0) {
    // Warm-up: fills the compile cache.
    await status(launcher, home)
    await (await start(launcher, home, port)).end('SIGTERM')
  }
  let idle: Idle | null = null
  for (let round = 1; round <= plan.rounds; round++) {
    say(`round ${round} of ${plan.rounds}: start and status, ${launcher.name}`)
    const first = await start(launcher, home, port)
    times.start.push(first.readyMs)
    if (round === 1) {
      say(`idle for ${plan.idleMs / 1000} s, ${launcher.name}`)
      idle = await measureIdle(launcher, home, first.pid, plan)
    }
    await measureStatus(times.running)
    await first.end('SIGKILL')
    const second = await start(launcher, home, port)
    times.crashed.push(second.readyMs)
    await second.end('SIGTERM')
    await measureStatus(times.alone)
  }
  return {
    launcher: launcher.name,
    startMs: figureOf(times.start),
    startAfterCrashMs: figureOf(times.crashed),
    statusMs: figureOf(times.running),
    statusAloneMs: figureOf(times.alone),
    idle,
  }
}

async function measureIdle(launcher: Launcher, home: string, pid: number, plan: Plan): Promise<Idle | null> {
  const { idleMs: ms, settleMs } = plan
  const calls = async (): Promise<number> => (await status(launcher, home)).output.spend.calls
  const callsBefore = await calls()
  await pause(settleMs)
  const before = useOf(pid)
  await pause(ms)
  const after = useOf(pid)
  if (!before || !after) return null
  const perMinute = (of: (use: Use) => number): number => ((of(after) - of(before)) * 60_000) / ms
  return {
    rssMb: after.rssMb,
    writesPerMinute: perMinute(({ writes }) => writes),
    bytesPerMinute: perMinute(({ bytesWritten }) => bytesWritten),
    cpuMsPerMinute: perMinute(({ cpuMs }) => cpuMs),
    modelCalls: (await calls()) - callsBefore,
  }
}

export function kernelBars(
  { short, long }: Pick<Plan, 'short' | 'long'>,
  growth: KernelResults['growth'],
  programs: readonly ProgramRow[],
): readonly Bar[] {
  const [many, few] = [long.toLocaleString('en-US'), short.toLocaleString('en-US')]
  return [
    atMost('P3', `a cycle after ${many} dispatches against one after ${few}`, 1.2, growth.ms.median, {
      unit: '×',
      digits: 2,
    }),
    atMost('P3', 'the same, CPU time of the kernel', 1.2, growth.cpu.median, { unit: '×', digits: 2 }),
    ...programs.flatMap(({ launcher, startMs, startAfterCrashMs, statusMs, idle }) => [
      atMost('P6', `start to ready, ${launcher}`, 2000, startMs.median, { unit: ' ms', digits: 0 }),
      atMost('P6', `start to ready after kill -9, ${launcher}`, 2000, startAfterCrashMs.median, {
        unit: ' ms',
        digits: 0,
      }),
      atMost('P6', `status while the kernel runs, ${launcher}`, 300, statusMs.median, { unit: ' ms', digits: 0 }),
      atMost('P4', `idle: memory, ${launcher}`, 120, idle?.rssMb, { unit: ' MB', digits: 0 }),
      atMost('P4', `idle: bytes written per minute, ${launcher}`, 0, idle?.bytesPerMinute, { unit: '', digits: 0 }),
      atMost('P4', `idle: model calls, ${launcher}`, 0, idle?.modelCalls, { unit: '', digits: 0 }),
    ]),
  ]
}
