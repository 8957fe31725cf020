/**
 * Documents: the texts of one kernel, such as STATE.md. The versions in the store are authoritative; the files in the
 * home, which people edit, are copies of them.
 */

import type { Document, DocumentName, DocumentVersion } from '../domain/document.ts'
import type { Label } from '../domain/label.ts'

/** Who changes a document, and why. `author`: `system`, `owner`, or an agent's id. */
export interface Attribution {
  readonly author: string
  readonly reason: string
  readonly cycle_id?: string | null
  /** Label of everything the author has read; the written text gets no better label. */
  readonly label?: Label
}

/** `title`: empty for what stands before the first heading. */
export interface LabelledSection {
  readonly title: string
  readonly label: Label
}

/** Result of importing an edited file. `clash`: the document is unchanged and the edit was saved beside the file. */
export type EditOutcome = 'taken' | 'clash' | 'none'

/**
 * Contract for every method: trouble with files, folders or git is reported by `degraded` and never thrown; a failing
 * store throws.
 */
export interface Documents {
  /** Contract: returns the current text. Edits of its file are imported first, unless they need to be accepted. */
  read(name: DocumentName): Promise<Document | undefined>
  /**
   * Contract: `change` gets the current text (empty if there is none) and must be pure: after a concurrent write it is
   * called again. Secrets in the added text are redacted, unless the owner is the author. Throws `document_refused`
   * for a text that a document cannot hold.
   */
  write(name: DocumentName, change: (text: string) => string, by: Attribution): Promise<Document>
  /** Contract: returns the sections of `text`, a version of the document, that are not fully trusted and public. */
  labels(name: DocumentName, text: string): Promise<readonly LabelledSection[]>
  /** Contract: returns the lowest label of its sections. */
  label(name: DocumentName): Promise<Label>
  /** Contract: marks the whole document as trusted, by order of the owner; returns the sections that were not. */
  trust(name: DocumentName): Promise<readonly string[]>
  /** Contract: writes `text` as the system's if the document is missing or empty; otherwise does nothing. */
  seed(name: DocumentName, text: string): Promise<Document>
  /** Contract: returns the retained versions, newest first. */
  versions(name: DocumentName, limit: number): Promise<readonly DocumentVersion[]>
  version(name: DocumentName, version: number): Promise<Document | undefined>
  /**
   * Contract: writes the text of that version (default: the latest) as a new version; the runtime block stays current.
   * A pending edit is moved beside the file. Throws `not_found`.
   */
  revert(name: DocumentName, version?: number): Promise<Document>
  /** Contract: returns the text of a file whose edit needs to be accepted first. */
  pending(name: DocumentName): Promise<string | undefined>
  accept(name: DocumentName): Promise<EditOutcome>
  /** Contract: lists documents with an edit that needs to be accepted. Reads no file if edits are imported directly. */
  waiting(): Promise<readonly DocumentName[]>
  /** Contract: writes the files that a killed process did not write. Call it when taking over a home. */
  catchUp(): Promise<void>
  /** Contract: returns what does not work now and what happens instead; null if everything works. */
  degraded(): string | null
  /** Contract: commits all current documents to the git mirror; a failure only sets `degraded`. */
  commit(message: string): Promise<void>
}
