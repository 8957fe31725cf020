/** The checks of `doctor` that need an open home: what it stores, what its agents can use, and its unfinished work. */

import { describeLoss, LOSS_REMEDY, LOST_COMMITS, type LostCommits } from '../../domain/lost-commits.ts'
import { shortId } from '../../domain/short-id.ts'
import { describeUnreadable, SET_ASIDE_REMEDY, staysInTable } from '../../domain/unreadable-row.ts'
import { unpairedNote } from '../../kernel/notify/notice-target.ts'
import { failingResidents } from '../../kernel/residents/resident-notes.ts'
import { invalidSchedules } from '../../kernel/schedule/all-schedules.ts'
import { listTroubles } from '../../past/open-needs.ts'
import type { LostFiles } from '../../ports/snapshots.ts'
import { commitOne, fallbackIfUnreadable, isSharedStore } from '../../ports/store.ts'
import type { Needs } from './context.ts'
import { bad, type Check, check, type Fixes, type Found, fixable, good } from './health-check.ts'
import { unfinishedUndos } from './unfinished-undos.ts'

/** More rows than any home has. */
export const MAX_ROWS = 100_000

export const OPEN_HOME_NEEDS = [
  ...(['callFolders', 'channels', 'clock', 'connections', 'defaultModel', 'documents', 'epoch', 'homeId'] as const),
  ...(['kernel', 'machine', 'mcp', 'notifier', 'plugins', 'residents', 'snapshots', 'sources', 'store'] as const),
] as const

export const openHomeChecks = async (
  context: Needs<(typeof OPEN_HOME_NEEDS)[number]>,
  fixes: Fixes,
): Promise<Check[]> => [
  ...(await storeChecks(context, fixes)),
  ...(await setupChecks(context)),
  ...(await workChecks(context, fixes)),
]

const storeChecks = async (
  context: Needs<'store' | 'clock' | 'kernel' | 'machine' | 'snapshots'>,
  fixes: Fixes,
): Promise<Check[]> => [
  await check('durability', async () => {
    // An empty commit opens the database for writing, which sets its durability options and reads them back.
    await context.store.commit([])
    return good(
      isSharedStore(context.store)
        ? 'PostgreSQL confirms what is on disk'
        : 'write-ahead log, synchronous=FULL, verified',
    )
  }),
  await check('acknowledged work', () => checkLostCommits(context, fixes('acknowledged work'))),
  await check('database', async () => {
    const damage = await context.store.verify()
    const { schema, copies } = context.machine.database()
    const kept = copies.length > 0 ? `; copies from before upgrades: ${copies.join(', ')}` : ''
    return damage.length === 0
      ? good(isSharedStore(context.store) ? 'intact, in PostgreSQL' : `intact, schema ${schema}${kept}`)
      : bad(damage.join('; '), 'stop the kernel, then restore a backup: tireless restore DIR')
  }),
  await check('stored rows', () => checkRows(context, fixes('stored rows'))),
  await check('snapshots', () => checkSnapshots(context, fixes('snapshots'))),
  await check('schedules', () => checkSchedules(context)),
]

const setupChecks = async (
  context: Needs<
    'channels' | 'connections' | 'defaultModel' | 'mcp' | 'notifier' | 'documents' | 'plugins' | 'sources'
  >,
): Promise<Check[]> => [
  await check('model', () => {
    const id = context.defaultModel()
    return good(id.startsWith('offline/') ? `${id}: built-in, cannot understand language; configure a model` : id)
  }),
  ...(await serverChecks(context)),
  ...sourceChecks(context),
  ...connectionChecks(context),
  ...(await pluginChecks(context)),
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
]

const workChecks = async (
  context: Needs<'store' | 'clock' | 'epoch' | 'callFolders' | 'homeId' | 'residents'>,
  fixes: Fixes,
): Promise<Check[]> => [
  ...(context.residents.names().length === 0 ? [] : [await check('residents', () => checkResidents(context))]),
  await check('dead work', async () => {
    const { dead } = await context.store.counts()
    return dead === 0
      ? good('none')
      : bad(`${dead} dispatches failed repeatedly and were set aside`, 'list them: tireless queue list --status dead')
  }),
  await check('unfinished undos', async () => {
    const open = await unfinishedUndos(context)
    return open.length === 0
      ? good('none')
      : bad(
          open.map(({ id, target, why }) => `${id} of ${target} is half done: ${why ?? 'interrupted'}`).join('; '),
          open.map(({ fix }) => fix).join('; '),
        )
  }),
  await check('unknown outcomes', async () => {
    const open = await context.store.unknowns({ status: 'open' })
    return open.length === 0
      ? good('none open')
      : bad(
          `${open.length === 1 ? '1 interrupted call is' : `${open.length} interrupted calls are`} unclear`,
          'list them: tireless unknowns list; then: tireless unknowns resolve ID --as …',
        )
  }),
  await check('needs you', async () => {
    const open = await listTroubles({ store: context.store })
    return open.length === 0
      ? good('nothing went wrong that you have not seen')
      : bad(open.map(({ title }) => title.text).join('; '), 'look at it and answer: tireless needs list')
  }),
  await check('orphaned work', async () => {
    const running = await context.store.dispatches({ status: 'running', limit: MAX_ROWS })
    // On a store of its own, the process that holds the home is the only worker.
    const others = isSharedStore(context.store) ? await context.store.workers(context.clock.now()) : []
    const alive = new Set([context.epoch(), ...others.map(({ epoch }) => epoch)])
    const orphans = running.filter(({ lease_owner }) => lease_owner === null || !alive.has(lease_owner))
    return orphans.length === 0
      ? good('none')
      : bad(`${orphans.length} marked as running without a worker`, 'continue them: tireless start')
  }),
  await check('leftovers', () => checkLeftovers(context, fixes('leftovers'))),
]

/** Rows moved per commit, so that other writers never wait long. */
const ROWS_PER_COMMIT = 100

async function checkRows({ store, clock, kernel }: Needs<'store' | 'clock' | 'kernel'>, fix: boolean): Promise<Found> {
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
    return left.every(staysInTable)
      ? bad(`${describeUnreadable(left)}${aside}`, AUDIT_REMEDY)
      : fixable(`${describeUnreadable(left)}${aside}`, SET_ASIDE_REMEDY)
  return good(`${moved > 0 ? `set aside now: ${describeUnreadable(found)}` : 'all readable'}${aside}`)
}

const AUDIT_REMEDY = 'audit records are never moved; find the damaged one: tireless audit verify'

const MAX_LISTED_FILES = 5

async function checkSnapshots({ snapshots }: Needs<'snapshots'>, fix: boolean): Promise<Found> {
  const { snapshots: all, checked, objects, bytes, read, lost, isFixed, repaired } = await snapshots.check(fix)
  const size = `${objects} objects, ${Math.ceil(bytes / 1024 / 1024)} MB`
  const part = [
    ...(checked < all ? [`only the newest ${checked} checked`] : []),
    ...(read < objects ? [`contents of ${read} objects read`] : []),
  ]
  const seen = [`${all} snapshots`, size, ...part].join(', ')
  const names = lost.map(describeLost).join('; ')
  if (lost.length === 0) return good(`${repaired > 0 ? `repaired: files of ${repaired} runs; ` : ''}intact: ${seen}`)
  if (isFixed) return good(`cannot be undone any more, because the stored content was lost: ${names}; ${seen}`)
  return fixable(
    `missing or damaged files in the snapshots of: ${names}; ${seen}`,
    'run tireless doctor --fix: what a workspace still has is stored again, and the rest is left out of undos',
  )
}

function describeLost({ writer, paths }: LostFiles): string {
  const who = shortId(writer)
  if (paths === null) return `${who} (all files)`
  const more = paths.length > MAX_LISTED_FILES ? `, and ${paths.length - MAX_LISTED_FILES} more` : ''
  return `${who} (${paths.slice(0, MAX_LISTED_FILES).join(', ')}${more})`
}

async function checkResidents({ residents }: Needs<'residents'>): Promise<Found> {
  const all = await residents.describe()
  const failing = failingResidents(all)
  return failing.length === 0
    ? good(`${all.length} configured, none fails`)
    : bad(failing.join('; '), 'see what failed: tireless queue list --status failed')
}

async function checkSchedules({ store }: Needs<'store'>): Promise<Found> {
  const [first, ...more] = invalidSchedules(await store.schedules())
  if (!first) return good('all valid')
  const others = more.length === 0 ? '' : `; also invalid: ${more.map(({ id }) => id).join(', ')}`
  return bad(`${first.id} is invalid: ${first.why}${others}`, `remove it: tireless schedule remove ${first.id}`)
}

async function checkLostCommits({ store }: Needs<'store'>, fix: boolean): Promise<Found> {
  const lost = (await fallbackIfUnreadable(store.setting(LOST_COMMITS), null)) as LostCommits | null
  if (lost === null) return good('no loss recorded')
  if (!fix) return fixable(describeLoss(lost), LOSS_REMEDY)
  await commitOne(store, [{ op: 'set', name: LOST_COMMITS, value: null }])
  return good(`accepted: ${describeLoss(lost)}`)
}

/** One check per source. */
const sourceChecks = ({ sources }: Needs<'sources'>): Check[] =>
  sources.list().map(({ name, state, why, listeners }) => {
    const isBad = state === 'failed' || listeners.length === 0
    const found = [state, why].filter((part) => part !== null).join(': ')
    const remedy = listeners.length === 0 ? 'add it to `sources` of a resident, or remove it' : 'see the message'
    return { name: `source ${name}`, ...(isBad ? bad(found, remedy) : good(found)) }
  })

/** One check per channel that keeps a connection; without a kernel there is none, and nothing is wrong. */
const connectionChecks = ({ channels, connections }: Needs<'channels' | 'connections'>): Check[] =>
  [...channels].flatMap(([name, channel]) => {
    const connection = connections.stateOf(name)
    if (connection === null) return []
    const { state, error } = connection
    const problem = state === 'stopped' ? channel.trouble() : error
    const found = problem === null ? state : `${state}: ${problem}`
    return { name: `channel ${name}`, ...(problem === null ? good(found) : bad(found, 'see: tireless channels list')) }
  })

/** One check per plugin. */
const pluginChecks = async ({ plugins }: Needs<'plugins'>): Promise<Check[]> =>
  (await plugins.list()).map(({ name, state, why }) => ({
    name: `plugin ${name}`,
    ...(why === null ? good(state) : bad(why, 'see the message, or remove it: tireless plugins remove')),
  }))

/** One check per MCP server; starts none of them. */
async function serverChecks({ mcp }: Needs<'mcp'>): Promise<Check[]> {
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

/**
 * Finds folders of calls whose dispatch has ended. The folders are read before the dispatches, so that a call that
 * starts in between is not taken for a leftover.
 */
async function checkLeftovers(
  { callFolders: calls, store }: Needs<'callFolders' | 'store'>,
  fix: boolean,
): Promise<Found> {
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
  if (!fix) return fixable(`${left.length} call folders without a dispatch`, 'run tireless doctor --fix')
  for (const call of left) await calls.remove(call)
  return good(`${left.length} removed`)
}
