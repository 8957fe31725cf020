/** Checks at rest: nothing lost, nothing unfinished, and the rows match the mirror. */

import { scanRows } from '../../../src/adapters/stores/sqlite/scan-rows.ts'
import { isTerminal } from '../../../src/domain/dispatch.ts'
import type { World } from '../world.ts'
import { checkApprovalsUsed } from './approvals.ts'
import { checkEffectsRecorded } from './effects.ts'
import { unknownIdOf } from './journal.ts'
import type { DispatchRow } from './queue.ts'

export function unfinishedDispatches(world: World): DispatchRow[] {
  return [...world.mirror.dispatches.values()].filter(({ status }) => !isTerminal(status))
}

/** When nothing can be delivered, no work is pending while a process has a free slot and its workspace is free. */
export function checkNoIdleWorker(world: World): void {
  const proc = world.homeHolder()
  if (world.staleWriteSeen || !proc?.isClaiming() || proc.superseded || proc.diskFailedAt <= world.events) return
  const rows = [...world.mirror.dispatches.values()]
  const inUse = new Set(rows.filter(({ status }) => status === 'running').map(({ workspace }) => workspace))
  const pending = rows.find(({ status, workspace }) => status === 'pending' && !inUse.has(workspace))
  const held = rows.filter(({ status, epoch }) => status === 'running' && epoch === proc.epoch)
  if (held.length < world.plan.maxConcurrent) world.subAgents.checkNoSlotHeld()
  if (pending && held.length < world.plan.maxConcurrent)
    world.fail('no lost wake-up', `${pending.dispatch_id} is pending, and process ${proc.id} sleeps with a free slot`)
}

export const isPendingOrRunning = ({ status }: DispatchRow): boolean => status === 'pending' || status === 'running'

/** E19: a single cycle resumes the dispatches of an earlier process. `left`: the token of each when the cycle began. */
export function checkResumed(world: World, left: ReadonlyMap<string, number>): void {
  for (const [id, token] of left) {
    const row = world.mirror.dispatches.get(id)
    if (row && isPendingOrRunning(row) && row.token === token)
      world.fail('E19', `${id} was left by an earlier process, and is still ${row.status} after a single cycle`)
  }
}

/** The values that an idle process must not change. */
export function describeIdleState(world: World): string {
  const journals = [...world.mirror.sessions.values()].map(({ head }) => head).join(',')
  return `${world.truth.paid} paid, journals ${journals}, ${world.mirror.dispatches.size} dispatches`
}

export function checkEndState(world: World): void {
  const { mirror } = world
  for (const { table, key, why } of scanRows(world.db))
    world.fail('stored rows', `${table} ${key} cannot be read: ${why}`)
  for (const row of world.db
    .prepare(
      `SELECT j.session, sum(json_array_length(j.body)) AS n, s.head
      FROM journal j JOIN sessions s ON s.n = j.session GROUP BY s.n`,
    )
    .all()) {
    const seen = mirror.sessions.get(Number(row.session))?.head
    if (row.n !== row.head || row.head !== seen)
      world.fail(
        'record.ts: order',
        `session ${row.session} has ${row.n} records up to ${row.head}; the mirror has ${seen}`,
      )
  }
  for (const { session_id, run, open } of mirror.sessions.values()) {
    const over = run === undefined || ['dead', 'failed'].includes(mirror.dispatches.get(run)?.status ?? '')
    if (!over)
      world.fail('record.ts: order', `${session_id} is at rest, but run ${run} is unfinished in turn ${open?.turn}`)
  }
  for (const row of mirror.readInbox().values()) {
    const session = mirror.sessions.get(row.session)
    const consumed = session?.consumed.has(row.observation.id) ?? false
    if (row.read !== consumed)
      world.fail(
        'incoming message',
        `${row.key} is ${row.read ? 'read and was never consumed' : 'consumed and unread'}`,
      )
  }
  for (const { id, status } of mirror.unknowns.values())
    if (status === 'open') world.fail('unknown outcomes', `${id} is still open`)
  const prompts = [...mirror.dispatches.values()].flatMap(({ prompt }) => (prompt === '' ? [] : [prompt]))
  for (const prompt of new Set(prompts))
    if (prompts.filter((other) => other === prompt).length > 1) world.fail('enqueue', `${prompt} was enqueued twice`)
  checkResolutionsDelivered(world)
  checkEffectsRecorded(world)
  checkApprovalsUsed(world)
  world.garbage.checkEnd()
  world.talk.checkEnd()
  world.looks.checkEnd()
}

/** A model that saw an unknown outcome gets the owner's resolution as an observation. */
function checkResolutionsDelivered(world: World): void {
  const { mirror } = world
  const consumed = new Set([...mirror.inbox.values()].map(({ observation }) => observation.id))
  const calls = [...mirror.sessions.values()].flatMap((session) => [...session.calls.values()])
  const toldUnknown = new Set(calls.filter(({ settled }) => settled?.status === 'unknown').map(unknownIdOf))
  for (const { id, status } of mirror.unknowns.values())
    if (status === 'resolved' && (mirror.toldModel.has(id) || toldUnknown.has(id)) && !consumed.has(`resolved-${id}`))
      world.fail('late or double human answers', `${id} was resolved, and its model never gets the resolution`)
}
