/** What a program gets of a task that has ended: the answer by its schema, and what its criteria say. */

import { z } from 'zod'
import { answerValues } from '../domain/answer-values.ts'
import { describeMismatch } from '../domain/describe-issues.ts'
import { asTirelessError, readSafely, TirelessError } from '../domain/error.ts'
import { describeValue } from '../domain/json.ts'
import type { Criterion, Task, TaskEnd, TaskResult } from './task.ts'

/** What a program wants to know of a task. */
export type WantedResult<A> = Pick<Task<A>, 'answer' | 'success_criteria'>

/** Contract: the JSON Schema as text; undefined without a schema; throws `usage` if JSON Schema cannot express it. */
export function answerSchemaText(schema: z.ZodType | undefined): string | undefined {
  if (schema === undefined) return undefined
  return readSafely('answer', () => {
    try {
      const { $schema: _, ...made } = z.toJSONSchema(schema, { io: 'input', override: dropFlaggedPatterns })
      return JSON.stringify(made)
    } catch (thrown) {
      throw new TirelessError('usage', {
        what: 'this is no schema for an answer',
        where: 'answer',
        got: typeof schema === 'object' ? asTirelessError(thrown).message : describeValue(schema),
        expected: 'a zod schema that JSON Schema can express',
      })
    }
  })
}

/** JSON Schema has no flags; without them a pattern would refuse right answers. The program's own schema checks it. */
function dropFlaggedPatterns({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: JsonSchema }): void {
  const { patterns = [] } = zodSchema._zod.bag as { readonly patterns?: Iterable<RegExp> }
  const flagged = new Set([...patterns].filter(({ flags }) => flags !== '').map(({ source }) => source))
  if (flagged.size === 0) return
  if (flagged.has(jsonSchema.pattern ?? '')) delete jsonSchema.pattern
  const rest = jsonSchema.allOf?.filter(({ pattern }) => !flagged.has(pattern ?? ''))
  if (rest) jsonSchema.allOf = rest
  if (rest?.length === 0) delete jsonSchema.allOf
}

type JsonSchema = z.core.JSONSchema.BaseSchema

export async function buildResult<A>(
  ending: TaskEnd,
  { answer: schema, success_criteria = [] }: WantedResult<A>,
): Promise<TaskResult<A>> {
  const criteria = await Promise.all(success_criteria.map((criterion) => checkCriterion(criterion, ending)))
  const success = criteria.length === 0 ? null : criteria.every(({ met }) => met)
  return { ...ending, ...(await readAnswer(ending, schema)), text: ending.answer, success, criteria }
}

/** The engine has checked the JSON Schema; a schema of zod can say more. */
async function readAnswer<A>(
  { answer: text, error }: TaskEnd,
  schema: z.ZodType<A> | undefined,
): Promise<Pick<TaskResult<A>, 'answer' | 'error'>> {
  if (text === null || !schema) return { answer: text as A | null, error }
  const values = answerValues(text)
  const refused = (why: string) => ({
    ...{ answer: null, error: error ?? `the answer does not pass the schema of the program: ${why}` },
  })
  try {
    const results = await Promise.all(values.map((value) => schema.safeParseAsync(value)))
    const found = results.find(({ success }) => success)
    if (found?.success) return { answer: found.data, error }
    return refused(describeMismatch(results[0]?.error?.issues ?? [], values[0]))
  } catch (thrown) {
    // A refinement of the program threw.
    return refused(asTirelessError(thrown).message)
  }
}

async function checkCriterion({ name, met }: Criterion, ending: TaskEnd): Promise<TaskResult['criteria'][number]> {
  try {
    return { name, met: await met(ending) }
  } catch (thrown) {
    return { name, met: false, error: asTirelessError(thrown).message }
  }
}
