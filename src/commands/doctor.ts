/** What is wrong with the home and the machine, and what to do about it; also where the home cannot even be opened. */

import { z } from 'zod'
import { asTirelessError, type TirelessError } from '../domain/error.ts'
import { describeLoss, LOSS_REMEDY, LOST_COMMITS, type LostCommits } from '../domain/lost-commits.ts'
import { describeUnreadable, isNeverMoved, SET_ASIDE_REMEDY } from '../domain/unreadable.ts'
import { unpairedNote } from '../kernel/target.ts'
import { meaningless } from '../kernel/timetable.ts'
import { commitOne, unlessUnreadable } from '../ports/store.ts'
import { type Context, command } from './command.ts'
import type { Exposed, Outside } from './outside.ts'

const LEAST_FREE_BYTES = 200 * 1024 * 1024
const MANY = 100_000

const checkShape = z.object({
  name: z.string(),
  ok: z.boolean(),
  found: z.string(),
  remedy: z.string().nullable(),
})
type Check = z.output<typeof checkShape>

const setAsideShape = z.object({
  n: z.number(),
  source: z.string().describe('the table that it was in'),
  why: z.string(),
  body: z.string().describe('its columns, as JSON'),
  at: z.string(),
})

export const doctor = command({
  name: 'doctor',
  summary: 'look for what is wrong, with remedies',
  runsIn: 'any_process',
  input: z.object({
    fix: z.boolean().default(false).describe('mend what can be mended without a loss'),
    set_aside: z.boolean().default(false).describe('list the rows that were set aside, newest first'),
  }),
  output: z.object({ ok: z.boolean(), checks: z.array(checkShape), set_aside: z.array(setAsideShape).optional() }),
  async run(context, { fix, set_aside }) {
    const checks = [...(await outerChecks(context, fix)), ...(await innerChecks(context, fix))]
    return {
      ...told(checks),
      ...(set_aside ? { set_aside: [...(await context.store.setAside({ limit: MANY }))] } : {}),
    }
  },
  async shut(outside, { fix }, why) {
    const checks = await outerChecks(outside, fix)
    // A bad configuration is among them already.
    const known = why.code === 'config_invalid' && checks.some(({ name, ok }) => name === 'configuration' && !ok)
    return told(known ? checks : [finding('home', why), ...checks])
  },
  exit: ({ ok }) => (ok ? 0 : 1),
})

function told(checks: readonly Check[]): { ok: boolean; checks: Check[] } {
  return { ok: checks.every(({ ok }) => ok), checks: [...checks] }
}

const outerChecks = async ({ machine, checkConfig }: Outside, fix: boolean): Promise<Check[]> => [
  await look('node', () => {
    const { got, needed, ok } = machine.node
    return ok ? good(got) : bad(`${got}, older than ${needed}`, `install Node ${needed} or newer (nodejs.org)`)
  }),
  await look('sqlite', () => good(machine.sqlite())),
  await look('privacy', () => privacy(machine, fix)),
  await look('configuration', () => {
    const { file, unused } = checkConfig()
    const notes = unused.length > 0 ? `; not used yet: ${unused.join(', ')}` : ''
    return good(`${file ?? 'no file: the defaults hold'}${notes}`)
  }),
  ...(await disk(machine)),
  program(machine, 'git', 'install git; without it, work in a folder of yours cannot be undone'),
  program(machine, 'bash', 'install bash; commands run in plain sh without it'),
  await look('sandbox', () => sandbox(machine)),
  await look('limits', () => good(machine.limits())),
]

const innerChecks = async (context: Context, fix: boolean): Promise<Check[]> => [
  await look('durability', async () => {
    // Nothing is written: the settings are set and read back when the database is opened for writing.
    await context.store.commit([])
    return good('write-ahead log, synchronous=FULL, read back')
  }),
  await look('acknowledged work', () => acknowledged(context, fix)),
  await look('database', async () => {
    const damage = await context.store.verify()
    const { schema, copies } = context.machine.database()
    const kept = copies.length > 0 ? `; kept from before upgrades: ${copies.join(', ')}` : ''
    return damage.length === 0
      ? good(`sound, schema ${schema}${kept}`)
      : bad(damage.join('; '), 'stop the program and restore a backup: tireless restore DIR')
  }),
  await look('stored rows', () => storedRows(context, fix)),
  await look('schedules', () => schedules(context)),
  await look('model', () => {
    const id = context.defaultModel()
    return good(id.startsWith('offline/') ? `${id}: no model is configured; it understands no language` : id)
  }),
  ...(await servers(context)),
  await look('notices', async () => {
    const unpaired = await context.notifier.unpairedTarget()
    if (unpaired) return bad(unpairedNote(unpaired).found, unpairedNote(unpaired).remedy)
    const target = await context.notifier.target()
    return good(target ? `go to ${target.channel}${target.chat_id === null ? '' : ` ${target.chat_id}`}` : 'go nowhere')
  }),
  await look('documents', async () => {
    const waiting = await context.documents.waiting()
    return waiting.length === 0
      ? good('no edit waits')
      : bad(
          `${waiting.join(', ')} edited as a file, and the edit is not in use, because the sandbox is off`,
          'look, then accept it: tireless state diff, tireless state accept',
        )
  }),
  await look('dead work', async () => {
    const { dead } = await context.store.counts()
    return dead === 0
      ? good('none')
      : bad(`${dead} set aside as poison`, 'look at it: tireless queue list --status dead')
  }),
  await look('unknown outcomes', async () => {
    const open = await context.store.unknowns({ status: 'open' })
    return open.length === 0
      ? good('none open')
      : bad(
          `${open.length} open`,
          'look, then say what became of them: tireless unknowns list, unknowns resolve ID --as …',
        )
  }),
  await look('orphaned work', async () => {
    const running = await context.store.dispatches({ status: 'running', limit: MANY })
    // Whoever holds the home is its only worker.
    const orphans = running.filter(({ lease_owner }) => lease_owner !== context.epoch())
    return orphans.length === 0
      ? good('none')
      : bad(`${orphans.length} running, and no worker lives`, 'go on with it: tireless start')
  }),
  await look('leftovers', () => leftovers(context, fix)),
]

/** Set aside in pieces: whoever works meanwhile waits for none of them long. */
const AT_ONCE = 100

async function storedRows({ store, clock, kernel }: Context, fix: boolean): Promise<Found> {
  const found = await store.unreadable()
  const movable = found.filter((row) => !isNeverMoved(row))
  let moved = 0
  for (let i = 0; fix && i < movable.length; i += AT_ONCE) {
    const rows = movable.slice(i, i + AT_ONCE)
    const [result] = await commitOne(store, [{ op: 'set_aside', rows, now: clock.now() }])
    moved += result.moved
  }
  const left = moved > 0 ? await store.unreadable() : found
  // One that could not be opened is opened now.
  if (moved > 0) kernel.refresh()
  const kept = (await store.setAside({ limit: MANY })).length
  const aside =
    kept === 0 ? '' : `; ${kept} set aside, in the table set_aside of the database: tireless doctor --set-aside`
  if (left.length > 0)
    return bad(`${describeUnreadable(left)}${aside}`, left.every(isNeverMoved) ? AUDIT_REMEDY : SET_ASIDE_REMEDY)
  return good(`${moved > 0 ? `set aside now: ${describeUnreadable(found)}` : 'all can be read'}${aside}`)
}

const AUDIT_REMEDY = 'a record of the audit is never moved; see which it is: tireless audit verify'

async function schedules({ store }: Context): Promise<Found> {
  const [first, ...more] = meaningless(await store.schedules())
  if (!first) return good('each of them means something')
  const others = more.length === 0 ? '' : `, and so do ${more.map(({ id }) => id).join(', ')}`
  return bad(`${first.id} means nothing: ${first.why}${others}`, `remove it: tireless schedule remove ${first.id}`)
}

async function acknowledged({ store }: Context, fix: boolean): Promise<Found> {
  const lost = (await unlessUnreadable(store.setting(LOST_COMMITS), null)) as LostCommits | null
  if (lost === null) return good('all there, as far as was noted')
  if (!fix) return bad(describeLoss(lost), LOSS_REMEDY)
  await commitOne(store, [{ op: 'set', name: LOST_COMMITS, value: null }])
  return good(`accepted: ${describeLoss(lost)}`)
}

async function sandbox(machine: Outside['machine']): Promise<Found> {
  const trial = await machine.sandbox()
  if (trial === 'off') return good('off: agents run commands as you do, because the configuration says so')
  return trial.holds ? good(trial.what) : bad(`${trial.why}; bash is off`, trial.remedy)
}

/** One for each: nothing is started for it. */
async function servers({ mcp }: Context): Promise<Check[]> {
  return (await mcp.list()).map(({ name, state, error, stderr, tools }) => {
    const waiting = tools.filter(({ status }) => status === 'new' || status === 'changed').map(({ tool }) => tool)
    const last = stderr.at(-1) === undefined ? '' : `; it last said: ${stderr.at(-1)}`
    const found = state === 'down' ? bad(`down: ${error}${last}`, `look at it: tireless mcp test ${name}`) : good(state)
    const unread = bad(`waits for your word on ${waiting.join(', ')}`, `look, then: tireless mcp approve ${name}`)
    return { name: `mcp server ${name}`, ...(found.ok && waiting.length > 0 ? unread : found) }
  })
}

async function privacy(machine: Outside['machine'], fix: boolean): Promise<Found> {
  const exposed = await machine.exposed()
  if (exposed.length === 0) return good('nobody but the owner can reach the home')
  const foreign = exposed.filter((part) => part.foreign)
  const open = exposed.filter((part) => !part.foreign)
  if (foreign.length > 0)
    return bad(`another user's: ${foreign.map(({ path }) => path).join(', ')}`, 'give it back to its owner with chown')
  const list = open.map(modeOf).join(', ')
  if (!fix) return bad(`open to others: ${list}`, 'tireless doctor --fix')
  for (const part of open) await machine.shut(part)
  return good(`mended: ${list}`)
}

const modeOf = ({ path, mode, wanted }: Exposed): string => `${path} (${octal(mode)}, should be ${octal(wanted)})`
const octal = (mode: number): string => mode.toString(8).padStart(4, '0')

async function disk(machine: Outside['machine']): Promise<Check[]> {
  const seen = machine.disk()
  return [
    await look('disk', async () => {
      const { freeBytes } = await seen
      const free = `${Math.floor(freeBytes / 1024 / 1024)} MB free`
      return freeBytes >= LEAST_FREE_BYTES
        ? good(free)
        : bad(free, 'free some: at 0, nothing can be acknowledged any more')
    }),
    await look('file system', async () => {
      const { network } = await seen
      return network === undefined
        ? good('local, as far as can be told')
        : bad(`${network}, over a network: its locks and syncs cannot be relied on`, 'put the home on a local disk')
    }),
  ]
}

function program({ programAt }: Outside['machine'], name: string, remedy: string): Check {
  const found = programAt(name)
  return { name, ...(found ? good(found) : bad('not on the PATH', remedy)) }
}

/** Folders first, sessions then: what begins between the two looks is not among the folders. */
async function leftovers({ calls, store }: Context, fix: boolean): Promise<Found> {
  const kept = await calls.kept()
  if (kept.length === 0) return good('none')
  const inFlight = await Promise.all(
    (['pending', 'running', 'waiting'] as const).map((status) => store.dispatches({ status, limit: MANY })),
  )
  const sessions = inFlight.flat().map(({ session_id }) => session_id)
  const left = kept.filter((call) => !sessions.some((session) => call.isOf(session)))
  const alive = left.filter(({ pid }) => pid !== undefined)
  if (alive.length > 0)
    return bad(
      `processes that no work knows of: ${alive.map(({ pid, name }) => `${pid} (${name})`).join(', ')}`,
      'look at them, and end them with kill',
    )
  if (left.length === 0) return good('none')
  if (!fix) return bad(`${left.length} folders of calls that belong to no work`, 'tireless doctor --fix')
  for (const call of left) await calls.remove(call)
  return good(`${left.length} removed`)
}

type Found = Omit<Check, 'name'>

const good = (found: string): Found => ({ ok: true, found, remedy: null })
const bad = (found: string, remedy: string): Found => ({ ok: false, found, remedy })

async function look(name: string, see: () => Found | Promise<Found>): Promise<Check> {
  try {
    return { name, ...(await see()) }
  } catch (thrown) {
    return finding(name, asTirelessError(thrown))
  }
}

/** An error says what to do at its end. */
function finding(name: string, { message }: TirelessError): Check {
  const [found = message, remedy = 'see what it says'] = message.split('; do this: ')
  return { name, ...bad(found, remedy) }
}
