/** Task: what a dispatch is to achieve, with what, and within what limits. Its wishes travel in the dispatch's metadata. */

import type { Json } from './json.ts'

/** null: no limit. */
export interface Budget {
  readonly steps: number | null
  readonly ms: number | null
  readonly tokens: number | null
  readonly usd: number | null
  /** Tokens of one request; what is said of the past is shortened until it fits. */
  readonly context: number | null
}

/** Something the task is about, which must be there before it begins. */
export interface Resource {
  readonly path: string
  /** Where it stands in the workspace; default: where it is. */
  readonly mount_to?: string
  readonly required?: boolean
  readonly writable?: boolean
}

/** What a dispatch may ask for in place of what is configured. */
export interface Wishes {
  readonly behaviour?: string
  readonly model?: string
  readonly parser?: string
  readonly memory?: string
  readonly env?: string
  readonly budget: Budget
  readonly resources: readonly Resource[]
}

/** Contract: reads what is there; what is wrong with it is for the preflight to say. */
export function wishesOf(metadata: Readonly<Record<string, Json>>, defaults: Budget): Wishes {
  const word = (name: string): Record<string, string> => {
    const value = metadata[name]
    return typeof value === 'string' ? { [name]: value } : {}
  }
  const asked = metadata.budget
  const over = typeof asked === 'object' && asked !== null && !Array.isArray(asked) ? asked : {}
  const { resources } = metadata
  return {
    ...word('behaviour'),
    ...word('model'),
    ...word('parser'),
    ...word('memory'),
    ...word('env'),
    budget: { ...defaults, ...over } as Budget,
    resources: Array.isArray(resources) ? (resources as unknown as readonly Resource[]) : [],
  }
}
