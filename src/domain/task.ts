/** Task: the goal of a dispatch, its limits, and its overrides, which are kept in the dispatch's metadata. */

import type { Json } from './json.ts'

/** The limits of a run; null: no limit. */
export interface Budget {
  readonly steps: number | null
  readonly ms: number | null
  readonly tokens: number | null
  readonly usd: number | null
  /** Tokens per request; the history is shortened until the request fits. */
  readonly context: number | null
}

/** A file or folder that must exist before the task starts. */
export interface Resource {
  readonly path: string
  /** The file is copied to this path of the workspace, unless there already is a file; default: it is not copied. */
  readonly mount_to?: string
  readonly required?: boolean
  readonly writable?: boolean
}

/** JSON Schema of a task's answer. */
export type AnswerSchema = { readonly [key: string]: Json }

/** Settings of a dispatch that override the configuration. */
export interface TaskOverrides {
  readonly behaviour?: string
  readonly model?: string
  readonly parser?: string
  readonly memory?: string
  readonly env?: string
  readonly budget: Budget
  readonly resources: readonly Resource[]
  /** The answer must be JSON that matches. */
  readonly answerSchema?: AnswerSchema
}

/** Contract: does not validate the values; invalid ones are reported before the run starts (preflight). */
export function taskOverridesFrom(metadata: Readonly<Record<string, Json>>, defaults: Budget): TaskOverrides {
  const textField = (name: string): Record<string, string> => {
    const value = metadata[name]
    return typeof value === 'string' ? { [name]: value } : {}
  }
  const asked = metadata.budget
  const over = isMapping(asked) ? asked : {}
  const { resources, answer_schema } = metadata
  return {
    ...textField('behaviour'),
    ...textField('model'),
    ...textField('parser'),
    ...textField('memory'),
    ...textField('env'),
    budget: { ...defaults, ...over } as Budget,
    resources: Array.isArray(resources) ? (resources as unknown as readonly Resource[]) : [],
    ...(isMapping(answer_schema) ? { answerSchema: answer_schema } : {}),
  }
}

const isMapping = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
