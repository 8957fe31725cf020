/** I4 at the moment of an effect: what must be on disk, and how often the effect may happen. */

import { callKeyOf, EFFECTS, type EffectOccurrence, sessionIdOf } from '../ground-truth.ts'
import { isToolName } from '../plan-types.ts'
import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'

export function checkEffect(
  world: World,
  proc: SimProcess,
  now: EffectOccurrence,
  before: readonly EffectOccurrence[],
): void {
  if (world.plan.several) world.several.leases.checkInTime(proc, `${now.tool} ${now.key}`)
  if (now.stale) {
    world.counters.add('effect of a superseded process')
    return
  }
  if (world.mirror.pruned.has(sessionIdOf(now.key))) {
    world.counters.add('effect of an abandoned call')
    return
  }
  const session = world.mirror.byId.get(sessionIdOf(now.key))
  const call = session?.calls.get(now.key)
  const fail = (message: string): void => world.fail('I4', `${now.tool} ${now.key}: ${message}`)
  if (!session || !call) {
    fail('it happened without an intent on disk')
    return
  }
  // Abandoned because it ignored the abort: its result says that it may still be running.
  if (call.settled?.status === 'interrupted' && call.settled.content.includes('may still be running')) {
    world.counters.add('effect of an abandoned call')
    return
  }
  const held = world.mirror.dispatchOf(session)
  if (held?.status !== 'running' || held.epoch !== proc.epoch)
    world.fail('I1', `${now.key} ran in process ${proc.id}, which does not hold its dispatch`)
  if (call.settled) fail('it happened again after it was settled')
  if (call.closed) fail('it happened after its turn had ended')
  if (call.args !== now.args || call.tool !== now.tool)
    fail(`intended as ${call.tool} ${call.args}, run with ${now.args}`)
  const { recovery } = EFFECTS[now.tool]
  const own = before.filter(({ stale }) => !stale)
  if (call.intendedBy !== proc.id) {
    if (recovery === 'pure' || recovery === 'idempotent') world.counters.add('call run again (pure or idempotent)')
    if (recovery === 'once' && now.tool === 'shell') fail('it was run again without a resolution')
  }
  if (recovery === 'once' && own.some(({ attempt }) => attempt === now.attempt))
    fail(`it happened twice in attempt ${now.attempt}`)
  if (recovery === 'reconcilable' && own.length > 0) fail('it happened twice, although a probe exists')
}

/** Every effect is on record: as a result, or as an unknown outcome. `of`: checks this session only. */
export function checkEffectsRecorded(world: World, of?: string): void {
  for (const { key, tool, stale } of world.truth.all()) {
    const session_id = sessionIdOf(key)
    if ((of !== undefined && session_id !== of) || world.mirror.pruned.has(session_id)) continue
    const call = world.mirror.byId.get(sessionIdOf(key))?.calls.get(key)
    const listed = [...world.mirror.unknowns.keys()].some((id) => callKeyOf(id) === key)
    if (!call?.settled && !listed)
      world.fail('I4', `${tool} ${key} happened and is neither settled nor listed as unknown`)
    if (!stale && !listed && call?.settled?.status === 'not_started')
      world.fail('I4', `${tool} ${key} happened and is recorded as not started`)
  }
  for (const session of world.mirror.sessions.values())
    for (const call of session.calls.values()) {
      if (of !== undefined && session.session_id !== of) continue
      // Calls for todos and routes take effect in the store.
      if (call.settled?.status !== 'ok' || call.effect.recovery === 'pure' || !isToolName(call.tool)) continue
      if (!world.truth.has(call.key)) world.fail('I4', `${call.key} is recorded as done and never happened`)
    }
}
