/** Document: a versioned text of a kernel. Its file in the home is a copy of the latest version. */

export const DOCUMENT_NAMES = ['STATE.md', 'INIT.md', 'SYSTEM_PROMPT.md', 'GOAL.md'] as const
export type DocumentName = (typeof DOCUMENT_NAMES)[number]

export interface DocumentVersion {
  readonly kernel_id: string
  readonly name: string
  /** Counted from 1; the highest is the current version. */
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

export const SAVED_COPY_KINDS = ['torn', 'conflict', 'reverted'] as const

/** A text that was saved next to the document's file instead of being lost. `kind`: why. */
export interface SavedCopy {
  /** Name of the copy's file. */
  readonly file: string
  readonly kind: (typeof SAVED_COPY_KINDS)[number]
  readonly ts: string
}

/**
 * How many versions are kept of each of: the system, the owner, and all agents together. They are counted apart, so
 * that neither weeks of cycles nor agents push out what the owner wrote. The latest version is always kept.
 */
export const MAX_VERSIONS = 500
export const MAX_VERSION_BYTES = 16 * 1024 * 1024
/** More versions than a document ever has. */
export const MAX_ALL_VERSIONS = 3 * MAX_VERSIONS + 1

export const MAX_DOCUMENT_BYTES = 1024 * 1024
