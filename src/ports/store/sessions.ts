/** Sessions: their journals, their inboxes, and the removal of old ones. */

import type { JournalRecord } from '../../domain/journal-record.ts'
import type { Json } from '../../domain/json.ts'
import type { Observation } from '../../domain/observation.ts'
import type { Session } from '../../domain/session.ts'
import type { PageWindow } from './page-limit.ts'

export type SessionOp =
  /** Appends records to a session's journal; refused unless their `seq` continues it. */
  | { readonly op: 'append'; readonly session_id: string; readonly records: readonly JournalRecord[] }
  | {
      readonly op: 'acknowledge'
      readonly session_id: string
      readonly observation_ids: readonly string[]
      readonly now: number
    }
  /**
   * Adds an observation to the inbox, once per id. Restores an archived session, wakes a dispatch that waits for this
   * observation, and creates a dispatch for an idle session. A `quiet` observation does none of this: it waits in the
   * inbox for the next run.
   */
  | {
      readonly op: 'publish'
      readonly session_id: string
      readonly observation: Observation
      readonly successor_id: string
      readonly now: number
    }
  /** Creates a session without a dispatch, unless it exists. */
  | {
      readonly op: 'open_session'
      readonly session_id: string
      readonly kernel_id: string
      readonly agent_id: string
      readonly workspace: string
      /** Metadata of the dispatches that are created for unread input. */
      readonly metadata: Readonly<Record<string, Json>>
      readonly now: number
    }
  /** Archives a session, or restores it; a `conflict` while the session is active. */
  | { readonly op: 'archive'; readonly session_id: string; readonly archived: boolean; readonly now: number }
  /**
   * Deletes up to `limit` sessions with no activity since `before` and nothing open, oldest first, with all their data.
   * Also deletes some older cycles, undos and sent messages. Facts, spending and the audit log stay.
   */
  | { readonly op: 'prune'; readonly before: number; readonly limit: number }

export interface SessionResults {
  append: { readonly head: number }
  acknowledge: { readonly acknowledged: number }
  publish: { readonly duplicate: boolean; readonly dispatch_id: string | null }
  open_session: null
  archive: null
  /** Ids of the deleted runs and undos. */
  prune: { readonly runs: readonly string[] }
}

export interface SessionFilter {
  /** True: archived sessions, too. */
  readonly archived?: boolean | undefined
  readonly status?: Session['status'] | undefined
  readonly agent_id?: string | undefined
  /** Text in its name, its agent, or a prompt of its runs; capitals of ASCII letters do not matter. */
  readonly search?: string | undefined
}

export interface SessionReads {
  session(id: string): Promise<Session | undefined>
  /** Contract: whether `prune` would delete a session. The cost does not grow with the number of younger sessions. */
  prunable(before: number): Promise<boolean>
  /** Contract: newest first. */
  sessions(filter: SessionFilter & PageWindow): Promise<readonly Session[]>
  /** Contract: how many there are; unreadable ones count, too. */
  sessionCount(filter: SessionFilter): Promise<number>
  journal(sessionId: string, from?: number): Promise<readonly JournalRecord[]>
  inbox(sessionId: string): Promise<readonly Observation[]>
}
