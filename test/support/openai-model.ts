/** A model at an OpenAI-compatible server. */

import { createOpenAICompatibleModel } from '../../src/adapters/models/openai-compatible.ts'
import type { SdkOptions } from '../../src/adapters/models/sdk/sdk-model.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import type { Model, ModelRequest } from '../../src/ports/model.ts'
import { sseData } from './raw-server.ts'

export const signal = new AbortController().signal

export const hello: ModelRequest = { system: '', messages: [{ role: 'user', text: 'hello' }], tools: [] }

export const modelAt = (baseUrl: string, more: Partial<SdkOptions> = {}): Model =>
  createOpenAICompatibleModel({ provider: 'local', model: 'm', baseUrl, clock: systemClock, ...more })

export const delta = (part: object, finish: string | null = null) =>
  sseData({ id: 'c', choices: [{ index: 0, delta: part, finish_reason: finish }] })
