/**
 * Any provider that speaks OpenAI's chat completions, through the AI SDK's model layer: one request, no retries, no loop. Calls pass as the
 * model wrote them: unknown tools, bad arguments and duplicate ids are the engine's to judge.
 */

import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { TirelessError } from '../../domain/error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Model } from '../../ports/model.ts'
import { answerOf } from './openai-compatible/answer.ts'
import { failureOf } from './openai-compatible/failure.ts'
import { hearBody, hearStream } from './openai-compatible/hear.ts'
import { promptOf } from './openai-compatible/prompt.ts'
import { type Watch, watch } from './openai-compatible/watch.ts'

export interface OpenAICompatibleOptions {
  readonly provider: string
  readonly model: string
  /** Up to and with `/v1`. */
  readonly baseUrl: string
  readonly apiKey?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly stream?: boolean | undefined
  /** Without a byte for this long: `model_timeout`. Without a stream that is the time of the whole answer. */
  readonly idleTimeoutMs?: number | undefined
  /** Of text, reasoning and arguments together: beyond it `model_oversize`. */
  readonly maxBytes?: number | undefined
  readonly clock: Clock
}

export function openAICompatible(options: OpenAICompatibleOptions): Model {
  const { provider, model, apiKey, stream = true, idleTimeoutMs = 120_000, maxBytes = 8 * 1024 * 1024, clock } = options
  const id = `${provider}/${model}`
  const watches = new WeakMap<AbortSignal, Watch>()
  const chat = chatModel(options, watches)
  const limits = { clock, idleTimeoutMs, maxBytes }

  return {
    id,
    async call(request, { signal, onText }) {
      const guard = watch(id, signal, limits)
      watches.set(guard.signal, guard)
      try {
        const call = { ...promptOf(request, provider), abortSignal: guard.signal }
        const heard = await (stream ? hearStream : hearBody)(chat, call, guard, onText)
        return answerOf(heard, request, provider, id)
      } catch (thrown) {
        if (signal.aborted) throw aborted(id)
        const at = { where: id, responded: guard.responded(), spoke: guard.spoke(), now: clock.now(), secret: apiKey }
        throw guard.reason() ?? failureOf(thrown, at)
      } finally {
        guard.stop()
      }
    },
  }
}

/** One for all calls (it compiles its schemas when made); each request finds its guard by its signal. */
function chatModel(options: OpenAICompatibleOptions, watches: WeakMap<AbortSignal, Watch>): LanguageModelV4 {
  const { provider, model, baseUrl, apiKey, headers = {} } = options
  check(options)
  return createOpenAICompatible({
    name: provider,
    baseURL: baseUrl,
    ...(apiKey === undefined ? {} : { apiKey }),
    headers: { ...headers },
    includeUsage: true,
    async fetch(url, init) {
      // A redirect would be a second request, and could carry the prompt to another host.
      const response = await fetch(url, { ...init, redirect: 'manual' })
      const guard = init?.signal && watches.get(init.signal)
      return guard ? guard.response(response) : response
    },
  }).chatModel(model)
}

/** Here, and not at the first call: fetch would quote a key with a line break in it, in clear, in its complaint. */
function check({ provider, baseUrl, apiKey, headers = {} }: OpenAICompatibleOptions): void {
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

const aborted = (where: string) => new TirelessError('aborted', { what: 'the request was aborted', where })
