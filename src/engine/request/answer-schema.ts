/**
 * The schema of a task's answer: the model reads it in the system prompt, and an answer that does not match is no end.
 * Pure, and computed from the metadata of the dispatch, so that a restart and a replay judge alike.
 * Must not know: who gave the schema.
 */

import { z } from 'zod'
import { answerValues } from '../../domain/answer-values.ts'
import { describeMismatch } from '../../domain/describe-issues.ts'
import { asTirelessError } from '../../domain/error.ts'
import type { AnswerSchema } from '../../domain/task.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'

/** Contract: what the model is told; empty without a schema. */
export const describeAnswerSchema = (schema: AnswerSchema | undefined): string =>
  schema === undefined ? '' : loadPrompt('system/answer-schema.md', { schema: JSON.stringify(schema) })

/** Contract: why the answer does not match; undefined if it does. Never throws. */
export function findAnswerMismatch(schema: AnswerSchema, answer: string): string | undefined {
  try {
    const shape = z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema)
    const values = answerValues(answer)
    const results = values.map((value) => shape.safeParse(value))
    if (results.some(({ success }) => success)) return undefined
    const issues = results[0]?.error?.issues ?? []
    return values.length > 1 ? describeMismatch(issues, values[0]) : loadPrompt('retries/wrong-answer.md#not_json')
  } catch (thrown) {
    return `the schema cannot be used: ${asTirelessError(thrown).message}`
  }
}
