/** MessageRouter: passes the messages of a turn on, to another session or to a new one. */

import type { FactOrigin } from '../domain/fact.ts'

/** The turn whose messages are passed on. */
export interface RoutedTurn {
  /** Key of the call that passes them on, so that a repeated call changes nothing. */
  readonly call: string
  readonly origin: FactOrigin
}

/** Contract of every method: throws `conflict` if the run has already passed its messages on, or answered them. */
export interface MessageRouter {
  /** Contract: resolves if the messages of the run are still to be answered. */
  ensureOpen(turn: RoutedTurn): Promise<void>
  /**
   * Contract: the messages are in that session's inbox when it resolves, under their own ids. Throws `not_found` for an
   * unknown session, and names those that look like it.
   */
  toSession(turn: RoutedTurn, sessionId: string): Promise<{ readonly dispatch_id: string | null }>
  /** Contract: a new session exists when it resolves, with the messages as its task. */
  toNewSession(
    turn: RoutedTurn,
    title: string | undefined,
  ): Promise<{ readonly session_id: string; readonly dispatch_id: string }>
}
