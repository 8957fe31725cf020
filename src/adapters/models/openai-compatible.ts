/** Any provider with OpenAI's Chat Completions API. */

import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { Model } from '../../ports/model.ts'
import { createSdkModel, type SdkOptions } from './sdk/sdk-model.ts'

/** `baseUrl` must include `/v1`. */
export function createOpenAICompatibleModel(options: SdkOptions): Model {
  const { provider, model, baseUrl, apiKey, headers = {} } = options
  return createSdkModel(options, (fetch) => {
    const sdk = createOpenAICompatible({
      name: provider,
      baseURL: baseUrl,
      ...(apiKey === undefined ? {} : { apiKey }),
      headers: { ...headers },
      includeUsage: true,
      fetch,
    })
    return { chat: sdk.chatModel(model), textResults: true }
  })
}
