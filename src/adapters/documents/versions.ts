/** Versions of one kernel's documents in the store. */

import { type Document, type DocumentName, MAX_ALL_VERSIONS } from '../../domain/document.ts'
import { asTirelessError } from '../../domain/error.ts'
import { CLEAN_LABEL, isCleanLabel, type Label } from '../../domain/label.ts'
import { changedSections } from '../../domain/markdown-section.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Attribution } from '../../ports/documents.ts'
import { commitOne, type Op, type Store } from '../../ports/store.ts'
import { sha256 } from './read-file.ts'

export interface DocumentVersions {
  latest(name: DocumentName): Promise<Document | undefined>
  /** The text of a kept version, by its SHA-256. */
  textWithSha(name: DocumentName, sha256: string): Promise<string | undefined>
  /** Whether a kept version that is newer than the one with the text `known` has this text. */
  isLater(name: DocumentName, text: string, known: string | undefined): Promise<boolean>
  /** The last known content of the file. */
  knownFile(name: DocumentName): Promise<string | undefined>
  /**
   * Contract: adds a version after `latest`; false if another version was added first. `file`: if given, recorded in
   * the same commit as the known content of the file.
   */
  add(name: DocumentName, latest: Document | undefined, text: string, by: Attribution, file?: string): Promise<boolean>
  /** Sections with text from untrusted sources. */
  taintedSections(name: DocumentName): Promise<readonly { readonly title: string; readonly label: Label }[]>
  clearLabels(name: DocumentName, titles: readonly string[]): Promise<void>
  /** Records the known content of the file. */
  noteFile(name: DocumentName, text: string): Promise<void>
}

/** `home`: whose files they are, if several homes share the store. */
export function createDocumentVersions(store: Store, clock: Clock, kernel_id: string, home?: string): DocumentVersions {
  const filesOf = home === undefined ? kernel_id : `${kernel_id} ${home}`
  const labelKey = (name: DocumentName, title: string): string => `section ${kernel_id} ${name} ${title}`
  const projectOp = (name: DocumentName, text: string): Op & { op: 'project' } => ({
    op: 'project',
    kernel_id: filesOf,
    name,
    text,
  })
  return {
    latest: (name) => store.document(kernel_id, name),
    async textWithSha(name, sha256) {
      const all = await store.documentVersions({ kernel_id, name, limit: MAX_ALL_VERSIONS })
      const found = all.find((version) => version.sha256 === sha256)
      return found && (await store.documentVersion(kernel_id, name, found.version))?.text
    },
    async isLater(name, text, known) {
      const all = await store.documentVersions({ kernel_id, name, limit: MAX_ALL_VERSIONS })
      const numberOf = (wanted: string): number => all.find((one) => one.sha256 === sha256(wanted))?.version ?? 0
      return numberOf(text) > (known === undefined ? 0 : numberOf(known))
    },
    knownFile: (name) => store.projection(filesOf, name),
    async add(name, latest, text, { author, reason, cycle_id = null, label = CLEAN_LABEL }, file) {
      const base = latest?.sha256 ?? null
      const by = { author, reason, cycle_id, now: clock.now() }
      const documentOp = { op: 'document', kernel_id, name, base, text, ...by } as const
      try {
        const labelOps = isCleanLabel(label)
          ? []
          : changedSections(latest?.text ?? '', text).map(
              (title) => ({ op: 'label', of: labelKey(name, title), label }) as const,
            )
        await commitOne(store, [documentOp, ...labelOps, ...(file === undefined ? [] : [projectOp(name, file)])])
        return true
      } catch (thrown) {
        if (asTirelessError(thrown).code === 'conflict') return false
        throw thrown
      }
    },
    async taintedSections(name) {
      const prefix = labelKey(name, '')
      return (await store.labels(prefix)).map(({ of, label }) => ({ title: of.slice(prefix.length), label }))
    },
    async clearLabels(name, titles) {
      await commitOne(
        store,
        titles.map((title) => ({ op: 'label', of: labelKey(name, title), label: null }) as const),
      )
    },
    async noteFile(name, text) {
      await commitOne(store, [projectOp(name, text)])
    },
  }
}
