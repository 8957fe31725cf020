/** Steps of a model that remembers, recalls and forgets. */

import type { ModelMessage } from '../../src/ports/model.ts'
import type { ScriptedStep } from '../../src/testing/scripted-model.ts'

export const rememberCall = (key: string, text: string, more: object = {}): ScriptedStep => ({
  calls: [{ tool: 'remember', args: { key, text, ...more } }],
})

export const recallCall = (query: string): ScriptedStep => ({ calls: [{ tool: 'recall', args: { query } }] })

export const done: ScriptedStep = { text: 'done' }

export const textsOf = (messages: readonly ModelMessage[] | undefined, role: ModelMessage['role']): string[] =>
  (messages ?? []).filter((message) => message.role === role).map(({ text }) => text)
