/**
 * The documents of a kernel. Every text is a version in the store, mirrored to a file in the home; edits of the file
 * count as the owner's. If the files are unusable, work continues from the store.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  DOCUMENT_NAMES,
  type Document,
  type DocumentName,
  type DocumentVersion,
  type SavedCopy,
} from '../../domain/document.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import { CLEAN_LABEL, type Label, lowestLabel } from '../../domain/label.ts'
import { parseSections } from '../../domain/markdown-section.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Documents, EditOutcome, LabelledSection } from '../../ports/documents.ts'
import { fallbackIfUnreadable, type Store } from '../../ports/store.ts'
import { Problems, type ReportEvent } from './degraded.ts'
import { FileSync, type SyncResult } from './file-sync.ts'
import type { DocumentFiles } from './files.ts'
import type { GitMirror } from './git-mirror.ts'
import { checkDocumentText, initialText, isBlank, redactAddedLines, revertText } from './merge-edit.ts'
import { createDocumentVersions, type DocumentVersions } from './versions.ts'

export interface DocumentsOptions {
  readonly kernelId: string
  /** The id of the home with the files, if several homes share the store. */
  readonly home?: string | undefined
  readonly store: Store
  readonly clock: Clock
  readonly files: DocumentFiles
  /** Used while the documents' own folder cannot be written. */
  readonly fallback: DocumentFiles
  readonly mirror: GitMirror | null
  /** True if edits of files need acceptance, because an agent could have made them. */
  readonly needsAcceptance: () => boolean
  readonly redact: (text: string) => string
  /** Contract: never throws. */
  readonly report: ReportEvent
}

export interface ManagedDocuments extends Documents {
  close(): Promise<void>
}

/** Most attempts to add a version while other writers add theirs first. */
const MAX_ATTEMPTS = 20

export function createDocuments(options: DocumentsOptions): ManagedDocuments {
  return new KernelDocuments(options)
}

class KernelDocuments implements ManagedDocuments {
  readonly #options: DocumentsOptions
  readonly #trouble: Problems
  readonly #versions: DocumentVersions
  readonly #sync: FileSync
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(options: DocumentsOptions) {
    const { store, clock, kernelId, home, files, fallback, report } = options
    this.#options = options
    this.#trouble = new Problems(report)
    this.#versions = createDocumentVersions(store, clock, kernelId, home)
    this.#sync = new FileSync({ versions: this.#versions, files, fallback, trouble: this.#trouble, report })
  }

  read(name: DocumentName): Promise<Document | undefined> {
    return this.#serialize(name, async () => (await this.#settle(name)).latest)
  }

  write: Documents['write'] = (name, change, by) =>
    this.#serialize(name, async () => {
      for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
        const { latest } = await this.#settle(name)
        const before = latest?.text ?? ''
        const after = change(before)
        const text = by.author === 'owner' ? after : redactAddedLines(before, after, this.#options.redact)
        checkDocumentText(name, text)
        if (latest?.text === text) return latest
        if (!(await this.#versions.add(name, latest, text, by))) continue
        const { latest: written } = await this.#settleAdded(name)
        if (written) return written
      }
      throw new TirelessError('conflict', {
        what: 'the document changed during every attempt to write it',
        where: name,
        got: `${MAX_ATTEMPTS} tries`,
        fix: 'see who writes it with `tireless state log`',
      })
    })

  /** After a new version: what fails here must not read as if the version were not there. */
  async #settleAdded(name: DocumentName): Promise<SyncResult> {
    try {
      return await this.#settle(name)
    } catch (thrown) {
      const { code, parts } = asTirelessError(thrown)
      const done = `the new version of ${name} is stored and in effect, but its file may follow later`
      throw new TirelessError(code, { ...parts, what: `${done}: ${parts.what}` }, { cause: thrown })
    }
  }

  async seed(name: DocumentName, text: string): Promise<Document> {
    const by = { author: 'system', reason: 'seed' }
    return this.write(name, (now) => (isBlank(now) ? initialText(name, text) : now), by)
  }

  async labels(name: DocumentName, text: string): Promise<readonly LabelledSection[]> {
    const sections = parseSections(text)
    return (await this.#versions.taintedSections(name)).filter(({ title }) => sections.has(title))
  }

  async label(name: DocumentName): Promise<Label> {
    const tainted = await this.labels(name, (await this.#versions.latest(name))?.text ?? '')
    return tainted.map(({ label }) => label).reduce(lowestLabel, CLEAN_LABEL)
  }

  async trust(name: DocumentName): Promise<readonly string[]> {
    const titles = (await this.#versions.taintedSections(name)).map(({ title }) => title)
    if (titles.length > 0) await this.#versions.clearLabels(name, titles)
    return titles
  }

  versions(name: DocumentName, limit: number): Promise<readonly DocumentVersion[]> {
    const { store, kernelId } = this.#options
    return store.documentVersions({ kernel_id: kernelId, name, limit })
  }

  version(name: DocumentName, version: number): Promise<Document | undefined> {
    const { store, kernelId } = this.#options
    return store.documentVersion(kernelId, name, version)
  }

  async revert(name: DocumentName, version?: number): Promise<Document> {
    const target = version === undefined ? undefined : await this.#findVersion(name, version)
    await this.#serialize(name, async () => {
      const { pending } = await this.#settle(name)
      if (pending === undefined) return
      await this.#saveReverted(name, pending)
      await this.#versions.noteFile(name, pending)
    })
    const by = {
      author: 'owner',
      reason: target ? `back to version ${target.version}` : 'back to the latest version',
    }
    return this.write(name, (now) => (target ? revertText(now, target.text) : now), by)
  }

  async #saveReverted(name: DocumentName, text: string): Promise<void> {
    try {
      await this.#sync.saveCopy(name, 'reverted', text)
    } catch (thrown) {
      if (thrown instanceof TirelessError) throw thrown
      throw new TirelessError('conflict', {
        what: 'your edit cannot be kept as a copy, so nothing was changed',
        where: name,
        got: String(thrown),
        fix: 'make room: tireless documents list, tireless state discard COPY',
      })
    }
  }

  pending(name: DocumentName): Promise<string | undefined> {
    return this.#serialize(name, async () => (await this.#settle(name)).pending)
  }

  async waiting(): Promise<readonly DocumentName[]> {
    const names: DocumentName[] = []
    if (!this.#options.needsAcceptance()) return names
    for (const name of DOCUMENT_NAMES) if ((await this.#settleIfReadable(name))?.pending !== undefined) names.push(name)
    return names
  }

  accept(name: DocumentName): Promise<EditOutcome> {
    return this.#serialize(name, async () => (await this.#settle(name, true)).taken)
  }

  async copies(name: DocumentName): Promise<readonly SavedCopy[]> {
    const { files, fallback } = this.#options
    return [...(await files.listCopies(name)), ...(await fallback.listCopies(name))].reverse()
  }

  async copy(name: DocumentName, file: string): Promise<string | undefined> {
    const found = await (await this.#filesWith(name, file))?.read(file)
    return found?.kind === 'text' ? found.text : undefined
  }

  async removeCopy(name: DocumentName, file: string): Promise<boolean> {
    const files = await this.#filesWith(name, file)
    await files?.removeCopy(file)
    return files !== undefined
  }

  /** Contract: where the copy is; undefined for a file that is no copy of this document. */
  async #filesWith(name: DocumentName, file: string): Promise<DocumentFiles | undefined> {
    const { files, fallback } = this.#options
    for (const each of [files, fallback])
      if ((await each.listCopies(name)).some((copy) => copy.file === file)) return each
    return undefined
  }

  async catchUp(): Promise<void> {
    for (const name of DOCUMENT_NAMES) {
      const latest = await fallbackIfUnreadable(this.#versions.latest(name), undefined)
      if (latest && latest.text !== (await this.#versions.knownFile(name))) await this.#settleIfReadable(name)
    }
  }

  degraded(): string | null {
    const { files, fallback } = this.#options
    return this.#trouble.describe() ?? describeFallback(fallback, files)
  }

  commit(message: string): Promise<void> {
    return this.#serialize('the mirror', async () => {
      const { mirror, redact } = this.#options
      if (!mirror) return
      const found = await Promise.all(DOCUMENT_NAMES.map((name) => this.#settleIfReadable(name)))
      const texts = found.flatMap((one) => (one?.latest ? [one.latest] : []))
      const redacted = texts.map(({ name, text }) => ({ name, text: redact(text) }))
      try {
        await mirror(message, redacted)
        this.#trouble.end('the git mirror')
      } catch (thrown) {
        const { message: why } = asTirelessError(thrown)
        this.#trouble.start('the git mirror', `the git mirror of the documents failed: ${why}`)
      }
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.#running.values())
    await this.#options.files.close()
    await this.#options.fallback.close()
  }

  /** Runs one operation at a time for each key. */
  #serialize<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = (this.#running.get(key) ?? Promise.resolve()).then(work)
    const settledWork = done.catch(() => {})
    this.#running.set(key, settledWork)
    return done
  }

  async #settle(name: DocumentName, accepting = !this.#options.needsAcceptance()): Promise<SyncResult> {
    const settled = await this.#sync.synchronize(name, accepting).catch((thrown) => {
      const { code, message } = asTirelessError(thrown)
      if (code === 'row_unreadable') this.#trouble.start(`the store's ${name}`, message)
      throw thrown
    })
    this.#trouble.end(`the store's ${name}`)
    const subject = `an edit of ${name}`
    if (settled.pending === undefined) this.#trouble.end(subject)
    else
      this.#trouble.start(
        subject,
        `${name} was edited as a file. The edit is not in use: the sandbox is off, so an agent could have made it. ` +
          'See it with `tireless state diff`; accept it with `tireless state accept`',
      )
    return settled
  }

  /** Contract: undefined if the store cannot read the document, so that the other documents still work. */
  #settleIfReadable(name: DocumentName): Promise<SyncResult | undefined> {
    return fallbackIfUnreadable(
      this.#serialize(name, () => this.#settle(name)),
      undefined,
    )
  }

  async #findVersion(name: DocumentName, version: number): Promise<Document> {
    const found = await this.version(name, version)
    if (found) return found
    throw new TirelessError('not_found', {
      what: 'this version does not exist, or is no longer kept',
      where: name,
      got: String(version),
      fix: 'list the kept versions with `tireless state log`',
    })
  }
}

/** Files that an earlier process wrote to the fallback folder, and that are still there. */
function describeFallback(fallback: DocumentFiles, { folder }: DocumentFiles): string | null {
  const left = DOCUMENT_NAMES.filter((name) => existsSync(join(fallback.folder, name)))
  return left.length === 0
    ? null
    : `${folder} could not be written; the current ${left.join(', ')} is in ${fallback.folder}`
}
