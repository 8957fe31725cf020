/** Document: opaque text of a kernel, in versions. Its file in the home is a projection of the latest one. */

export const DOCUMENT_NAMES = ['STATE.md', 'INIT.md', 'SYSTEM_PROMPT.md', 'GOAL.md'] as const
export type DocumentName = (typeof DOCUMENT_NAMES)[number]

export interface DocumentVersion {
  readonly kernel_id: string
  readonly name: string
  /** Counted from 1; the highest is the document as it stands. */
  readonly version: number
  readonly sha256: string
  readonly bytes: number
  /** `system`, `owner`, or an agent's id. */
  readonly author: string
  readonly reason: string
  readonly cycle_id: string | null
  readonly ts: string
}

export interface Document extends DocumentVersion {
  readonly text: string
}

/**
 * So many versions, and no more bytes of them, are kept of what the system wrote, and as many of what everybody else did: a word of the owner's
 * is not pushed out by the beats of a week. The latest one is always kept.
 */
export const MOST_VERSIONS = 500
export const MOST_VERSION_BYTES = 16 * 1024 * 1024

export const MOST_DOCUMENT_BYTES = 1024 * 1024
