/**
 * Detects the default model if none is configured: the first provider with a key in the environment, then the first
 * local server that answers. Local servers are asked only when a model is needed.
 */

import { z } from 'zod'
import type { Clock } from '../../ports/clock.ts'
import { withDeadline } from '../../ports/deadline.ts'
import type { ModelChoice } from '../../ports/model.ts'
import { findKeyVariable, findKnownProvider, PROVIDERS, type ProviderEnvironment } from './providers.ts'

/** Enough, because a running local server answers within a few milliseconds. */
const TIMEOUT_MS = 500

export function detectFromEnvironment(env: ProviderEnvironment): ModelChoice | undefined {
  if (env.TIRELESS_MODEL) return { id: env.TIRELESS_MODEL, why: 'TIRELESS_MODEL' }
  for (const name of Object.keys(PROVIDERS)) {
    const known = findKnownProvider(name, env)
    const variable = known && findKeyVariable(known, env)
    if (known?.model && variable !== undefined) return { id: `${name}/${known.model}`, why: variable }
  }
  return undefined
}

interface DetectDeps {
  readonly env: ProviderEnvironment
  readonly fetch: typeof globalThis.fetch
  readonly clock: Clock
}

/** Contract: never rejects; resolves within TIMEOUT_MS, to undefined if no local server answers. */
export async function detectLocalServer({ env, fetch, clock }: DetectDeps): Promise<ModelChoice | undefined> {
  const done = new AbortController()
  const local = Object.keys(PROVIDERS).filter((name) => findKnownProvider(name, env)?.variable === null)
  const ask = async (name: string, signal: AbortSignal): Promise<ModelChoice | undefined> => {
    const base = findKnownProvider(name, env)?.base_url
    const model = base && (await firstModel(`${base}/models`, fetch, signal))
    return model ? { id: `${name}/${model}`, why: `${name} answers at ${base}` } : undefined
  }
  const limit = { clock, ms: TIMEOUT_MS, stop: done.signal }
  const answers = local.map((name) => withDeadline(limit, (signal) => ask(name, signal)))
  try {
    for (const answer of answers) {
      const found = await answer
      if (found) return found
    }
    return undefined
  } finally {
    done.abort('over')
  }
}

const modelList = z.object({ data: z.array(z.object({ id: z.string().min(1) })) })

/** The first model that the server lists and that is not an embedding model. */
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
