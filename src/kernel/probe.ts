/**
 * Probe: where nobody knows whether a provider takes its key, the plan is enqueued whole, but only its first dispatch begins; the others when that
 * one was not refused. A wrong key makes one failure a cycle, not one for each agent.
 * Must not know: what a dispatch does.
 * Invariant: one commit enqueues everything that goes; whenever the process dies, all of it is there and free.
 */

import { providerOf } from '../domain/breaker.ts'
import { isTerminal, type NewDispatch } from '../domain/dispatch.ts'
import type { Note } from '../domain/note.ts'
import { commitOne } from '../ports/store.ts'
import type { Surroundings } from './settings.ts'

/** After so long the others go all the same: the first may have other things to do before it asks a model. */
const PATIENCE_MS = 30_000

export interface Sent {
  readonly ids: readonly string[]
  readonly notes: readonly Note[]
}

/** The first of a provider's dispatches, and those that begin only if it is not refused. */
interface Probe {
  readonly provider: string
  readonly first: NewDispatch
  readonly behind: readonly NewDispatch[]
  /** Whether it is known already that the key is refused, and that nobody is asked yet. */
  readonly isRefused: boolean
}

/** Contract: enqueued, all or none; those that could only fail stay behind, and this is told. */
export async function enqueueProbed(
  around: Surroundings,
  made: readonly NewDispatch[],
  signal: AbortSignal,
): Promise<Sent> {
  const { store, clock, hold } = around
  const probe = await probeAmong(around, made)
  const going = probe?.isRefused ? made.filter((one) => !probe.behind.includes(one)) : made
  const held = probe && !probe.isRefused ? probe.behind : []
  const letGo = hold(idsOf(held))
  try {
    if (going.length > 0) await commitOne(store, [{ op: 'enqueue', dispatches: going, now: clock.now() }])
    if (!probe) return { ids: idsOf(going), notes: [] }
    if (probe.isRefused) return { ids: idsOf(going), notes: [refusedKey(probe)] }
    await outcomeOf(around, probe, signal)
    if (!around.breaker.refusing().includes(probe.provider)) return { ids: idsOf(going), notes: [] }
    await withdraw(around, probe)
    return { ids: idsOf(going.filter((one) => !held.includes(one))), notes: [refusedKey(probe)] }
  } finally {
    letGo()
  }
}

const idsOf = (dispatches: readonly NewDispatch[]): readonly string[] =>
  dispatches.map(({ dispatch_id }) => dispatch_id)

async function probeAmong(
  { breaker, models, clock }: Surroundings,
  made: readonly NewDispatch[],
): Promise<Probe | undefined> {
  const chosen = await Promise.all(
    made.map(async (one) => {
      const [model = models.defaultId] = await models.chain({ agent: one.agent_id })
      return { one, model, provider: providerOf(model) }
    }),
  )
  const isDoubtful = (provider: string): boolean =>
    provider !== 'offline' && (!breaker.knows(provider) || breaker.refusing().includes(provider))
  const first = chosen.find(({ provider }) => isDoubtful(provider))
  if (!first) return undefined
  const { provider, model } = first
  const behind = chosen.filter((one) => one !== first && one.provider === provider).map(({ one }) => one)
  if (behind.length === 0) return undefined
  return { provider, first: first.one, behind, isRefused: breaker.leftOut(model, clock.now()) === 'model_auth' }
}

const withdraw = ({ store, clock }: Surroundings, { provider, behind }: Probe): Promise<unknown> =>
  commitOne(
    store,
    behind.map(({ dispatch_id }) => ({
      ...({ op: 'cancel', dispatch_id, how: 'immediate' } as const),
      ...{ now: clock.now(), reason: `the provider ${provider} refuses its key` },
    })),
  )

function refusedKey({ provider, behind }: Probe): Note {
  const names = behind.map(({ agent_id }) => agent_id).join(', ')
  return {
    about: `provider ${provider}`,
    text: `the provider ${provider} refuses its key, so ${names} had to stay behind: set the right key, then: models test`,
    zh: `模型服务 ${provider} 拒绝了密钥，${names} 因此没有派发：请设置正确的密钥，然后运行 models test`,
  }
}

async function outcomeOf(
  { breaker, store, bell, clock }: Surroundings,
  { first, provider }: Probe,
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController()
  const either = AbortSignal.any([over.signal, signal])
  const ended = async (): Promise<void> => {
    for (;;) {
      const since = bell.rung()
      const status = (await store.dispatch(first.dispatch_id))?.status
      if (status === undefined || isTerminal(status) || either.aborted) return
      await bell.wait(since, either)
    }
  }
  await Promise.race([breaker.hearing(provider, either), ended(), clock.sleep(PATIENCE_MS, either)])
  over.abort('over')
}
