/** Need: something that waits for the owner, with the answers that he can give and what each of them does. */

import type { Json } from './json.ts'
import type { PeopleText } from './language.ts'

export const NEED_KINDS = [
  'approval',
  'unknown',
  'question',
  'login',
  'limit',
  'failure',
  'proposal',
  'space',
  'folder',
  'clock',
] as const
export type NeedKind = (typeof NEED_KINDS)[number]

/** `withdrawn`: its reason has ended by itself, so nothing waits any more. */
export const NEED_STATUSES = ['open', 'answered', 'withdrawn'] as const
export type NeedStatus = (typeof NEED_STATUSES)[number]

/** The command that a choice runs. */
export interface NeedCommand {
  readonly name: string
  readonly input: Readonly<Record<string, Json>>
  /** The input that takes the words which the owner adds to the choice; absent: it takes none. */
  readonly words?: { readonly key: string; readonly required: boolean } | undefined
}

export interface NeedChoice {
  readonly id: string
  /** What is on the button. */
  readonly text: PeopleText
  /** What follows from this choice. */
  readonly does: PeopleText
  /** Null: the answer is recorded, and nothing else happens. */
  readonly command: NeedCommand | null
}

/** The message of the owner from which it came. */
interface NeedReason {
  readonly message_id: string
  readonly words: string
  readonly at: string
}

export interface NewNeed {
  readonly id: string
  readonly kind: NeedKind
  readonly agent_id: string | null
  readonly session_id: string | null
  readonly run_id: string | null
  readonly expires_at: string | null
  /** What happens when it expires. */
  readonly after_expiry: PeopleText | null
  readonly because: NeedReason | null
  /** What it is about: of all needs with the same one, at most one is open. */
  readonly same_as: string
  readonly title: PeopleText
  readonly body: PeopleText
  readonly choices: readonly NeedChoice[]
}

export interface NeedAnswer {
  /** The id of the choice. */
  readonly choice: string
  readonly words: string | null
}

export interface Need extends NewNeed {
  readonly asked_at: string
  readonly status: NeedStatus
  readonly answer: NeedAnswer | null
  /** When it was answered or withdrawn. */
  readonly ended_at: string | null
}

/** Contract: the fields of a need that most needs leave empty. */
export const EMPTY_NEED = {
  agent_id: null,
  session_id: null,
  run_id: null,
  expires_at: null,
  after_expiry: null,
  because: null,
} as const satisfies Partial<NewNeed>
