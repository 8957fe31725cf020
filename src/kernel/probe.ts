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

/** The first of those that ask the same providers, and the others, which begin only if it is not refused. */
interface Probe {
  /** In the order in which they are asked. */
  readonly providers: readonly string[]
  readonly first: NewDispatch
  readonly behind: readonly NewDispatch[]
  /** Whether it is known already that every key is refused, and that nobody is asked yet. */
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
    if (!probe.providers.every(isRefusing(around))) return { ids: idsOf(going), notes: [] }
    await withdraw(around, probe)
    return { ids: idsOf(going.filter((one) => !held.includes(one))), notes: [refusedKey(probe)] }
  } finally {
    letGo()
  }
}

const idsOf = (dispatches: readonly NewDispatch[]): readonly string[] =>
  dispatches.map(({ dispatch_id }) => dispatch_id)

const isRefusing =
  ({ breaker }: Surroundings) =>
  (provider: string): boolean =>
    breaker.refusing().includes(provider)

async function probeAmong(around: Surroundings, made: readonly NewDispatch[]): Promise<Probe | undefined> {
  const { breaker, models, clock } = around
  const isDoubtful = (provider: string): boolean =>
    provider !== 'offline' && (!breaker.knows(provider) || isRefusing(around)(provider))
  const chosen = await Promise.all(
    made.map(async (one) => {
      const chain = await models.chain({ agent: one.agent_id })
      const asked = chain.length === 0 ? [models.defaultId] : chain
      return { one, asked, providers: [...new Set(asked.map(providerOf))] }
    }),
  )
  // Whoever has a provider that takes its key can be answered.
  const first = chosen.find(({ providers }) => providers.every(isDoubtful))
  if (!first) return undefined
  const { providers, asked } = first
  const isLike = (other: typeof first): boolean => other.providers.join() === providers.join()
  const behind = chosen.filter((other) => other !== first && isLike(other)).map(({ one }) => one)
  if (behind.length === 0) return undefined
  const isRefused = asked.every((model) => breaker.leftOut(model, clock.now()) === 'model_auth')
  return { providers, first: first.one, behind, isRefused }
}

const withdraw = ({ store, clock }: Surroundings, { providers, behind }: Probe): Promise<unknown> =>
  commitOne(
    store,
    behind.map(({ dispatch_id }) => ({
      ...({ op: 'cancel', dispatch_id, how: 'immediate' } as const),
      ...{ now: clock.now(), reason: `the provider ${providers.join(', ')} refuses its key` },
    })),
  )

function refusedKey({ providers, behind }: Probe): Note {
  const provider = providers.join(', ')
  const names = behind.map(({ agent_id }) => agent_id).join(', ')
  return {
    about: `provider ${provider}`,
    text: `the provider ${provider} refuses its key, so ${names} had to stay behind: set the right key, then: models test`,
    zh: `模型服务 ${provider} 拒绝了密钥，${names} 因此没有派发：请设置正确的密钥，然后运行 models test`,
  }
}

/** Until one of the providers has taken its key, all have been heard, the first one is over, or for half a minute. */
async function outcomeOf(around: Surroundings, { first, providers }: Probe, signal: AbortSignal): Promise<void> {
  const { breaker, store, bell, clock } = around
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
  const heard = providers.map((provider) => breaker.hearing(provider, either))
  const taken = heard.map(async (hearing, n) => {
    await hearing
    if (isRefusing(around)(providers[n] ?? '')) throw new Error('refused')
  })
  await Promise.race([Promise.any(taken).catch(() => {}), ended(), clock.sleep(PATIENCE_MS, either)])
  over.abort('over')
}
