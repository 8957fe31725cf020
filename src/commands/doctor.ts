/** Checks the home and the machine, with a remedy for each problem; works even if the home cannot be opened. */

import { z } from 'zod'
import { asTirelessError, type TirelessError } from '../domain/error.ts'
import { describeLoss, LOSS_REMEDY, LOST_COMMITS, type LostCommits } from '../domain/lost-commits.ts'
import { describeUnreadable, SET_ASIDE_REMEDY, staysInTable } from '../domain/unreadable-row.ts'
import { unpairedNote } from '../kernel/notify/notice-target.ts'
import { invalidSchedules } from '../kernel/schedule/all-schedules.ts'
import { commitOne, fallbackIfUnreadable } from '../ports/store.ts'
import type { ClosedHomeContext, ExposedPart } from './lib/closed-home.ts'
import { type CommandContext, defineCommand } from './lib/command.ts'

const MIN_FREE_BYTES = 200 * 1024 * 1024
const MAX_ROWS = 100_000

const checkShape = z.object({
  name: z.string(),
  ok: z.boolean(),
  found: z.string(),
  remedy: z.string().nullable(),
})
type Check = z.output<typeof checkShape>

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
  runsIn: 'any_process',
  input: z.object({
    fix: z.boolean().default(false).describe('repair problems that can be repaired without losing data'),
    set_aside: z.boolean().default(false).describe('list unreadable rows that were moved aside, newest first'),
  }),
  output: z.object({ ok: z.boolean(), checks: z.array(checkShape), set_aside: z.array(setAsideShape).optional() }),
  async run(context, { fix, set_aside }) {
    const checks = [...(await closedHomeChecks(context, fix)), ...(await openHomeChecks(context, fix))]
    return {
      ...report(checks),
      ...(set_aside ? { set_aside: [...(await context.store.setAside({ limit: MAX_ROWS }))] } : {}),
    }
  },
  async runClosed(outside, { fix }, why) {
    const checks = await closedHomeChecks(outside, fix)
    // closedHomeChecks already reports an invalid configuration.
    const isReported = why.code === 'config_invalid' && checks.some(({ name, ok }) => name === 'configuration' && !ok)
    return report(isReported ? checks : [failedCheck('home', why), ...checks])
  },
  exitCode: ({ ok }) => (ok ? 0 : 1),
})

function report(checks: readonly Check[]): { ok: boolean; checks: Check[] } {
  return { ok: checks.every(({ ok }) => ok), checks: [...checks] }
}

const closedHomeChecks = async ({ machine, checkConfig }: ClosedHomeContext, fix: boolean): Promise<Check[]> => [
  await check('node', () => {
    const { got, needed, ok } = machine.node
    return ok ? good(got) : bad(`${got} is older than ${needed}`, `install Node ${needed} or newer (nodejs.org)`)
  }),
  await check('sqlite', () => good(machine.sqlite())),
  await check('privacy', () => checkPrivacy(machine, fix)),
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

const openHomeChecks = async (context: CommandContext, fix: boolean): Promise<Check[]> => [
  await check('durability', async () => {
    // An empty commit opens the database for writing, which sets its durability options and reads them back.
    await context.store.commit([])
    return good('write-ahead log, synchronous=FULL, verified')
  }),
  await check('acknowledged work', () => checkLostCommits(context, fix)),
  await check('database', async () => {
    const damage = await context.store.verify()
    const { schema, copies } = context.machine.database()
    const kept = copies.length > 0 ? `; copies from before upgrades: ${copies.join(', ')}` : ''
    return damage.length === 0
      ? good(`intact, schema ${schema}${kept}`)
      : bad(damage.join('; '), 'stop the kernel, then restore a backup: tireless restore DIR')
  }),
  await check('stored rows', () => checkRows(context, fix)),
  await check('schedules', () => checkSchedules(context)),
  await check('model', () => {
    const id = context.defaultModel()
    return good(id.startsWith('offline/') ? `${id}: built-in, cannot understand language; configure a model` : id)
  }),
  ...(await serverChecks(context)),
  await check('notices', async () => {
    const unpaired = await context.notifier.unpairedTarget()
    if (unpaired) return bad(unpairedNote(unpaired).found, unpairedNote(unpaired).remedy)
    const target = await context.notifier.target()
    return good(
      target ? `sent to ${target.channel}${target.chat_id === null ? '' : ` ${target.chat_id}`}` : 'not sent anywhere',
    )
  }),
  await check('documents', async () => {
    const waiting = await context.documents.waiting()
    return waiting.length === 0
      ? good('no edit awaits acceptance')
      : bad(
          `${waiting.join(', ')} edited; the edit is not in use because the sandbox is off`,
          'review it: tireless state diff; accept it: tireless state accept',
        )
  }),
  await check('dead work', async () => {
    const { dead } = await context.store.counts()
    return dead === 0
      ? good('none')
      : bad(`${dead} dispatches failed repeatedly and were set aside`, 'list them: tireless queue list --status dead')
  }),
  await check('unknown outcomes', async () => {
    const open = await context.store.unknowns({ status: 'open' })
    return open.length === 0
      ? good('none open')
      : bad(`${open.length} open`, 'list them: tireless unknowns list; then: tireless unknowns resolve ID --as …')
  }),
  await check('orphaned work', async () => {
    const running = await context.store.dispatches({ status: 'running', limit: MAX_ROWS })
    // The process that holds the home is the only worker, so work of any other worker is orphaned.
    const orphans = running.filter(({ lease_owner }) => lease_owner !== context.epoch())
    return orphans.length === 0
      ? good('none')
      : bad(`${orphans.length} marked as running without a worker`, 'continue them: tireless start')
  }),
  await check('leftovers', () => checkLeftovers(context, fix)),
]

/** Rows moved per commit, so that other writers never wait long. */
const ROWS_PER_COMMIT = 100

async function checkRows({ store, clock, kernel }: CommandContext, fix: boolean): Promise<Found> {
  const found = await store.unreadable()
  const movable = found.filter((row) => !staysInTable(row))
  let moved = 0
  for (let i = 0; fix && i < movable.length; i += ROWS_PER_COMMIT) {
    const rows = movable.slice(i, i + ROWS_PER_COMMIT)
    const [result] = await commitOne(store, [{ op: 'set_aside', rows, now: clock.now() }])
    moved += result.moved
  }
  const left = moved > 0 ? await store.unreadable() : found
  // An unreadable row may have kept the kernel from loading a schedule; with the row gone, it can.
  if (moved > 0) kernel.reloadSchedules()
  const kept = (await store.setAside({ limit: MAX_ROWS })).length
  const aside = kept === 0 ? '' : `; ${kept} set aside; list them: tireless doctor --set-aside`
  if (left.length > 0)
    return bad(`${describeUnreadable(left)}${aside}`, left.every(staysInTable) ? AUDIT_REMEDY : SET_ASIDE_REMEDY)
  return good(`${moved > 0 ? `set aside now: ${describeUnreadable(found)}` : 'all readable'}${aside}`)
}

const AUDIT_REMEDY = 'audit records are never moved; find the damaged one: tireless audit verify'

async function checkSchedules({ store }: CommandContext): Promise<Found> {
  const [first, ...more] = invalidSchedules(await store.schedules())
  if (!first) return good('all valid')
  const others = more.length === 0 ? '' : `; also invalid: ${more.map(({ id }) => id).join(', ')}`
  return bad(`${first.id} is invalid: ${first.why}${others}`, `remove it: tireless schedule remove ${first.id}`)
}

async function checkLostCommits({ store }: CommandContext, fix: boolean): Promise<Found> {
  const lost = (await fallbackIfUnreadable(store.setting(LOST_COMMITS), null)) as LostCommits | null
  if (lost === null) return good('no loss recorded')
  if (!fix) return bad(describeLoss(lost), LOSS_REMEDY)
  await commitOne(store, [{ op: 'set', name: LOST_COMMITS, value: null }])
  return good(`accepted: ${describeLoss(lost)}`)
}

async function checkSandbox(machine: ClosedHomeContext['machine']): Promise<Found> {
  const trial = await machine.sandbox()
  if (trial === 'off') return good('off in the configuration: agents run commands with your rights')
  return trial.holds ? good(trial.what) : bad(`${trial.why}; the bash tool is disabled`, trial.remedy)
}

/** One check per MCP server; starts none of them. */
async function serverChecks({ mcp }: CommandContext): Promise<Check[]> {
  return Promise.all(
    (await mcp.list()).map(async ({ name, state, error, stderr, tools }) => {
      const waiting = tools.filter(({ status }) => status === 'new' || status === 'changed').map(({ tool }) => tool)
      const last = stderr.at(-1) === undefined ? '' : `; last error output: ${stderr.at(-1)}`
      const problem = await mcp.startProblem(name)
      const why = state === 'down' ? `down: ${error}${last}` : problem === null ? null : `cannot be started: ${problem}`
      const found = why === null ? good(state) : bad(why, `test it: tireless mcp test ${name}`)
      const unapproved = bad(
        `tools await approval: ${waiting.join(', ')}`,
        `review them: tireless mcp list; then: tireless mcp approve ${name}`,
      )
      return { name: `mcp server ${name}`, ...(found.ok && waiting.length > 0 ? unapproved : found) }
    }),
  )
}

async function checkPrivacy(machine: ClosedHomeContext['machine'], fix: boolean): Promise<Found> {
  const exposed = await machine.findExposed()
  if (exposed.length === 0) return good('only the owner can access the home')
  const foreign = exposed.filter((part) => part.foreign)
  const open = exposed.filter((part) => !part.foreign)
  if (foreign.length > 0)
    return bad(`owned by another user: ${foreign.map(({ path }) => path).join(', ')}`, 'take ownership with chown')
  const list = open.map(modeText).join(', ')
  if (!fix) return bad(`accessible to others: ${list}`, 'run tireless doctor --fix')
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

/**
 * Finds folders of calls whose dispatch has ended. The folders are read before the dispatches, so that a call that
 * starts in between is not taken for a leftover.
 */
async function checkLeftovers({ callFolders: calls, store }: CommandContext, fix: boolean): Promise<Found> {
  const kept = await calls.list()
  if (kept.length === 0) return good('none')
  const inFlight = await Promise.all(
    (['pending', 'running', 'waiting'] as const).map((status) => store.dispatches({ status, limit: MAX_ROWS })),
  )
  const sessions = inFlight.flat().map(({ session_id }) => session_id)
  const left = kept.filter((call) => !sessions.some((session) => call.belongsTo(session)))
  const alive = left.filter(({ pid }) => pid !== undefined)
  if (alive.length > 0)
    return bad(
      `processes of finished work: ${alive.map(({ pid, name }) => `${pid} (${name})`).join(', ')}`,
      'inspect them, then end them with kill',
    )
  if (left.length === 0) return good('none')
  if (!fix) return bad(`${left.length} call folders without a dispatch`, 'run tireless doctor --fix')
  for (const call of left) await calls.remove(call)
  return good(`${left.length} removed`)
}

type Found = Omit<Check, 'name'>

const good = (found: string): Found => ({ ok: true, found, remedy: null })
const bad = (found: string, remedy: string): Found => ({ ok: false, found, remedy })

async function check(name: string, find: () => Found | Promise<Found>): Promise<Check> {
  try {
    return { name, ...(await find()) }
  } catch (thrown) {
    return failedCheck(name, asTirelessError(thrown))
  }
}

/** Splits the message of an error into problem and remedy; the remedy is at its end. */
function failedCheck(name: string, { message }: TirelessError): Check {
  const [found = message, remedy = 'see the message'] = message.split('; do this: ')
  return { name, ...bad(found, remedy) }
}
