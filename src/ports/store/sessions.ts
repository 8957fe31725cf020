/** Sessions: their journals, their inboxes, and the removal of old ones. */

import type { JournalRecord } from '../../domain/journal-record.ts'
import type { Json } from '../../domain/json.ts'
import type { Observation } from '../../domain/observation.ts'
import type { Session, WorkspacePin } from '../../domain/session.ts'
import type { PageLimit } from './page-limit.ts'

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
      /** As of a new dispatch. */
      readonly pin?: WorkspacePin | undefined
      /** Metadata of the dispatches that are created for unread input. */
      readonly metadata: Readonly<Record<string, Json>>
      readonly now: number
    }
  /** Archives a session, or restores it; a `conflict` while the session is active. */
  | { readonly op: 'archive'; readonly session_id: string; readonly archived: boolean; readonly now: number }
  /**
   * Deletes up to `limit` sessions with no activity since `before` and nothing open, oldest first, with all their data.
   * Also deletes some older cycles, undos, sent messages and needs that have ended. Facts, spending and the audit log
   * stay.
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

/** What sessions have to match; what is absent matches all. */
interface SessionFilter {
  /** True: archived sessions, too. */
  readonly archived?: boolean | undefined
  readonly status?: Session['status'] | undefined
  readonly agent_id?: string | undefined
  /** Part of its id, its agent's name, or a prompt of its runs; the case of Latin letters does not count. */
  readonly search?: string | undefined
}

/** A folder in which sessions work, archived ones included. */
interface KnownFolder {
  readonly workspace: string
  readonly agents: readonly string[]
  readonly last_session_id: string
  /** How many sessions work in it. */
  readonly sessions: number
}

/** Records that one commit appended to the journal of a session. */
export interface JournalEntry {
  readonly session_id: string
  readonly records: readonly JournalRecord[]
}

/**
 * A place in the order of all entries, valid while the store is open. `open`: numbers before it whose transactions may
 * still be running, each with a mark by which the store knows when they have ended.
 */
export interface JournalPlace {
  readonly entry: number
  readonly open: readonly (readonly [entry: number, mark: string])[]
}

export interface SessionReads {
  session(id: string): Promise<Session | undefined>
  /** Contract: whether `prune` would delete a session. The cost does not grow with the number of younger sessions. */
  prunable(before: number): Promise<boolean>
  /** Contract: newest first; with `archived: true` archived sessions, too. */
  sessions(filter: { readonly archived?: boolean } & PageLimit): Promise<readonly Session[]>
  /**
   * Contract: newest first, from the given place on, with the number of all that match. Other work goes on during a
   * search.
   */
  sessionWindow(
    filter: SessionFilter & { readonly offset: number } & PageLimit,
  ): Promise<{ readonly items: readonly Session[]; readonly total: number }>
  /** Contract: the folder of the newest session first; agents by their newest session. */
  workspaces(): Promise<readonly KnownFolder[]>
  /** Contract: ids of the sessions that work in each of these folders, newest first, at most `limit` of each. */
  sessionsIn(workspaces: readonly string[], page: PageLimit): Promise<ReadonlyMap<string, readonly string[]>>
  journal(sessionId: string, from?: number): Promise<readonly JournalRecord[]>
  /** Contract: the place behind everything that was committed so far. */
  journalEnd(): Promise<JournalPlace>
  /**
   * Contract: entries of all sessions that were committed behind the place, about `limit` at most, and the place behind
   * them. If one goes on from place to place, each entry comes once and those of a session in order, also while other
   * processes commit. Unreadable entries are left out. `isEnd`: there was no more. The cost does not grow with the
   * number of entries before the place.
   */
  journalAfter(
    place: JournalPlace,
    limit: number,
  ): Promise<{ readonly entries: readonly JournalEntry[]; readonly place: JournalPlace; readonly isEnd: boolean }>
  inbox(sessionId: string): Promise<readonly Observation[]>
}
