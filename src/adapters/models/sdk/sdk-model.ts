/**
 * A model on top of an AI SDK provider package: one request per call, no retries, no loop. Calls are passed on as the
 * model wrote them; the engine checks unknown tools, bad arguments and duplicate ids.
 */

import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider'
import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Model } from '../../../ports/model.ts'
import { classifyModelError } from './classify-error.ts'
import { monitorRequest, type RequestMonitor } from './idle-timeout.ts'
import { parseAnswer } from './parse-answer.ts'
import { createPatientFetch } from './patient-fetch.ts'
import { readStream, readWholeBody } from './read-response.ts'
import { buildSdkPrompt, type PromptFormat } from './sdk-prompt.ts'

export interface SdkOptions {
  /** The name in the configuration; reasoning is sent back to the same provider only. */
  readonly provider: string
  readonly model: string
  readonly baseUrl: string
  /** The setting or variable to correct if the address is wrong, for messages. */
  readonly baseUrlSetting?: string | undefined
  readonly apiKey?: string | undefined
  /** Sent as `Authorization: Bearer` instead of an API key. Only Anthropic makes a difference. */
  readonly authToken?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly stream?: boolean | undefined
  /** Most tokens of one answer; if missing, the provider's default applies. */
  readonly maxOutput?: number | undefined
  /**
   * Time without a received byte after which the request fails with `model_timeout`. Without streaming this limits the
   * whole answer.
   */
  readonly idleTimeoutMs?: number | undefined
  /** Most bytes of text, reasoning and arguments together; more is `model_oversize`. */
  readonly maxBytes?: number | undefined
  readonly clock: Clock
}

/** Everything that differs between providers. */
interface ProviderConnection extends PromptFormat {
  readonly chat: LanguageModelV4
  /** Provider options that are sent with every request. */
  readonly options?: SharedV4ProviderOptions
}

/** `connect` is called once, because creating a connection compiles schemas. */
export function createSdkModel(
  sdkOptions: SdkOptions,
  connect: (fetch: typeof globalThis.fetch) => ProviderConnection,
): Model {
  const {
    provider,
    model,
    apiKey,
    authToken,
    stream = true,
    idleTimeoutMs = 120_000,
    maxBytes = 8 * 1024 * 1024,
    clock,
  } = sdkOptions
  checkOptions(sdkOptions)
  const id = `${provider}/${model}`
  const monitors = new WeakMap<AbortSignal, RequestMonitor>()
  const { chat, options = {}, ...manners } = connect(createMonitoredFetch(monitors))
  const limits = { clock, idleTimeoutMs, maxBytes }
  const fixedOptions = {
    providerOptions: options,
    ...(sdkOptions.maxOutput === undefined ? {} : { maxOutputTokens: sdkOptions.maxOutput }),
  }

  return {
    id,
    async call(request, { signal, onText }) {
      const monitor = monitorRequest(id, signal, limits)
      monitors.set(monitor.signal, monitor)
      try {
        const call = { ...buildSdkPrompt(request, provider, manners), ...fixedOptions, abortSignal: monitor.signal }
        const response = await (stream ? readStream : readWholeBody)(chat, call, monitor, onText)
        return parseAnswer(response, request, provider, id)
      } catch (thrown) {
        if (signal.aborted) throw new TirelessError('aborted', { what: 'the request was aborted', where: id })
        const context = {
          where: id,
          baseUrl: sdkOptions.baseUrl,
          setting: sdkOptions.baseUrlSetting,
          requested: monitor.hasRequest(),
          responded: monitor.hasResponse(),
          spoke: monitor.hasEvents(),
          now: clock.now(),
          secret: apiKey ?? authToken,
        }
        throw monitor.reason() ?? classifyModelError(thrown, context)
      } finally {
        monitor.stop()
      }
    },
  }
}

/** One fetch for all calls; each request finds its monitor by its signal. */
function createMonitoredFetch(monitors: WeakMap<AbortSignal, RequestMonitor>): typeof globalThis.fetch {
  const fetch = createPatientFetch()
  return async (url, init) => {
    const monitor = init?.signal && monitors.get(init.signal)
    // The model port allows one request per call; some SDK models would send another one by themselves.
    if (monitor?.hasResponse())
      throw new TirelessError('model_cut', 'the answer is incomplete: its rest needs a second request')
    monitor?.recordRequest()
    // A redirect is a second request, too, and could send the prompt to another host.
    const response = await fetch(url, { ...init, redirect: 'manual' })
    return monitor ? monitor.monitorResponse(response) : response
  }
}

/** The options are checked on creation: at the first call, fetch would quote an invalid key in its error. */
function checkOptions({ provider, baseUrl, apiKey, authToken, headers = {} }: SdkOptions): void {
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
    new Headers({ ...headers, authorization: `Bearer ${apiKey ?? authToken ?? ''}` })
  } catch {
    throw new TirelessError('config_invalid', {
      what: 'the API key or a header has a character that HTTP does not allow',
      where,
      fix: 'look for a copied line break or quotation mark',
    })
  }
}
