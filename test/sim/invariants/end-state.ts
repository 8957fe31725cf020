/** When everything has come to rest: nothing lost, nothing left, and the rows as we saw them grow. */

import { scanRows } from '../../../src/adapters/stores/sqlite/scan-rows.ts'
import { isTerminal } from '../../../src/domain/dispatch.ts'
import type { World } from '../world.ts'
import { checkAllDone } from './approvals.ts'
import { checkTold } from './effects.ts'
import { unknownOf } from './journal.ts'
import type { DispatchRow } from './queue.ts'

export function restless(world: World): DispatchRow[] {
  return [...world.watch.dispatches.values()].filter(({ status }) => !isTerminal(status))
}

/** Nothing is under way: then no work may lie about that a process with a free hand has not seen. */
export function checkBusy(world: World): void {
  const life = world.holder()
  if (world.strangers || !life?.claiming() || life.superseded || life.sickSince <= world.events) return
  const rows = [...world.watch.dispatches.values()]
  const pending = rows.find(({ status }) => status === 'pending')
  const held = rows.filter(({ status, epoch }) => status === 'running' && epoch === life.epoch)
  if (pending && held.length < world.plan.width)
    world.fail('no lost wake-up', `${pending.dispatch_id} is pending, and life ${life.id} sleeps with a free hand`)
}

export const isAtWork = ({ status }: DispatchRow): boolean => status === 'pending' || status === 'running'

/** E19: a single cycle takes up what an earlier process left. `left`: the token of each when it began. */
export function checkTakenUp(world: World, left: ReadonlyMap<string, number>): void {
  for (const [id, token] of left) {
    const row = world.watch.dispatches.get(id)
    if (row && isAtWork(row) && row.token === token)
      world.fail('E19', `${id} was left by an earlier process, and is still ${row.status} after a single cycle`)
  }
}

/** What an idle life must not change. */
export function checkIdle(world: World): string {
  const journals = [...world.watch.sessions.values()].map(({ head }) => head).join(',')
  return `${world.truth.paid} paid, journals ${journals}, ${world.watch.dispatches.size} dispatches`
}

export function checkEnd(world: World): void {
  const { watch } = world
  for (const { table, key, why } of scanRows(world.db))
    world.fail('stored rows', `${table} ${key} cannot be read: ${why}`)
  for (const row of world.db
    .prepare(
      'SELECT j.session, sum(json_array_length(j.body)) AS n, s.head FROM journal j JOIN sessions s ON s.n = j.session GROUP BY s.n',
    )
    .all()) {
    const seen = watch.sessions.get(Number(row.session))?.head
    if (row.n !== row.head || row.head !== seen)
      world.fail('record.ts: order', `session ${row.session} has ${row.n} records up to ${row.head}; we saw ${seen}`)
  }
  for (const { session_id, run, open } of watch.sessions.values()) {
    const over = run === undefined || ['dead', 'failed'].includes(watch.dispatches.get(run)?.status ?? '')
    if (!over)
      world.fail('record.ts: order', `${session_id} is at rest in the middle of run ${run}, turn ${open?.turn}`)
  }
  for (const row of watch.readInbox().values()) {
    const session = watch.sessions.get(row.session)
    const heard = session?.heard.has(row.observation.id) ?? false
    if (row.read !== heard)
      world.fail('incoming message', `${row.key} is ${row.read ? 'read and was never heard' : 'heard and unread'}`)
  }
  for (const { id, status } of watch.unknowns.values())
    if (status === 'open') world.fail('unknown outcomes', `${id} is still open`)
  const prompts = [...watch.dispatches.values()].flatMap(({ prompt }) => (prompt === '' ? [] : [prompt]))
  for (const prompt of new Set(prompts))
    if (prompts.filter((other) => other === prompt).length > 1) world.fail('enqueue', `${prompt} was taken twice`)
  checkWordsHeard(world)
  checkTold(world)
  checkAllDone(world)
  world.garbage.checkEnd()
}

/** A model that was told of an unknown outcome hears the owner's word as an observation. */
function checkWordsHeard(world: World): void {
  const { watch } = world
  const heard = new Set([...watch.inbox.values()].map(({ observation }) => observation.id))
  const calls = [...watch.sessions.values()].flatMap((session) => [...session.calls.values()])
  const toldUnknown = new Set(calls.filter(({ settled }) => settled?.status === 'unknown').map(unknownOf))
  for (const { id, status } of watch.unknowns.values())
    if (status === 'resolved' && (watch.toldModel.has(id) || toldUnknown.has(id)) && !heard.has(`resolved-${id}`))
      world.fail('late or double human answers', `the word on ${id} was said, and its model never hears of it`)
}
