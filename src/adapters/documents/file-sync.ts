/**
 * Synchronizes store and file: an edit of the file becomes a version, and the file receives the latest version. A file
 * is overwritten only if its content is safe elsewhere: a version, or an edit that was merged or saved as a copy.
 */

import type { Document, DocumentName, SavedCopy } from '../../domain/document.ts'
import { TirelessError } from '../../domain/error.ts'
import type { EditOutcome } from '../../ports/documents.ts'
import type { Problems, ReportEvent } from './degraded.ts'
import type { DocumentFiles } from './files.ts'
import { isBlank, isOnlyComment, mergeFileEdit } from './merge-edit.ts'
import { type DocumentFileContent, sha256 } from './read-file.ts'
import type { LateEdit } from './replaced-files.ts'
import type { DocumentVersions } from './versions.ts'

interface FileSyncDeps {
  readonly versions: DocumentVersions
  readonly files: DocumentFiles
  readonly fallback: DocumentFiles
  readonly trouble: Problems
  readonly report: ReportEvent
}

export interface SyncResult {
  readonly latest: Document | undefined
  readonly taken: EditOutcome
  /** The text of an edit that awaits acceptance. */
  readonly pending?: string
}

interface Edit {
  readonly text: string
  /** The text that the editor started from; undefined if unknown. */
  readonly base: string | undefined
  /** Set if the edit was written into a file that had just been replaced. */
  readonly late: LateEdit | undefined
}

interface Snapshot {
  readonly latest: Document | undefined
  /** The last known content of the file. */
  readonly known: string | undefined
  readonly found: DocumentFileContent
  readonly edit: Edit | undefined
}

/** Most rounds of one call, each because the file changed again; the next call continues. */
const MAX_ROUNDS = 8

export class FileSync {
  readonly #versions: DocumentVersions
  readonly #files: DocumentFiles
  readonly #fallback: DocumentFiles
  readonly #trouble: Problems
  readonly #report: ReportEvent

  constructor({ versions, files, fallback, trouble, report }: FileSyncDeps) {
    this.#versions = versions
    this.#files = files
    this.#fallback = fallback
    this.#trouble = trouble
    this.#report = report
  }

  /** Contract: throws store errors only. `accepting`: true merges edits of the file, false leaves them in the file. */
  async synchronize(name: DocumentName, accepting: boolean): Promise<SyncResult> {
    try {
      return await this.#runRounds(name, accepting)
    } catch (thrown) {
      // All errors of the store are of this class; errors of the file system are not.
      if (thrown instanceof TirelessError) throw thrown
      return this.#fallBack(name, thrown)
    }
  }

  async #takeSnapshot(name: DocumentName): Promise<Snapshot> {
    const late = await this.#files.findLateEdit(name)
    const found = await this.#files.read(name)
    const [latest, known] = [await this.#versions.latest(name), await this.#versions.knownFile(name)]
    if (late === undefined) return { latest, known, found, edit: await this.#findEdit(name, { latest, known, found }) }
    if (late.text !== known && late.text !== latest?.text)
      return { latest, known, found, edit: { text: late.text, base: await this.#findBase(name, late, known), late } }
    await late.keep()
    return this.#takeSnapshot(name)
  }

  /**
   * A file with the text of a later version than the known one is no edit: this home wrote it and stopped before it
   * recorded that, and another home may have added newer versions since.
   */
  async #findEdit(name: DocumentName, { latest, known, found }: Omit<Snapshot, 'edit'>): Promise<Edit | undefined> {
    const edit = detectEdit(found, known, latest)
    return edit && (await this.#versions.isLater(name, edit.text, known)) ? undefined : edit
  }

  /** The text that a late edit started from. If the replaced file was empty, the last known content is assumed. */
  async #findBase(
    name: DocumentName,
    { known: over, knownSha: overSha }: LateEdit,
    known?: string,
  ): Promise<string | undefined> {
    if (over) return over.kind === 'text' && !isBlank(over.text) ? over.text : known
    return known !== undefined && sha256(known) === overSha ? known : this.#versions.textWithSha(name, overSha)
  }

  /** A late edit whose base is unknown is saved as a conflict: merging it would undo newer changes. */
  async #mergeEdit(name: DocumentName, { text, base, late }: Edit): Promise<EditOutcome> {
    for (;;) {
      const latest = await this.#versions.latest(name)
      const merged = late && base === undefined ? null : mergeFileEdit(name, { base, ours: latest?.text, theirs: text })
      if (merged === null) {
        await this.#saveConflict(name, text)
        if (!late) await this.#versions.noteFile(name, text)
        return 'clash'
      }
      if (late && merged === latest?.text) return 'none'
      // A new home comes with files that only say what to write into them.
      const isSeed = latest === undefined && isOnlyComment(merged)
      const by = isSeed ? { author: 'system', reason: 'seed' } : { author: 'owner', reason: 'edited as a file' }
      if (await this.#versions.add(name, latest, merged, by, late ? undefined : text)) return 'taken'
    }
  }

  async #saveConflict(name: DocumentName, text: string): Promise<void> {
    const path = await this.saveCopy(name, 'conflict', text)
    const message = `an edit of ${name} conflicts with a newer version; it is saved in ${path}`
    this.#report('clash', { about: name, message })
  }

  /** Contract: saves a text, which would otherwise be lost, next to the document's file; returns the copy's path. */
  async saveCopy(name: DocumentName, kind: SavedCopy['kind'], text: string): Promise<string> {
    try {
      return `${this.#files.folder}/${await this.#files.saveCopy(name, kind, text)}`
    } catch (thrown) {
      if (thrown instanceof TirelessError) throw thrown
      return `${this.#fallback.folder}/${await this.#fallback.saveCopy(name, kind, text)}`
    }
  }

  async #setAside(name: DocumentName, reason: string): Promise<void> {
    const beside = await this.#files.setAside(name, reason)
    if (beside === undefined) return
    const path = `${this.#files.folder}/${beside}`
    this.#report('torn', {
      about: name,
      message: `${name} cannot be used: ${reason}. It was moved to ${path}; the latest version is restored`,
    })
  }

  /** Contract: true if the file now has the text of the latest version; false if the file was changed meanwhile. */
  async #updateFile(name: DocumentName, { latest, known, found }: Snapshot): Promise<boolean> {
    if (!latest) return true
    const isCurrent = found.kind === 'text' && found.text === latest.text
    if (!isCurrent && !(await this.#files.replace(name, latest.text, found))) return false
    if (known !== latest.text) await this.#versions.noteFile(name, latest.text)
    this.#trouble.end(name)
    await this.#fallback.remove(name).catch(() => {})
    return true
  }

  async #runRounds(name: DocumentName, accepting: boolean): Promise<SyncResult> {
    let taken: EditOutcome = 'none'
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const snapshot = await this.#takeSnapshot(name)
      const { latest, found, edit } = snapshot
      if (edit && !accepting && !edit.late) return { latest, taken, pending: edit.text }
      if (edit && !accepting) await this.#saveConflict(name, edit.text)
      else if (edit) taken = await this.#mergeEdit(name, edit)
      if (edit) await edit.late?.keep()
      else if (found.kind === 'torn') await this.#setAside(name, found.why)
      else if (await this.#updateFile(name, snapshot)) return { latest, taken }
    }
    return { latest: await this.#versions.latest(name), taken }
  }

  /** Writes the latest version to the fallback folder, because the document's own folder cannot be used. */
  async #fallBack(name: DocumentName, cause: unknown): Promise<SyncResult> {
    const latest = await this.#versions.latest(name)
    const broken = `${this.#files.folder}/${name} cannot be used (${String(cause)})`
    try {
      if (latest) await this.#fallback.replace(name, latest.text, await this.#fallback.read(name))
      this.#trouble.start(name, `${broken}; meanwhile its text is in ${this.#fallback.folder}/${name}`)
    } catch (thrown) {
      if (thrown instanceof TirelessError) throw thrown
      this.#trouble.start(
        name,
        `${broken}, and neither can ${this.#fallback.folder}; meanwhile its text is only in the store`,
      )
    }
    return { latest, taken: 'none' }
  }
}

/**
 * An empty file is no edit: an editor is writing it, or its text was lost. A file with the text of the latest version
 * is no edit either, even if that text is not yet recorded as the known content.
 */
function detectEdit(
  found: DocumentFileContent,
  known: string | undefined,
  latest: Document | undefined,
): Edit | undefined {
  if (found.kind !== 'text' || isBlank(found.text) || found.text === known || found.text === latest?.text)
    return undefined
  return { text: found.text, base: known, late: undefined }
}
