/**
 * Which model there is where nobody named one: the first provider whose key is in the environment, then the first local server that
 * answers, then the offline model. The environment is looked at at once; the network only when a model is needed.
 */

import { z } from 'zod'
import type { Clock } from '../../ports/clock.ts'
import type { Choice } from '../../ports/model.ts'
import { offlineModel } from './offline.ts'
import { knownProvider, PROVIDERS, type Variables } from './providers.ts'

/** A local server answers in a few milliseconds, or it is not there. */
const PATIENCE_MS = 500

export function fromEnvironment(env: Variables): Choice | undefined {
  if (env.TIRELESS_MODEL) return { id: env.TIRELESS_MODEL, why: 'TIRELESS_MODEL' }
  for (const name of Object.keys(PROVIDERS)) {
    const known = knownProvider(name, env)
    if (known?.variable && known.model && env[known.variable]?.trim())
      return { id: `${name}/${known.model}`, why: known.variable }
  }
  return undefined
}

export interface Reach {
  readonly env: Variables
  readonly fetch: typeof globalThis.fetch
  readonly clock: Clock
}

/** Contract: never rejects; takes no longer than its patience. */
export async function fromMachine({ env, fetch, clock }: Reach): Promise<Choice> {
  const over = new AbortController()
  const local = Object.keys(PROVIDERS).filter((name) => knownProvider(name, env)?.variable === null)
  const asked = local.map(async (name): Promise<Choice | undefined> => {
    const base = knownProvider(name, env)?.base_url
    const model = base && (await firstModel(`${base}/models`, fetch, over.signal))
    return model ? { id: `${name}/${model}`, why: `${name} answers at ${base}` } : undefined
  })
  const tooLate = clock.sleep(PATIENCE_MS, over.signal).then(() => undefined)
  try {
    for (const answer of asked) {
      const found = await Promise.race([answer, tooLate])
      if (found) return found
    }
    return { id: offlineModel.id, why: 'no key is set and no local server answers' }
  } finally {
    over.abort('over')
  }
}

const listing = z.object({ data: z.array(z.object({ id: z.string().min(1) })) })

/** Embedders are listed too, and cannot talk. */
async function firstModel(
  url: string,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { data } = listing.parse(await (await fetch(url, { signal, redirect: 'error' })).json())
    return data.find(({ id }) => !/embed/i.test(id))?.id
  } catch {
    return undefined
  }
}
