/**
 * A model from an object of an AI SDK provider, as `anthropic('…')` returns it. Its versions differ in the form of
 * images, finish reasons and usage; here all get the form of the newest.
 */

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { TirelessError } from '../../../domain/error.ts'
import type { Price } from '../../../domain/money.ts'
import type { Clock } from '../../../ports/clock.ts'
import { untilAborted } from '../../../ports/deadline.ts'
import type { Model, ProviderModel } from '../../../ports/model.ts'
import { classifyModelError } from './classify-error.ts'
import { monitorRequest } from './idle-timeout.ts'
import { parseAnswer } from './parse-answer.ts'
import { readStream } from './read-response.ts'
import { buildSdkPrompt } from './sdk-prompt.ts'

const LIMITS = { idleTimeoutMs: 120_000, maxBytes: 8 * 1024 * 1024 }

/** The provider, as the configuration and the lists of prices name it. */
const providerOf = ({ provider }: ProviderModel): string => provider.split('.')[0] ?? provider

export const providedModelId = (given: ProviderModel): string => `${providerOf(given)}/${given.modelId}`

/** `price`: null if it is unknown; then the model is not called while a money limit is set. */
export function createProvidedModel(given: ProviderModel, price: Price | null, clock: Clock): Model {
  const [provider, id] = [providerOf(given), providedModelId(given)]
  const chat = toNewestVersion(given)
  // The reserved money covers an answer of this length.
  const bounds = price ? { maxOutputTokens: price.max_output } : {}
  const textResults = given.specificationVersion !== 'v4'
  return {
    id,
    price,
    async call(request, { signal, onText }) {
      const monitor = monitorRequest(id, signal, { clock, ...LIMITS })
      try {
        const prompt = buildSdkPrompt(request, provider, { textResults })
        const call = { ...prompt, ...bounds, abortSignal: monitor.signal }
        // It may ignore the signal.
        const reading = readStream(chat, call, monitor, onText)
        reading.catch(() => {})
        const response = await Promise.race([reading, rejectWhenAborted(monitor.signal)])
        return parseAnswer(response, request, provider, id)
      } catch (thrown) {
        if (signal.aborted) throw new TirelessError('aborted', { what: 'the request was aborted', where: id })
        // Its requests cannot be seen, so each may have been sent.
        const seen = { requested: true, responded: monitor.hasEvents(), spoke: monitor.hasEvents() }
        const address = { baseUrl: `the provider ${provider}`, setting: 'the base URL of the provider' }
        const context = { where: id, ...address, ...seen, now: clock.now(), secret: undefined }
        throw monitor.reason() ?? classifyModelError(thrown, context)
      } finally {
        monitor.stop()
      }
    },
  }
}

const rejectWhenAborted = (signal: AbortSignal): Promise<never> =>
  untilAborted(signal).then(() => {
    throw signal.reason
  })

function toNewestVersion(given: ProviderModel): LanguageModelV4 {
  const chat = given as unknown as LanguageModelV4
  if (given.specificationVersion === 'v4') return chat
  return {
    ...{ specificationVersion: 'v4', provider: given.provider, modelId: given.modelId, supportedUrls: {} },
    doGenerate: (call) => chat.doGenerate(toOldPrompt(call)),
    async doStream(call) {
      const answer = await chat.doStream(toOldPrompt(call))
      return { ...answer, stream: answer.stream.pipeThrough(new TransformStream({ transform: toNewestPart })) }
    },
  }
}

/** Before version 4, the data of an image was not in an object of its own. Only messages of users have images here. */
function toOldPrompt(call: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const prompt = call.prompt.map((message) =>
    message.role === 'user' ? { ...message, content: message.content.map(toOldPart) } : message,
  )
  return { ...call, prompt }
}

type UserPart = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number]

const toOldPart = (part: UserPart): UserPart =>
  part.type === 'file' && typeof part.data === 'object' && 'data' in part.data
    ? ({ ...part, data: part.data.data } as unknown as UserPart)
    : part

function toNewestPart(
  part: LanguageModelV4StreamPart,
  controller: TransformStreamDefaultController<LanguageModelV4StreamPart>,
): void {
  controller.enqueue(
    part.type === 'finish' ? { ...part, finishReason: toFinish(part.finishReason), usage: toUsage(part.usage) } : part,
  )
}

/** Version 2 has one word. */
function toFinish(reason: LanguageModelV4FinishReason | string): LanguageModelV4FinishReason {
  if (typeof reason !== 'string') return reason
  return reason === 'unknown' || reason === 'other'
    ? { unified: 'other', raw: reason }
    : { unified: reason as LanguageModelV4FinishReason['unified'], raw: undefined }
}

interface OldUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cachedInputTokens?: number
}

/** Version 2 has plain numbers. */
function toUsage(usage: LanguageModelV4Usage | OldUsage): LanguageModelV4Usage {
  if (typeof usage?.inputTokens === 'object') return usage as LanguageModelV4Usage
  const { inputTokens: total, outputTokens, cachedInputTokens: cacheRead } = (usage ?? {}) as OldUsage
  return {
    inputTokens: { total, noCache: undefined, cacheRead, cacheWrite: undefined },
    outputTokens: { total: outputTokens, text: undefined, reasoning: undefined },
  }
}
