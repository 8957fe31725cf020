/**
 * Probe: where nobody knows whether a provider takes its key, one dispatch goes first, and the others only if it was not refused: a wrong key
 * makes one failure a cycle, not one for each agent.
 * Must not know: what a dispatch does.
 */

import { providerOf } from '../domain/breaker.ts'
import { isTerminal, type NewDispatch } from '../domain/dispatch.ts'
import type { Note } from '../domain/note.ts'
import type { Surroundings } from './settings.ts'

/** After so long the others go all the same: the first may have other things to do before it asks a model. */
const PATIENCE_MS = 30_000

export interface Probed {
  /** On their way already. */
  readonly first: readonly NewDispatch[]
  /** To be enqueued. */
  readonly rest: readonly NewDispatch[]
  /** Why the others were held back. */
  readonly hold: Note | null
}

export async function probed(
  around: Surroundings,
  made: readonly NewDispatch[],
  enqueue: (dispatches: readonly NewDispatch[]) => Promise<void>,
  signal: AbortSignal,
): Promise<Probed> {
  const { breaker, models } = around
  const providers = new Map<NewDispatch, string>()
  for (const one of made) {
    const [model = models.defaultId] = await models.chain({ agent: one.agent_id })
    providers.set(one, providerOf(model))
  }
  const doubtful = (provider: string): boolean =>
    provider !== 'offline' && (!breaker.knows(provider) || breaker.refusing().includes(provider))
  const [first] = made.filter((one) => doubtful(providers.get(one) ?? ''))
  const provider = first && providers.get(first)
  const behind = made.filter((one) => one !== first && providers.get(one) === provider)
  if (!first || provider === undefined || behind.length === 0) return { first: [], rest: made, hold: null }
  await enqueue([first])
  await outcomeOf(around, first.dispatch_id, provider, signal)
  const rest = made.filter((one) => one !== first)
  if (!breaker.refusing().includes(provider)) return { first: [first], rest, hold: null }
  const names = behind.map(({ agent_id }) => agent_id).join(', ')
  return {
    first: [first],
    rest: rest.filter((one) => !behind.includes(one)),
    hold: {
      about: `provider ${provider}`,
      text: `the provider ${provider} refuses its key, so ${names} had to stay behind: set the right key, then: models test`,
      zh: `模型服务 ${provider} 拒绝了密钥，${names} 因此没有派发：请设置正确的密钥，然后运行 models test`,
    },
  }
}

async function outcomeOf(
  { breaker, store, bell, clock }: Surroundings,
  dispatchId: string,
  provider: string,
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController()
  const either = AbortSignal.any([over.signal, signal])
  const ended = async (): Promise<void> => {
    for (;;) {
      const since = bell.rung()
      const status = (await store.dispatch(dispatchId))?.status
      if (status === undefined || isTerminal(status) || either.aborted) return
      await bell.wait(since, either)
    }
  }
  await Promise.race([breaker.hearing(provider, either), ended(), clock.sleep(PATIENCE_MS, either)])
  over.abort('over')
}
