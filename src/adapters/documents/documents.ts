/**
 * The documents of a kernel. Every text is a version in the store, mirrored to a file in the home; edits of the file
 * count as the owner's. If the files are unusable, work continues from the store.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DOCUMENT_NAMES, type Document, type DocumentName } from '../../domain/document.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import { CLEAN_LABEL, lowestLabel } from '../../domain/label.ts'
import { parseSections } from '../../domain/markdown-section.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Documents, LabelledSection } from '../../ports/documents.ts'
import { fallbackIfUnreadable, type Store } from '../../ports/store.ts'
import { Problems, type ReportEvent } from './degraded.ts'
import { createFileSync, type SyncResult } from './file-sync.ts'
import type { DocumentFiles } from './files.ts'
import type { GitMirror } from './git-mirror.ts'
import { checkDocumentText, initialText, isBlank, redactAddedLines, revertText } from './merge-edit.ts'
import { createDocumentVersions } from './versions.ts'

export interface DocumentsOptions {
  readonly kernelId: string
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
  const {
    kernelId: kernel_id,
    store,
    clock,
    files,
    fallback,
    mirror,
    needsAcceptance: guarded,
    redact,
    report: tell,
  } = options
  const trouble = new Problems(tell)
  const versions = createDocumentVersions(store, clock, kernel_id)
  const follower = createFileSync({ versions, files, fallback, trouble, tell })
  const running = new Map<string, Promise<unknown>>()

  /** Runs one operation at a time for each key. */
  function serialize<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = (running.get(key) ?? Promise.resolve()).then(work)
    const settledWork = done.catch(() => {})
    running.set(key, settledWork)
    return done
  }

  async function settle(name: DocumentName, accepting = !guarded()): Promise<SyncResult> {
    const settled = await follower.synchronize(name, accepting).catch((thrown) => {
      const { code, message } = asTirelessError(thrown)
      if (code === 'row_unreadable') trouble.start(`the store's ${name}`, message)
      throw thrown
    })
    trouble.end(`the store's ${name}`)
    const subject = `an edit of ${name}`
    if (settled.pending === undefined) trouble.end(subject)
    else
      trouble.start(
        subject,
        `${name} was edited as a file. The edit is not in use: the sandbox is off, so an agent could have made it. ` +
          'See it with `tireless state diff`; accept it with `tireless state accept`',
      )
    return settled
  }

  /** Contract: undefined if the store cannot read the document, so that the other documents still work. */
  const settleIfReadable = (name: DocumentName): Promise<SyncResult | undefined> =>
    fallbackIfUnreadable(
      serialize(name, () => settle(name)),
      undefined,
    )

  const write: Documents['write'] = (name, change, by) =>
    serialize(name, async () => {
      for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
        const { latest } = await settle(name)
        const before = latest?.text ?? ''
        const after = change(before)
        const text = by.author === 'owner' ? after : redactAddedLines(before, after, redact)
        checkDocumentText(name, text)
        if (latest?.text === text) return latest
        if (!(await versions.add(name, latest, text, by))) continue
        const { latest: written } = await settle(name)
        if (written) return written
      }
      throw new TirelessError('conflict', {
        what: 'the document changed during every attempt to write it',
        where: name,
        got: `${MAX_ATTEMPTS} tries`,
        fix: 'see who writes it with `tireless state log`',
      })
    })

  async function labels(name: DocumentName, text: string): Promise<readonly LabelledSection[]> {
    const sections = parseSections(text)
    return (await versions.taintedSections(name)).filter(({ title }) => sections.has(title))
  }

  async function findVersion(name: DocumentName, version: number): Promise<Document> {
    const found = await store.documentVersion(kernel_id, name, version)
    if (found) return found
    throw new TirelessError('not_found', {
      what: 'this version does not exist, or is no longer kept',
      where: name,
      got: String(version),
      fix: 'list the kept versions with `tireless state log`',
    })
  }

  return {
    labels,
    async label(name) {
      const tainted = await labels(name, (await versions.latest(name))?.text ?? '')
      return tainted.map(({ label }) => label).reduce(lowestLabel, CLEAN_LABEL)
    },
    async trust(name) {
      const titles = (await versions.taintedSections(name)).map(({ title }) => title)
      if (titles.length > 0) await versions.clearLabels(name, titles)
      return titles
    },
    read: (name) => serialize(name, async () => (await settle(name)).latest),
    write,
    async seed(name, text) {
      return write(name, (now) => (isBlank(now) ? initialText(name, text) : now), { author: 'system', reason: 'seed' })
    },
    versions: (name, limit) => store.documentVersions({ kernel_id, name, limit }),
    version: (name, version) => store.documentVersion(kernel_id, name, version),
    async revert(name, version) {
      const target = version === undefined ? undefined : await findVersion(name, version)
      await serialize(name, async () => {
        const { pending } = await settle(name)
        if (pending === undefined) return
        await follower.saveCopy(name, 'reverted', pending)
        await versions.noteFile(name, pending)
      })
      const by = {
        author: 'owner',
        reason: target ? `back to version ${target.version}` : 'back to the latest version',
      }
      return write(name, (now) => (target ? revertText(now, target.text) : now), by)
    },
    pending: (name) => serialize(name, async () => (await settle(name)).pending),
    async waiting() {
      const names: DocumentName[] = []
      if (!guarded()) return names
      for (const name of DOCUMENT_NAMES) if ((await settleIfReadable(name))?.pending !== undefined) names.push(name)
      return names
    },
    accept: (name) => serialize(name, async () => (await settle(name, true)).taken),
    async catchUp() {
      for (const name of DOCUMENT_NAMES) {
        const latest = await fallbackIfUnreadable(versions.latest(name), undefined)
        if (latest && latest.text !== (await versions.knownFile(name))) await settleIfReadable(name)
      }
    },
    degraded: () => trouble.describe() ?? describeFallback(fallback, files),
    commit: (message) =>
      serialize('the mirror', async () => {
        if (!mirror) return
        const found = await Promise.all(DOCUMENT_NAMES.map(settleIfReadable))
        const texts = found.flatMap((one) => (one?.latest ? [one.latest] : []))
        const redacted = texts.map(({ name, text }) => ({ name, text: redact(text) }))
        try {
          await mirror(message, redacted)
          trouble.end('the git mirror')
        } catch (thrown) {
          trouble.start('the git mirror', `the git mirror of the documents failed: ${asTirelessError(thrown).message}`)
        }
      }),
    async close() {
      await Promise.all(running.values())
      await files.close()
      await fallback.close()
    },
  }
}

/** Files that an earlier process wrote to the fallback folder, and that are still there. */
function describeFallback(fallback: DocumentFiles, { folder }: DocumentFiles): string | null {
  const left = DOCUMENT_NAMES.filter((name) => existsSync(join(fallback.folder, name)))
  return left.length === 0
    ? null
    : `${folder} could not be written; the current ${left.join(', ')} is in ${fallback.folder}`
}
