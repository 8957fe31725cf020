/** Google's Gemini API. Gemini signs its reasoning parts; they must be sent back unchanged. */

import { createGoogle } from '@ai-sdk/google'
import type { Model } from '../../ports/model.ts'
import { createSdkModel, type SdkOptions } from './sdk/sdk-model.ts'

export function createGoogleModel(options: SdkOptions): Model {
  const { model, baseUrl, apiKey = '', headers = {} } = options
  return createSdkModel(options, (fetch) => ({
    chat: createGoogle({ baseURL: baseUrl, apiKey, headers: { ...headers }, fetch }).chat(model),
  }))
}
