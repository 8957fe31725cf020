/** Any provider that speaks OpenAI's chat completions. */

import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { Model } from '../../ports/model.ts'
import { type SdkOptions, sdkModel } from './sdk/model.ts'

/** `baseUrl`: up to and with `/v1`. */
export function openAICompatible(options: SdkOptions): Model {
  const { provider, model, baseUrl, apiKey, headers = {} } = options
  return sdkModel(options, (fetch) => {
    const made = createOpenAICompatible({
      name: provider,
      baseURL: baseUrl,
      ...(apiKey === undefined ? {} : { apiKey }),
      headers: { ...headers },
      includeUsage: true,
      fetch,
    })
    return { chat: made.chatModel(model), textResults: true }
  })
}
