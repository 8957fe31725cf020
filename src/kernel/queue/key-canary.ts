/**
 * Key canary: if it is unknown whether a provider accepts its key, the whole plan is queued but only one dispatch
 * starts; the others follow if the key is accepted. A wrong key causes one failure per cycle, not one per agent.
 * Must not know: what a dispatch does.
 * Invariant: one commit queues all dispatches; if the process dies, all of them are queued and free.
 */

import { providerOf } from '../../domain/breaker.ts'
import { isTerminal, type NewDispatch } from '../../domain/dispatch.ts'
import type { OwnerNote } from '../../domain/owner-note.ts'
import { withDeadline } from '../../ports/deadline.ts'
import { commitOne } from '../../ports/store.ts'
import type { KernelDeps } from '../settings.ts'

/** After this time the other dispatches start anyway: the first one may do other work before it calls a model. */
const CANARY_TIMEOUT_MS = 30_000

export interface QueuedPlan {
  readonly ids: readonly string[]
  readonly notes: readonly OwnerNote[]
}

/** The first of the dispatches that use the same providers, and the others, which wait for it. */
interface Canary {
  /** The providers of the models that these dispatches use, in the order of the fallback chain. */
  readonly providers: readonly string[]
  readonly first: NewDispatch
  readonly others: readonly NewDispatch[]
  /** True: all these providers are known to refuse their keys, and none is due for another try. */
  readonly isRefused: boolean
}

/** Contract: queues all or none. Dispatches that could only fail are left out and reported in a note. */
export async function enqueueWithCanary(
  deps: KernelDeps,
  dispatches: readonly NewDispatch[],
  signal: AbortSignal,
): Promise<QueuedPlan> {
  const { store, clock, hold } = deps
  const canary = await findCanary(deps, dispatches)
  const queued = canary?.isRefused ? dispatches.filter((dispatch) => !canary.others.includes(dispatch)) : dispatches
  const held = canary && !canary.isRefused ? canary.others : []
  const release = hold(idsOf(held))
  try {
    if (queued.length > 0) await commitOne(store, [{ op: 'enqueue', dispatches: queued, now: clock.now() }])
    if (!canary) return { ids: idsOf(queued), notes: [] }
    if (canary.isRefused) return { ids: idsOf(queued), notes: [refusedKey(canary)] }
    await awaitCanary(deps, canary, signal)
    if (!canary.providers.every(isRefusing(deps))) return { ids: idsOf(queued), notes: [] }
    await cancelOthers(deps, canary)
    return { ids: idsOf(queued.filter((dispatch) => !held.includes(dispatch))), notes: [refusedKey(canary)] }
  } finally {
    release()
  }
}

const idsOf = (dispatches: readonly NewDispatch[]): readonly string[] =>
  dispatches.map(({ dispatch_id }) => dispatch_id)

const isRefusing =
  ({ breaker }: KernelDeps) =>
  (provider: string): boolean =>
    breaker.refusingProviders().includes(provider)

async function findCanary(deps: KernelDeps, dispatches: readonly NewDispatch[]): Promise<Canary | undefined> {
  const { breaker, models, clock } = deps
  const isUnverified = (provider: string): boolean =>
    provider !== 'offline' && (!breaker.hasOutcome(provider) || isRefusing(deps)(provider))
  const chosen = await Promise.all(
    dispatches.map(async (dispatch) => {
      const chain = await models.fallbackChain({ agent: dispatch.agent_id })
      const asked = chain.length === 0 ? [models.defaultId] : chain
      return { dispatch, asked, providers: [...new Set(asked.map(providerOf))] }
    }),
  )
  // A run with one verified provider in its chain can succeed.
  const first = chosen.find(({ providers }) => providers.every(isUnverified))
  if (!first) return undefined
  const { providers, asked } = first
  const hasSameProviders = (other: typeof first): boolean => other.providers.join() === providers.join()
  const others = chosen.filter((other) => other !== first && hasSameProviders(other)).map(({ dispatch }) => dispatch)
  if (others.length === 0) return undefined
  const isRefused = asked.every((model) => breaker.exclusionCode(model, clock.now()) === 'model_auth')
  return { providers, first: first.dispatch, others, isRefused }
}

const cancelOthers = ({ store, clock }: KernelDeps, { providers, others }: Canary): Promise<unknown> =>
  commitOne(
    store,
    others.map(({ dispatch_id }) => ({
      ...({ op: 'cancel', dispatch_id, how: 'immediate' } as const),
      ...{ now: clock.now(), reason: `the provider ${providers.join(', ')} refuses its key` },
    })),
  )

function refusedKey({ providers, others }: Canary): OwnerNote {
  const provider = providers.join(', ')
  const names = others.map(({ agent_id }) => agent_id).join(', ')
  return {
    about: `provider ${provider}`,
    text:
      `the provider ${provider} refuses its key; not dispatched: ${names}. ` +
      'Set the right key, then run: tireless models test',
    zh: `模型服务 ${provider} 拒绝了密钥，${names} 因此没有派发：请设置正确的密钥，然后运行 models test`,
  }
}

/** Waits until a provider accepts its key, all providers have answered, the first dispatch ends, or the time is up. */
async function awaitCanary(deps: KernelDeps, { first, providers }: Canary, signal: AbortSignal): Promise<void> {
  const { breaker, store, wakeSignal, clock } = deps
  const ended = async (over: AbortSignal): Promise<void> => {
    for (;;) {
      const since = wakeSignal.ringCount()
      const status = (await store.dispatch(first.dispatch_id))?.status
      if (status === undefined || isTerminal(status) || over.aborted) return
      await wakeSignal.wait(since, over)
    }
  }
  await withDeadline({ clock, ms: CANARY_TIMEOUT_MS, stop: signal }, (over) => {
    const accepted = providers.map(async (provider) => {
      await breaker.waitForOutcome(provider, over)
      if (isRefusing(deps)(provider)) throw new Error('refused')
    })
    return Promise.race([Promise.any(accepted).catch(() => {}), ended(over)])
  })
}
