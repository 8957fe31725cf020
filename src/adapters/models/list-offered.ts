/** Asks a provider for the names of its models. The request costs nothing, and shows whether the key is accepted. */

import { APICallError } from '@ai-sdk/provider'
import { z } from 'zod'
import { TirelessError } from '../../domain/error.ts'
import type { Clock } from '../../ports/clock.ts'
import { withDeadline } from '../../ports/deadline.ts'
import type { ProtocolName } from './providers.ts'
import { classifyModelError } from './sdk/classify-error.ts'

const TIMEOUT_MS = 20_000
/** A provider with more models than this is searched by typing. */
const MAX_MODELS = 1000

interface ListedProvider {
  readonly name: string
  readonly protocol: ProtocolName
  readonly baseUrl: string
  /** The setting to correct if the address is wrong. */
  readonly setting: string
  readonly apiKey: string | undefined
}

interface ListDeps {
  readonly fetch: typeof globalThis.fetch
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Contract: rejects with the same errors as a call of a model of this provider. */
export async function listOfferedModels(provider: ListedProvider, deps: ListDeps): Promise<readonly string[]> {
  const progress = { responded: false }
  try {
    const limit = { clock: deps.clock, ms: TIMEOUT_MS, stop: deps.signal }
    return await withDeadline(
      limit,
      (signal) => request(provider, deps.fetch, signal, progress),
      () => {
        throw new TirelessError('model_timeout', { what: 'the provider did not answer', where: provider.name })
      },
    )
  } catch (thrown) {
    throw classifyModelError(thrown, {
      ...{ where: provider.name, baseUrl: provider.baseUrl, setting: provider.setting, requested: true },
      ...{ responded: progress.responded, spoke: false, now: deps.clock.now(), secret: provider.apiKey },
    })
  }
}

async function request(
  { protocol, baseUrl, apiKey }: ListedProvider,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
  progress: { responded: boolean },
): Promise<readonly string[]> {
  const url = `${baseUrl}/models${QUERIES[protocol] ?? ''}`
  // A redirect could send the key to another host.
  const response = await fetch(url, { signal, redirect: 'manual', headers: headersFor(protocol, apiKey) })
  progress.responded = true
  const body = await response.text()
  if (response.ok) return namesIn(JSON.parse(body))
  throw new APICallError({
    ...{ message: body.slice(0, 1000) || response.statusText, url, requestBodyValues: {} },
    ...{ statusCode: response.status, responseBody: body, responseHeaders: Object.fromEntries(response.headers) },
  })
}

const QUERIES: Readonly<Partial<Record<ProtocolName, string>>> = {
  anthropic: `?limit=${MAX_MODELS}`,
  google: `?pageSize=${MAX_MODELS}`,
}

function headersFor(protocol: ProtocolName, key: string | undefined): Record<string, string> {
  if (key === undefined) return {}
  if (protocol === 'anthropic') return { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
  return protocol === 'google' ? { 'x-goog-api-key': key } : { authorization: `Bearer ${key}` }
}

const openAIList = z.object({ data: z.array(z.object({ id: z.string() })) })
const googleList = z.object({
  models: z.array(z.object({ name: z.string(), supportedGenerationMethods: z.array(z.string()).optional() })),
})

/** Contract: embedding models are left out; throws if the answer is no list of models. */
function namesIn(body: unknown): readonly string[] {
  const google = googleList.safeParse(body)
  const names = google.success
    ? google.data.models
        .filter(({ supportedGenerationMethods: can }) => can?.includes('generateContent') ?? true)
        .map(({ name }) => name.replace(/^models\//, ''))
    : openAIList.parse(body).data.map(({ id }) => id)
  return names.filter((name) => name !== '' && !/embed/i.test(name)).slice(0, MAX_MODELS)
}
