/**
 * Store and file, brought together: an edit of the file becomes a version, and the file becomes the latest version. What lies in the file is only
 * ever written over when it is known: a projection, or an edit that was taken in or put beside it.
 */

import type { Document, DocumentName } from '../../domain/document.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Taken } from '../../ports/documents.ts'
import type { Beside, Files } from './files.ts'
import { type Found, sha256 } from './found.ts'
import type { Late } from './taken.ts'
import { isBlank, mergedEdit } from './texts.ts'
import type { Tell, Trouble } from './trouble.ts'
import type { Versions } from './versions.ts'

export interface FollowOptions {
  readonly versions: Versions
  readonly files: Files
  readonly fallback: Files
  readonly trouble: Trouble
  readonly tell: Tell
}

export interface Settled {
  readonly latest: Document | undefined
  readonly taken: Taken
  /** The text of an edit that has to be accepted first. */
  readonly pending?: string
}

interface Edit {
  readonly text: string
  /** What it was made of. */
  readonly base: string | undefined
  /** It was written into a file that had just been replaced. */
  readonly late: Late | undefined
}

interface Seen {
  readonly latest: Document | undefined
  /** What the file was last known to be. */
  readonly known: string | undefined
  readonly found: Found
  readonly edit: Edit | undefined
}

/** Whoever writes more often than this in one look is left to the next. */
const MOST_ROUNDS = 8

export interface Follower {
  /** Contract: throws nothing but what the store throws. `accepting`: edits are taken in; otherwise they stay where they are. */
  settle(name: DocumentName, accepting: boolean): Promise<Settled>
  /** Contract: a text that would be lost, into a file beside the document's; answers with its path. */
  putBeside(name: DocumentName, kind: Beside, text: string): Promise<string>
}

export function createFollower({ versions, files, fallback, trouble, tell }: FollowOptions): Follower {
  async function look(name: DocumentName): Promise<Seen> {
    const late = await files.late(name)
    const found = await files.read(name)
    const [latest, known] = [await versions.latest(name), await versions.known(name)]
    if (late === undefined) return { latest, known, found, edit: editIn(found, known, latest) }
    if (late.text !== known && late.text !== latest?.text)
      return { latest, known, found, edit: { text: late.text, base: await baseOf(name, late, known), late } }
    await late.keep()
    return look(name)
  }

  /** What a late edit was made of. An empty text that was replaced says nothing of what its writer began with. */
  async function baseOf(name: DocumentName, { over, overSha }: Late, known?: string): Promise<string | undefined> {
    if (over) return over.kind === 'text' && !isBlank(over.text) ? over.text : known
    return known !== undefined && sha256(known) === overSha ? known : versions.withSha(name, overSha)
  }

  /** Contract: what became of it. Nothing of a late edit is merged whose beginning is not known: it would take back what came since. */
  async function takeIn(name: DocumentName, { text, base, late }: Edit): Promise<Taken> {
    for (;;) {
      const latest = await versions.latest(name)
      const merged = late && base === undefined ? null : mergedEdit(name, { base, ours: latest?.text, theirs: text })
      if (merged === null) {
        await clash(name, text)
        if (!late) await versions.note(name, text)
        return 'clash'
      }
      if (late && merged === latest?.text) return 'none'
      const by = { author: 'owner', reason: 'edited as a file' }
      if (await versions.add(name, latest, merged, by, late ? undefined : text)) return 'taken'
    }
  }

  async function clash(name: DocumentName, text: string): Promise<void> {
    const path = await putBeside(name, 'conflict', text)
    const message = `an edit of ${name} clashes with what was written meanwhile; it is kept in ${path}`
    tell('clash', { about: name, message })
  }

  async function putBeside(name: DocumentName, kind: Beside, text: string): Promise<string> {
    try {
      return `${files.folder}/${await files.putBeside(name, kind, text)}`
    } catch (thrown) {
      if (thrown instanceof TirelessError) throw thrown
      return `${fallback.folder}/${await fallback.putBeside(name, kind, text)}`
    }
  }

  async function setAside(name: DocumentName, why: string): Promise<void> {
    const beside = await files.setAside(name)
    if (beside === undefined) return
    const path = `${files.folder}/${beside}`
    tell('torn', {
      about: name,
      message: `${name} cannot be used, because ${why}; it is now ${path}, and the last good one is back`,
    })
  }

  /** Contract: whether the file is the latest version now; not, where somebody wrote it meanwhile. */
  async function isFollowed(name: DocumentName, { latest, known, found }: Seen): Promise<boolean> {
    if (!latest) return true
    const isThere = found.kind === 'text' && found.text === latest.text
    if (!isThere && !(await files.replace(name, latest.text, found))) return false
    if (known !== latest.text) await versions.note(name, latest.text)
    trouble.over(name)
    await fallback.remove(name).catch(() => {})
    return true
  }

  async function follow(name: DocumentName, accepting: boolean): Promise<Settled> {
    let taken: Taken = 'none'
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const seen = await look(name)
      const { latest, found, edit } = seen
      if (edit && !accepting && !edit.late) return { latest, taken, pending: edit.text }
      if (edit && !accepting) await clash(name, edit.text)
      else if (edit) taken = await takeIn(name, edit)
      if (edit) await edit.late?.keep()
      else if (found.kind === 'torn') await setAside(name, found.why)
      else if (await isFollowed(name, seen)) return { latest, taken }
    }
    return { latest: await versions.latest(name), taken }
  }

  /** The folder cannot be used: the store has everything, and what should be in the file is shown elsewhere. */
  async function fallBack(name: DocumentName, why: unknown): Promise<Settled> {
    const latest = await versions.latest(name)
    const broken = `${files.folder}/${name} cannot be used (${String(why)})`
    try {
      if (latest) await fallback.replace(name, latest.text, await fallback.read(name))
      trouble.is(name, `${broken}; until it can, it is ${fallback.folder}/${name}`)
    } catch (thrown) {
      if (thrown instanceof TirelessError) throw thrown
      trouble.is(name, `${broken}, nor can ${fallback.folder}; until one can, only the store has it`)
    }
    return { latest, taken: 'none' }
  }

  return {
    putBeside,
    async settle(name, accepting) {
      try {
        return await follow(name, accepting)
      } catch (thrown) {
        // The store's own errors are all of this class, those of the file system are not.
        if (thrown instanceof TirelessError) throw thrown
        return fallBack(name, thrown)
      }
    },
  }
}

/** An empty file is one that somebody is about to write, or has lost. The latest is ours, noted or not: the process may have died in between. */
function editIn(found: Found, known: string | undefined, latest: Document | undefined): Edit | undefined {
  if (found.kind !== 'text' || isBlank(found.text) || found.text === known || found.text === latest?.text)
    return undefined
  return { text: found.text, base: known, late: undefined }
}
