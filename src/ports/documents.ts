/** Documents: the texts of one kernel. Versions in the store are the truth; files in the home, which people edit, are projections of them. */

import type { Document, DocumentName, DocumentVersion } from '../domain/document.ts'
import type { Label } from '../domain/trust.ts'

/** Who changes a document, and why. `author`: `system`, `owner`, or an agent's id. */
export interface By {
  readonly author: string
  readonly reason: string
  readonly cycle_id?: string | null
  /** What they have read: what they write is worth no more. */
  readonly label?: Label
}

/** What became of an edit of a file. `clash`: the document stayed as it was, and the edit lies beside it. */
export type Taken = 'taken' | 'clash' | 'none'

/** Contract of all: what is wrong with files, folders or git is in `degraded` and throws nothing; a store that fails does. */
export interface Documents {
  /** Contract: as it stands; edits of its file are taken in first, unless they have to be accepted. */
  read(name: DocumentName): Promise<Document | undefined>
  /**
   * Contract: `change` gets the text as it stands (empty where there is none), is pure, and is asked again when somebody else was quicker. Secrets in
   * what it adds are taken out, unless it is the owner's. Throws `document_refused` where the text is none that a document can have.
   */
  write(name: DocumentName, change: (text: string) => string, by: By): Promise<Document>
  /** Contract: what its sections are worth, at the worst. */
  label(name: DocumentName): Promise<Label>
  /** Contract: by the owner's word all of it is as good as theirs; which sections were not. */
  trust(name: DocumentName): Promise<readonly string[]>
  /** Contract: that text by the system, where there is none yet, or an empty one; otherwise nothing. */
  seed(name: DocumentName, text: string): Promise<Document>
  /** Contract: those that are kept, newest first. */
  versions(name: DocumentName, limit: number): Promise<readonly DocumentVersion[]>
  version(name: DocumentName, version: number): Promise<Document | undefined>
  /**
   * Contract: the text of that version again, as a new one, with the runtime block as it stands; without a version, the latest. An edit that is not
   * accepted is put beside the file. Throws `not_found`.
   */
  revert(name: DocumentName, version?: number): Promise<Document>
  /** Contract: the text of a file with an edit that has to be accepted first. */
  pending(name: DocumentName): Promise<string | undefined>
  accept(name: DocumentName): Promise<Taken>
  /** Contract: those whose files have an edit that has to be accepted first; no file is read where edits are taken in as they come. */
  waiting(): Promise<readonly DocumentName[]>
  /** Contract: files that a process was killed before it could write are written. For whoever takes up its work. */
  catchUp(): Promise<void>
  /** Contract: what does not work right now, and what happens instead; null where all is well. */
  degraded(): string | null
  /** Contract: the documents as they stand, as one commit of the git mirror; where that fails it is degraded, and nothing else. */
  commit(message: string): Promise<void>
}
