/** Documents of kernels and facts of agents. */

import type { Document, DocumentVersion } from '../../domain/document.ts'
import type { Fact, FactStatus, NewFact } from '../../domain/fact.ts'
import type { PageLimit } from './page-limit.ts'

export type DocumentOp =
  /**
   * Writes the next version of a document; a `conflict` unless `base` is the digest of the latest version (null: there
   * is none). The same text makes no new version. Over the limit, the oldest versions are dropped, never the latest.
   */
  | {
      readonly op: 'document'
      readonly kernel_id: string
      readonly name: string
      readonly base: string | null
      readonly text: string
      readonly author: string
      readonly reason: string
      readonly cycle_id: string | null
      readonly now: number
    }
  /** Records the last known content of a document's file. */
  | { readonly op: 'project'; readonly kernel_id: string; readonly name: string; readonly text: string }
  /**
   * Stores a fact, once per id. It supersedes the agent's fact with the same key. Over the limit, the oldest facts are
   * dropped, and the first time the owner is told by a need. Superseded and dropped facts are kept within limits.
   */
  | { readonly op: 'remember'; readonly fact: NewFact; readonly now: number }
  /** Deletes an agent's facts of a key, current and superseded, written up to `before`. Their text is erased. */
  | { readonly op: 'forget'; readonly agent_id: string; readonly key: string; readonly before: number }

/** A search for facts. Without `agent_id`: facts of all agents. */
export interface FactQuery extends PageLimit {
  readonly agent_id?: string | undefined
  readonly text: string
  readonly now: number
}

/** Without `agent_id`: facts of all agents. `over`: facts that ended, too. `status`: only those, also if they ended. */
interface FactFilter {
  readonly agent_id?: string | undefined
  readonly over?: boolean
  readonly status?: FactStatus | undefined
  readonly now: number
}

export interface DocumentResults {
  /** The latest version, without its text. */
  document: DocumentVersion & { readonly changed: boolean }
  project: null
  remember: { readonly superseded: boolean; readonly dropped: readonly string[] }
  /** `forgotten`: whether there was a current fact with that key. */
  forget: { readonly forgotten: boolean }
}

export interface DocumentReads {
  /** Contract: the latest version. */
  document(kernelId: string, name: string): Promise<Document | undefined>
  documentVersion(kernelId: string, name: string, version: number): Promise<Document | undefined>
  /** Contract: the retained versions, newest first. */
  documentVersions(
    filter: { readonly kernel_id: string; readonly name: string } & PageLimit,
  ): Promise<readonly DocumentVersion[]>
  /** Contract: the last known content of a document's file. */
  projection(kernelId: string, name: string): Promise<string | undefined>
  /**
   * Contract: the known facts that have not expired, newest first; with `over: true` also superseded, forgotten,
   * expired and dropped facts. `offset`: that many newer ones are left out.
   */
  facts(filter: FactFilter & PageLimit & { readonly offset?: number }): Promise<readonly Fact[]>
  /** Contract: how many facts there are without a limit. */
  countFacts(filter: FactFilter): Promise<number>
  /** Contract: current facts with the most words in common with the query, best first; works for any script. */
  recallFacts(query: FactQuery): Promise<readonly Fact[]>
}
