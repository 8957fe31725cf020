/**
 * Detects the default model if none is configured: the first provider with a key in the environment, then the first
 * local server that answers, then the offline model. Local servers are asked only when a model is needed.
 */

import { z } from 'zod'
import type { Clock } from '../../ports/clock.ts'
import type { Choice } from '../../ports/model.ts'
import { offlineModel } from './offline.ts'
import { knownProvider, PROVIDERS, type Variables } from './providers.ts'

/** A running local server answers within a few milliseconds. */
const TIMEOUT_MS = 500

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

/** Contract: never rejects; resolves within TIMEOUT_MS. */
export async function fromMachine({ env, fetch, clock }: Reach): Promise<Choice> {
  const done = new AbortController()
  const local = Object.keys(PROVIDERS).filter((name) => knownProvider(name, env)?.variable === null)
  const answers = local.map(async (name): Promise<Choice | undefined> => {
    const base = knownProvider(name, env)?.base_url
    const model = base && (await firstModel(`${base}/models`, fetch, done.signal))
    return model ? { id: `${name}/${model}`, why: `${name} answers at ${base}` } : undefined
  })
  const timeout = clock.sleep(TIMEOUT_MS, done.signal).then(() => undefined)
  try {
    for (const answer of answers) {
      const found = await Promise.race([answer, timeout])
      if (found) return found
    }
    return { id: offlineModel.id, why: 'no key is set and no local server answers' }
  } finally {
    done.abort('over')
  }
}

const modelList = z.object({ data: z.array(z.object({ id: z.string().min(1) })) })

/** Skips embedding models. */
async function firstModel(
  url: string,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { data } = modelList.parse(await (await fetch(url, { signal, redirect: 'error' })).json())
    return data.find(({ id }) => !/embed/i.test(id))?.id
  } catch {
    return undefined
  }
}
