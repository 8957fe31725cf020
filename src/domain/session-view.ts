/** What a session has been about, folded from its journal: the basis of the prompt's memory sections. */

import type { RecalledFact } from './fact.ts'
import type { TodoSummary } from './todo.ts'

/** A message of the session: of the owner, or an answer to the owner. */
export interface SessionTalk {
  readonly from: 'owner' | 'agent'
  readonly text: string
}

/** One step in one line: what was decided and what came of it. */
export interface WorklogLine {
  readonly turn: number
  readonly behaviour: string
  readonly text: string
}

/** What came of the sub-agent that worked on a todo. */
export interface TodoResult {
  readonly todo: string
  readonly isDone: boolean
  /** Its answer, or why it has none; with the conflicts of its files. */
  readonly text: string
}

export interface SessionView {
  /** The parameters of the current behaviour. */
  readonly params: Readonly<Record<string, string>>
  /** Whether the model has not been asked in the current behaviour yet. */
  readonly isEntering: boolean
  /** How often in a row the current behaviour was asked to go on. */
  readonly stays: number
  /** Why the current behaviour was chosen; empty in the first behaviour of a run. */
  readonly why: string
  readonly task: string
  readonly talk: readonly SessionTalk[]
  readonly worklog: readonly WorklogLine[]
  readonly todos: readonly TodoSummary[]
  /** Results of sub-agents whose todos are still in progress. */
  readonly results: readonly TodoResult[]
  /** Codes of the todos that sub-agents of this run work on. */
  readonly delegated: readonly string[]
  /** Facts of the agent that were recalled when the run started. */
  readonly facts: readonly RecalledFact[]
  /** Files that the session has read or written. */
  readonly files: readonly string[]
  /** For data fences; no author of a quoted text can know it. */
  readonly nonce: string
}
