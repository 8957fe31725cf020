/**
 * Anthropic's Messages API. Anthropic signs its thinking; it must be sent back unchanged. Stable parts of the request
 * are marked for Anthropic's prompt cache.
 */

import { createAnthropic } from '@ai-sdk/anthropic'
import type { Model } from '../../ports/model.ts'
import { createSdkModel, type SdkOptions } from './sdk/sdk-model.ts'

export function createAnthropicModel(options: SdkOptions): Model {
  const { model, baseUrl, apiKey = '', authToken, headers = {} } = options
  const credentials = authToken === undefined ? { apiKey } : { authToken }
  return createSdkModel(options, (fetch) => ({
    chat: createAnthropic({ baseURL: baseUrl, ...credentials, headers: { ...headers }, fetch }).messages(model),
    cacheMark: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  }))
}
