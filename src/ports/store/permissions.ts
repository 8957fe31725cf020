/** Permissions: approvals, grants, labels, unknown outcomes, and the audit log of decisions. */

import type { Approval, ApprovalStatus } from '../../domain/approval.ts'
import type { AuditEntry, AuditLink } from '../../domain/audit.ts'
import type { Grant } from '../../domain/grant.ts'
import type { Label } from '../../domain/label.ts'
import type { Resolution, UnknownOutcome } from '../../domain/unknown-outcome.ts'
import type { PageLimit } from './page-limit.ts'

export type PermissionOp =
  /** Inserts or updates an unknown outcome. */
  | { readonly op: 'unknown'; readonly unknown: UnknownOutcome }
  /** A person's answer about an unknown outcome; wakes the dispatch that waits for the answer. */
  | { readonly op: 'resolve'; readonly unknown_id: string; readonly as: Resolution; readonly now: number }
  /** Inserts an open approval, once per id. */
  | { readonly op: 'ask'; readonly approval: Approval }
  /**
   * A person's answer to an open approval, once; published to its session in the same commit. A `conflict` if the
   * approval has expired, or if the answer would allow a call of a session without active work.
   */
  | {
      readonly op: 'answer'
      readonly approval_id: string
      readonly answer: 'allowed' | 'denied'
      readonly reason: string | null
      readonly now: number
      /** Whether it has expired follows this instant; default: `now`. */
      readonly borne_out?: number
    }
  /** Adds a standing permission of the owner, once per id. */
  | { readonly op: 'grant'; readonly grant: Grant }
  | { readonly op: 'revoke'; readonly id: string }
  /**
   * Lowers a label; a label never rises, except that null (an act of the owner) removes it. `of`: names the workspace
   * or document section.
   */
  | { readonly op: 'label'; readonly of: string; readonly label: Label | null }
  /** Appends to the audit log; each entry is chained to all earlier ones. */
  | { readonly op: 'audit'; readonly entry: AuditEntry }

export interface PermissionResults {
  unknown: null
  resolve: { readonly unknown: UnknownOutcome }
  ask: null
  answer: { readonly approval: Approval; readonly dispatch_id: string | null }
  grant: null
  revoke: { readonly revoked: boolean }
  label: null
  audit: { readonly n: number; readonly before: string; readonly hash: string }
}

export interface PermissionReads {
  /** Contract: oldest first. Reading open outcomes does not get slower with the number of other outcomes. */
  unknowns(filter: {
    readonly session_id?: string | undefined
    readonly status?: UnknownOutcome['status'] | undefined
  }): Promise<readonly UnknownOutcome[]>
  approval(id: string): Promise<Approval | undefined>
  /** Contract: open approvals first, then the others, newest first. */
  approvals(
    filter: { readonly session_id?: string | undefined; readonly status?: ApprovalStatus | undefined } & PageLimit,
  ): Promise<readonly Approval[]>
  /** Contract: grants valid at `now`, oldest first. */
  grants(filter: { readonly tool?: string | undefined; readonly now: number }): Promise<readonly Grant[]>
  /** Contract: undefined means trusted and not private. */
  label(of: string): Promise<Label | undefined>
  /** Contract: labels whose `of` starts with the prefix, sorted. */
  labels(prefix: string): Promise<readonly { readonly of: string; readonly label: Label }[]>
  /** Contract: the entries as stored, from number `from` on, oldest first; `last`: the highest number ever assigned. */
  audit(from: number, page: PageLimit): Promise<{ readonly links: readonly AuditLink[]; readonly last: number }>
}
