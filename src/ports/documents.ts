/**
 * Documents: the texts of one kernel, such as STATE.md. The versions in the store are authoritative; the files in the
 * home, which people edit, are copies of them.
 */

import type { Document, DocumentName, DocumentVersion, SavedCopy } from '../domain/document.ts'
import type { Label } from '../domain/label.ts'

/** Who changes a document, and why. `author`: `system`, `owner`, or an agent's id. */
export interface Attribution {
  readonly author: string
  readonly reason: string
  readonly cycle_id?: string | null
  /** Label of everything the author has read; the written text gets no better label. */
  readonly label?: Label
}

/** A section of a document with its label. `title`: empty for the text before the first heading. */
export interface LabelledSection {
  readonly title: string
  readonly label: Label
}

/**
 * Result of importing an edited file. `clash`: the document is unchanged and the edit was saved beside the file.
 * `none`: there was no edit.
 */
export type EditOutcome = 'taken' | 'clash' | 'none'

/**
 * Contract for every method: trouble with files, folders or git is reported by `degraded` and never thrown; a failing
 * store throws.
 */
export interface Documents {
  /** Contract: returns the current version. Edits of the file are imported first, unless the owner must accept them. */
  read(name: DocumentName): Promise<Document | undefined>
  /**
   * Contract: `change` gets the current text (empty if there is none) and must be pure: after a concurrent write it is
   * called again. Secrets in the added text are redacted, unless the owner is the author. Throws `document_refused`
   * for a text that a document cannot hold.
   */
  write(name: DocumentName, change: (text: string) => string, by: Attribution): Promise<Document>
  /** Contract: `text` is a version of the document; returns its sections that are untrusted or private. */
  labels(name: DocumentName, text: string): Promise<readonly LabelledSection[]>
  /** Contract: returns the lowest label of the document's sections. */
  label(name: DocumentName): Promise<Label>
  /**
   * Contract: marks the whole document as trusted and not private, by order of the owner; returns the titles of the
   * sections that had another label.
   */
  trust(name: DocumentName): Promise<readonly string[]>
  /** Contract: if the document is missing or empty, writes `text` with the author `system`; otherwise does nothing. */
  seed(name: DocumentName, text: string): Promise<Document>
  /** Contract: returns the retained versions, newest first. */
  versions(name: DocumentName, limit: number): Promise<readonly DocumentVersion[]>
  version(name: DocumentName, version: number): Promise<Document | undefined>
  /**
   * Contract: writes the text of that version (default: the latest) as a new version, with the current runtime block.
   * An edit that the owner has not accepted is saved beside the file. Throws `not_found` for an unknown version.
   */
  revert(name: DocumentName, version?: number): Promise<Document>
  /** Contract: returns the edited text of the file if the owner must accept it first; otherwise undefined. */
  pending(name: DocumentName): Promise<string | undefined>
  accept(name: DocumentName): Promise<EditOutcome>
  /**
   * Contract: lists the documents with an edit that the owner must accept. Reads no file if edits need no acceptance.
   */
  waiting(): Promise<readonly DocumentName[]>
  /** Contract: the copies that were saved next to the document's file, newest first. */
  copies(name: DocumentName): Promise<readonly SavedCopy[]>
  /** Contract: the text of a copy; undefined if there is no such copy, or it is not text. */
  copy(name: DocumentName, file: string): Promise<string | undefined>
  /** Contract: false if there is no such copy. */
  removeCopy(name: DocumentName, file: string): Promise<boolean>
  /** Contract: writes the files that a killed process did not write. Call it when taking over a home. */
  catchUp(): Promise<void>
  /** Contract: returns what does not work now and what happens instead; null if everything works. */
  degraded(): string | null
  /** Contract: commits all current documents to the git mirror; a failure only sets `degraded`. */
  commit(message: string): Promise<void>
}
