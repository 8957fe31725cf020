/** What the offline model can do for one sentence of a task. */

import type { Json } from '../../../domain/json.ts'
import type { Literal } from './clauses.ts'

export type OfflineStep =
  | { readonly kind: 'create'; readonly path: string; readonly content: string; readonly replace: boolean }
  | { readonly kind: 'append'; readonly path: string; readonly line: string }
  | { readonly kind: 'view'; readonly path: string }
  | { readonly kind: 'list'; readonly path: string }
  | { readonly kind: 'run'; readonly command: string }
  | { readonly kind: 'wait'; readonly for: string; readonly until?: string }
  | ReportStep
  | ToolStep
  | { readonly kind: 'unknown'; readonly words: string }

/** Creates a file: a report of data blocks and files, or an index of the files. */
export interface ReportStep {
  readonly kind: 'report' | 'index'
  readonly path: string
  readonly day: string | undefined
  readonly chinese: boolean
  readonly data: readonly Literal[]
  /** The part of the sentence that no rule understands. */
  readonly beyond: string
}

/** Calls one of the user's own tools. */
export interface ToolStep {
  readonly kind: 'tool'
  readonly tool: string
  readonly args: Readonly<Record<string, Json>>
}
