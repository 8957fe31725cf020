/** Any provider with OpenAI's Chat Completions API. */

import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { Model } from '../../ports/model.ts'
import { type SdkOptions, sdkModel } from './sdk/model.ts'

/** `baseUrl`: includes `/v1`. */
export function openAICompatible(options: SdkOptions): Model {
  const { provider, model, baseUrl, apiKey, headers = {} } = options
  return sdkModel(options, (fetch) => {
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
