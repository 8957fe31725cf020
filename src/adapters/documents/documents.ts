/**
 * The documents of a kernel: every text is a version in the store, and its file in the home follows. Edits of the file are the owner's. Whatever
 * is wrong with the files, work goes on from the store.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DOCUMENT_NAMES, type Document, type DocumentName } from '../../domain/document.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import { sectionsOf } from '../../domain/section.ts'
import { CLEAN, lowest } from '../../domain/trust.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Documents } from '../../ports/documents.ts'
import { type Store, unlessUnreadable } from '../../ports/store.ts'
import type { Files } from './files.ts'
import { createFollower, type Settled } from './follow.ts'
import type { Mirror } from './mirror.ts'
import { firstText, isBlank, refuseUnfit, revertedText, withoutNewSecrets } from './texts.ts'
import { type Tell, Trouble } from './trouble.ts'
import { kernelVersions } from './versions.ts'

export interface DocumentsOptions {
  readonly kernelId: string
  readonly store: Store
  readonly clock: Clock
  readonly files: Files
  /** Where they go while their own folder cannot be written. */
  readonly fallback: Files
  readonly mirror: Mirror | null
  /** Edits of files have to be accepted, because others than the owner could have made them. */
  readonly guarded: () => boolean
  readonly redact: (text: string) => string
  /** Contract: never throws. */
  readonly tell: Tell
}

export interface OwnDocuments extends Documents {
  close(): Promise<void>
}

/** More often than this nobody is quicker by chance. */
const MOST_TRIES = 20

export function createDocuments(options: DocumentsOptions): OwnDocuments {
  const { kernelId: kernel_id, store, clock, files, fallback, mirror, guarded, redact, tell } = options
  const trouble = new Trouble(tell)
  const versions = kernelVersions(store, clock, kernel_id)
  const follower = createFollower({ versions, files, fallback, trouble, tell })
  const busy = new Map<string, Promise<unknown>>()

  /** One at a time for each document. */
  function alone<T>(about: string, work: () => Promise<T>): Promise<T> {
    const done = (busy.get(about) ?? Promise.resolve()).then(work)
    const over = done.catch(() => {})
    busy.set(about, over)
    return done
  }

  async function settle(name: DocumentName, accepting = !guarded()): Promise<Settled> {
    const settled = await follower.settle(name, accepting).catch((thrown) => {
      const { code, message } = asTirelessError(thrown)
      if (code === 'row_unreadable') trouble.is(`the store's ${name}`, message)
      throw thrown
    })
    trouble.over(`the store's ${name}`)
    const about = `an edit of ${name}`
    if (settled.pending === undefined) trouble.over(about)
    else
      trouble.is(
        about,
        `${name} was edited as a file, and the edit is not in use: the sandbox is off, so an agent could have made it. Look: tireless state diff. To accept it: tireless state accept`,
      )
    return settled
  }

  /** Undefined where the store cannot read it: the others are seen to all the same. */
  const settleIfReadable = (name: DocumentName): Promise<Settled | undefined> =>
    unlessUnreadable(
      alone(name, () => settle(name)),
      undefined,
    )

  const write: Documents['write'] = (name, change, by) =>
    alone(name, async () => {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const { latest } = await settle(name)
        const before = latest?.text ?? ''
        const after = change(before)
        const text = by.author === 'owner' ? after : withoutNewSecrets(before, after, redact)
        refuseUnfit(name, text)
        if (latest?.text === text) return latest
        if (!(await versions.add(name, latest, text, by))) continue
        const { latest: made } = await settle(name)
        if (made) return made
      }
      throw new TirelessError('conflict', {
        what: 'the document changed each time it was to be written',
        where: name,
        got: `${MOST_TRIES} tries`,
        fix: 'find out who writes it all the time: state log',
      })
    })

  async function earlier(name: DocumentName, version: number): Promise<Document> {
    const found = await store.documentVersion(kernel_id, name, version)
    if (found) return found
    throw new TirelessError('not_found', {
      what: 'there is no such version, or not any more',
      where: name,
      got: String(version),
      fix: 'see which are kept: state log',
    })
  }

  return {
    async label(name) {
      const there = sectionsOf((await versions.latest(name))?.text ?? '')
      const stained = (await versions.stained(name)).filter(({ title }) => there.has(title))
      return stained.map(({ label }) => label).reduce(lowest, CLEAN)
    },
    async trust(name) {
      const titles = (await versions.stained(name)).map(({ title }) => title)
      if (titles.length > 0) await versions.cleaned(name, titles)
      return titles
    },
    read: (name) => alone(name, async () => (await settle(name)).latest),
    write,
    async seed(name, text) {
      return write(name, (now) => (isBlank(now) ? firstText(name, text) : now), { author: 'system', reason: 'seed' })
    },
    versions: (name, limit) => store.documentVersions({ kernel_id, name, limit }),
    version: (name, version) => store.documentVersion(kernel_id, name, version),
    async revert(name, version) {
      const wanted = version === undefined ? undefined : await earlier(name, version)
      await alone(name, async () => {
        const { pending } = await settle(name)
        if (pending === undefined) return
        await follower.putBeside(name, 'reverted', pending)
        await versions.note(name, pending)
      })
      const by = {
        author: 'owner',
        reason: wanted ? `back to version ${wanted.version}` : 'back to the latest version',
      }
      return write(name, (now) => (wanted ? revertedText(now, wanted.text) : now), by)
    },
    pending: (name) => alone(name, async () => (await settle(name)).pending),
    async waiting() {
      const names: DocumentName[] = []
      if (!guarded()) return names
      for (const name of DOCUMENT_NAMES) if ((await settleIfReadable(name))?.pending !== undefined) names.push(name)
      return names
    },
    accept: (name) => alone(name, async () => (await settle(name, true)).taken),
    async catchUp() {
      for (const name of DOCUMENT_NAMES) {
        const latest = await unlessUnreadable(versions.latest(name), undefined)
        if (latest && latest.text !== (await versions.known(name))) await settleIfReadable(name)
      }
    },
    degraded: () => trouble.all() ?? leftIn(fallback, files),
    commit: (message) =>
      alone('the mirror', async () => {
        if (!mirror) return
        const found = await Promise.all(DOCUMENT_NAMES.map(settleIfReadable))
        const texts = found.flatMap((one) => (one?.latest ? [one.latest] : []))
        const redacted = texts.map(({ name, text }) => ({ name, text: redact(text) }))
        try {
          await mirror(message, redacted)
          trouble.over('the git mirror')
        } catch (thrown) {
          trouble.is('the git mirror', `no git mirror of the documents: ${asTirelessError(thrown).message}`)
        }
      }),
    async close() {
      await Promise.all(busy.values())
      await files.close()
      await fallback.close()
    },
  }
}

/** What a process before this one could not write where it belongs, and nobody has since. */
function leftIn(fallback: Files, { folder }: Files): string | null {
  const left = DOCUMENT_NAMES.filter((name) => existsSync(join(fallback.folder, name)))
  return left.length === 0
    ? null
    : `${folder} could not be written; ${left.join(', ')}: as they are, in ${fallback.folder}`
}
