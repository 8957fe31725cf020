/** Checks the home and the machine, with a remedy for each problem; works even if the home cannot be opened. */

import { z } from 'zod'
import type { ClosedHomeContext, ExposedPart } from './lib/closed-home.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import {
  bad,
  type Check,
  check,
  type Fixes,
  type Found,
  failedCheck,
  fixable,
  good,
  healthCheckSchema,
} from './lib/health-check.ts'
import { MAX_ROWS, OPEN_HOME_NEEDS, openHomeChecks } from './lib/open-home-checks.ts'

const MIN_FREE_BYTES = 200 * 1024 * 1024

const setAsideShape = z.object({
  n: z.number(),
  source: z.string().describe('table that the row came from'),
  why: z.string(),
  body: z.string().describe('columns of the row as JSON'),
  at: z.string(),
})

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'check the home and the machine, and show a remedy for each problem',
  example: 'doctor --fix',
  toleratesBrokenPlugins: true,
  runsIn: 'any_process',
  needs: [...OPEN_HOME_NEEDS, 'checkConfig'],
  input: z.object({
    fix: z.boolean().default(false).describe('repair problems that can be repaired without losing data'),
    only: z.string().optional().describe('with --fix: repair only what the check of this name found'),
    set_aside: z.boolean().default(false).describe('list unreadable rows that were moved aside, newest first'),
  }),
  output: z.object({
    ok: z.boolean(),
    checks: z.array(healthCheckSchema),
    set_aside: z.array(setAsideShape).optional(),
  }),
  async run(context, { fix, only, set_aside }) {
    const fixes = fixesOf(fix, only)
    const checks = [...(await closedHomeChecks(context, fixes)), ...(await openHomeChecks(context, fixes))]
    return {
      ...report(checks),
      ...(set_aside ? { set_aside: [...(await context.store.setAside({ limit: MAX_ROWS }))] } : {}),
    }
  },
  async runClosed(outside, { fix, only }, why) {
    const checks = await closedHomeChecks(outside, fixesOf(fix, only))
    // closedHomeChecks already reports an invalid configuration.
    const isReported = why.code === 'config_invalid' && checks.some(({ name, ok }) => name === 'configuration' && !ok)
    return report(isReported ? checks : [failedCheck('home', why), ...checks])
  },
  exitCode: ({ ok }) => (ok ? 0 : 1),
})

const fixesOf =
  (fix: boolean, only: string | undefined): Fixes =>
  (name) =>
    fix && (only === undefined || only === name)

function report(checks: readonly Check[]): { ok: boolean; checks: Check[] } {
  return { ok: checks.every(({ ok }) => ok), checks: [...checks] }
}

const closedHomeChecks = async (
  { machine, checkConfig }: Needs<'machine' | 'checkConfig'>,
  fixes: Fixes,
): Promise<Check[]> => [
  await check('node', () => {
    const { got, needed, ok } = machine.node
    return ok ? good(got) : bad(`${got} is older than ${needed}`, `install Node ${needed} or newer (nodejs.org)`)
  }),
  await check('sqlite', () => good(machine.sqlite())),
  await check('privacy', () => checkPrivacy(machine, fixes('privacy'))),
  await check('configuration', () => {
    const { file, unused } = checkConfig()
    const notes = unused.length > 0 ? `; not supported yet: ${unused.join(', ')}` : ''
    return good(`${file ?? 'no file, using defaults'}${notes}`)
  }),
  ...(await diskChecks(machine)),
  programCheck(machine, 'git', 'install git; without it, changes in your folders cannot be undone'),
  programCheck(machine, 'bash', 'install bash; without it, commands run in plain sh'),
  await check('sandbox', () => checkSandbox(machine)),
  await check('limits', () => good(machine.limits())),
]

async function checkSandbox(machine: ClosedHomeContext['machine']): Promise<Found> {
  const trial = await machine.sandbox()
  if (trial === 'off') return good('off in the configuration: agents run commands with your rights')
  return trial.holds ? good(trial.what) : bad(`${trial.why}; the bash tool is disabled`, trial.remedy)
}

async function checkPrivacy(machine: ClosedHomeContext['machine'], fix: boolean): Promise<Found> {
  const exposed = await machine.findExposed()
  if (exposed.length === 0) return good('only the owner can access the home')
  const foreign = exposed.filter((part) => part.foreign)
  const open = exposed.filter((part) => !part.foreign)
  if (foreign.length > 0)
    return bad(`owned by another user: ${foreign.map(({ path }) => path).join(', ')}`, 'take ownership with chown')
  const list = open.map(modeText).join(', ')
  if (!fix) return fixable(`accessible to others: ${list}`, 'run tireless doctor --fix')
  for (const part of open) await machine.restrictAccess(part)
  return good(`repaired: ${list}`)
}

const modeText = ({ path, mode, wanted }: ExposedPart): string => `${path} (${octal(mode)}, should be ${octal(wanted)})`
const octal = (mode: number): string => mode.toString(8).padStart(4, '0')

async function diskChecks(machine: ClosedHomeContext['machine']): Promise<Check[]> {
  const found = machine.disk()
  return [
    await check('disk', async () => {
      const { freeBytes } = await found
      const free = `${Math.floor(freeBytes / 1024 / 1024)} MB free`
      return freeBytes >= MIN_FREE_BYTES
        ? good(free)
        : bad(free, 'free some space; with none left, no work can be accepted')
    }),
    await check('file system', async () => {
      const { network } = await found
      return network === undefined
        ? good('local, as far as known')
        : bad(`${network} is a network file system: its locks and syncs are unreliable`, 'put the home on a local disk')
    }),
  ]
}

function programCheck({ programAt }: ClosedHomeContext['machine'], name: string, remedy: string): Check {
  const found = programAt(name)
  return { name, ...(found ? good(found) : bad('not on the PATH', remedy)) }
}
