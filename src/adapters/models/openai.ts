/**
 * OpenAI's Responses API. OpenAI is told to store nothing, so its encrypted reasoning is kept in the journal and sent
 * with the next request.
 */

import { createOpenAI } from '@ai-sdk/openai'
import type { Model } from '../../ports/model.ts'
import { createSdkModel, type SdkOptions } from './sdk/sdk-model.ts'

export function createOpenAIModel(options: SdkOptions): Model {
  const { model, baseUrl, apiKey = '', headers = {} } = options
  return createSdkModel(options, (fetch) => ({
    chat: createOpenAI({ baseURL: baseUrl, apiKey, headers: { ...headers }, fetch }).responses(model),
    options: { openai: { store: false } },
  }))
}
