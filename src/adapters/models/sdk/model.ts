/**
 * A model behind one of the AI SDK's provider packages, at the level of the SDK's model layer: one request, no retries, no loop. Calls pass
 * as the model wrote them: unknown tools, bad arguments and duplicate ids are the engine's to judge.
 */

import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider'
import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Model } from '../../../ports/model.ts'
import { answerOf } from './answer.ts'
import { failureOf } from './failure.ts'
import { patientFetch } from './fetch.ts'
import { hearBody, hearStream } from './hear.ts'
import { type Manners, promptOf } from './prompt.ts'
import { type Watch, watch } from './watch.ts'

export interface SdkOptions {
  /** As the configuration names it; reasoning goes back to the same one only. */
  readonly provider: string
  readonly model: string
  readonly baseUrl: string
  readonly apiKey?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly stream?: boolean | undefined
  /** Tokens of one answer; where it is not said, what the provider takes for enough. */
  readonly maxOutput?: number | undefined
  /** Without a byte for this long: `model_timeout`. Without a stream that is the time of the whole answer. */
  readonly idleTimeoutMs?: number | undefined
  /** Of text, reasoning and arguments together: beyond it `model_oversize`. */
  readonly maxBytes?: number | undefined
  readonly clock: Clock
}

/** All in which one provider differs from another. */
export interface Wire extends Manners {
  readonly chat: LanguageModelV4
  /** Said with every request. */
  readonly options?: SharedV4ProviderOptions
}

/** `connect` is called once: a wire compiles its schemas when it is made. */
export function sdkModel(given: SdkOptions, connect: (fetch: typeof globalThis.fetch) => Wire): Model {
  const { provider, model, apiKey, stream = true, idleTimeoutMs = 120_000, maxBytes = 8 * 1024 * 1024, clock } = given
  check(given)
  const id = `${provider}/${model}`
  const watches = new WeakMap<AbortSignal, Watch>()
  const { chat, options = {}, ...manners } = connect(watchedFetch(watches))
  const limits = { clock, idleTimeoutMs, maxBytes }
  const fixed = {
    providerOptions: options,
    ...(given.maxOutput === undefined ? {} : { maxOutputTokens: given.maxOutput }),
  }

  return {
    id,
    async call(request, { signal, onText }) {
      const guard = watch(id, signal, limits)
      watches.set(guard.signal, guard)
      try {
        const call = { ...promptOf(request, provider, manners), ...fixed, abortSignal: guard.signal }
        const heard = await (stream ? hearStream : hearBody)(chat, call, guard, onText)
        return answerOf(heard, request, provider, id)
      } catch (thrown) {
        if (signal.aborted) throw new TirelessError('aborted', { what: 'the request was aborted', where: id })
        const at = { where: id, responded: guard.responded(), spoke: guard.spoke(), now: clock.now(), secret: apiKey }
        throw guard.reason() ?? failureOf(thrown, at)
      } finally {
        guard.stop()
      }
    },
  }
}

/** One for all calls; each request finds its guard by its signal. */
function watchedFetch(watches: WeakMap<AbortSignal, Watch>): typeof globalThis.fetch {
  const fetch = patientFetch()
  return async (url, init) => {
    const guard = init?.signal && watches.get(init.signal)
    // One request per call is the port's contract; some of the SDK's models would go on by themselves.
    if (guard?.responded()) throw new TirelessError('model_cut', 'the answer would need a second request')
    // A redirect would be a second request too, and could carry the prompt to another host.
    const response = await fetch(url, { ...init, redirect: 'manual' })
    return guard ? guard.response(response) : response
  }
}

/** Here, and not at the first call: fetch would quote a key with a line break in it, in clear, in its complaint. */
function check({ provider, baseUrl, apiKey, headers = {} }: SdkOptions): void {
  const where = `provider ${provider}`
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
    throw new TirelessError('config_invalid', {
      what: 'base_url is not a URL',
      where,
      got: baseUrl,
      expected: 'http(s)://host/v1',
    })
  }
  try {
    new Headers({ ...headers, authorization: `Bearer ${apiKey ?? ''}` })
  } catch {
    throw new TirelessError('config_invalid', {
      what: 'the API key or a header holds a character that HTTP cannot carry',
      where,
      fix: 'look for a line break or a quotation mark that was copied along',
    })
  }
}
