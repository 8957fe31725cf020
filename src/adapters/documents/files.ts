/** Documents as files of one folder: validated when read, replaced atomically, set aside instead of deleted. */

import { hash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, chmod, link, lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SAVED_COPY_KINDS, type SavedCopy } from '../../domain/document.ts'
import { type Clock, iso } from '../../ports/clock.ts'
import { type CopyNotices, NO_NOTICES } from './copy-notices.ts'
import { type DocumentFileContent, isSameContent, openDocumentFile } from './read-file.ts'
import { type LateEdit, ReplacedFiles } from './replaced-files.ts'

export interface DocumentFiles {
  readonly folder: string
  /** Contract: the content of the file; throws if the folder cannot be read. */
  read(name: string): Promise<DocumentFileContent>
  /**
   * Contract: the new text is on disk when this resolves. Returns false and overwrites nothing if the file no longer
   * has the content `over`. If an editor saves during the replacement, `findLateEdit` finds its text.
   */
  replace(name: string, text: string, over: DocumentFileContent): Promise<boolean>
  /**
   * Contract: a text that an editor wrote into a file that was already replaced; returned again until its `keep` is
   * called.
   */
  findLateEdit(name: string): Promise<LateEdit | undefined>
  /**
   * Contract: renames an invalid file and returns the new name; undefined if the file is valid by now and stays. If a
   * copy has the same content, that copy is all that stays. `why`: for the owner, who is told first. Throws if there
   * are too many copies; then the file stays as it is.
   */
  setAside(name: string, why: string): Promise<string | undefined>
  /** Contract: saves a text next to the file and returns the name of the copy, as `setAside` does it. */
  saveCopy(name: string, kind: SavedCopy['kind'], text: string): Promise<string>
  /** Contract: the saved copies of a document, oldest first; none if the folder cannot be read. */
  listCopies(name: string): Promise<readonly SavedCopy[]>
  remove(name: string): Promise<void>
  removeCopy(file: string): Promise<void>
  close(): Promise<void>
}

/** Copies of one document in a folder. Beyond this, none is made, and none is deleted. */
const MAX_COPIES = 1000
const MAX_COPY_BYTES = 64 * 1024 * 1024

export function diskFiles(folder: string, clock: Clock, notices: CopyNotices = NO_NOTICES): DocumentFiles {
  return new DiskFiles(folder, clock, notices)
}

/** The operations are own properties, so that a copy of the object still has them. */
class DiskFiles implements DocumentFiles {
  readonly folder: string
  readonly #clock: Clock
  readonly #notices: CopyNotices
  readonly #replaced: ReplacedFiles

  constructor(folder: string, clock: Clock, notices: CopyNotices) {
    this.folder = folder
    this.#clock = clock
    this.#notices = notices
    this.#replaced = new ReplacedFiles(folder, clock, async (name, path) => {
      await this.#moveAside(name, path, undefined)
    })
  }

  read: DocumentFiles['read'] = (name) => readFound(this.#pathOf(name))

  replace: DocumentFiles['replace'] = async (name, text, over) => {
    const temporary = this.#pathOf(`.${name}.tmp`)
    await mkdir(this.folder, { recursive: true, mode: 0o700 })
    await rm(temporary, { recursive: true, force: true })
    try {
      await writeNew(temporary, text)
      const isReplaced = await this.#swap(name, temporary, over)
      if (isReplaced) await syncFolder(this.folder)
      return isReplaced
    } finally {
      await rm(temporary, { force: true })
    }
  }

  findLateEdit: DocumentFiles['findLateEdit'] = (name) => this.#replaced.findLateEdit(name)

  setAside: DocumentFiles['setAside'] = (name, why) => this.#moveAside(name, this.#pathOf(name), why)

  /** The owner is told before anything moves: after a kill in between he is told of a copy that does not exist. */
  async #moveAside(name: string, path: string, why: string | undefined): Promise<string | undefined> {
    // In a folder that cannot be written, this is tried again and again.
    await access(this.folder, constants.W_OK)
    const before = await fingerprintOf(path)
    const twin = await this.#findCopy(name, before)
    const file = await this.#makeCopyName(name, 'torn', twin === undefined ? await sizeOf(path) : 0)
    const tell = (told: string): Promise<void> =>
      this.#notices.tell({ document: name, file: told, path: this.#pathOf(told), kind: 'torn', why })
    await tell(twin ?? file)
    const copy = this.#pathOf(file)
    await this.#orWithdraw(twin === undefined ? file : undefined, () => rename(path, copy))
    if (path === this.#pathOf(name) && (await readFound(copy)).kind === 'text' && (await moveIfAbsent(copy, path))) {
      await syncFolder(this.folder)
      if (twin === undefined) await this.#notices.withdraw(file)
      return undefined
    }
    // The file may have changed since it was compared.
    const isTwin = twin !== undefined && (await fingerprintOf(copy)) === before
    if (isTwin) await rm(copy)
    else if (twin !== undefined) await tell(file)
    await syncFolder(this.folder)
    return isTwin ? twin : file
  }

  saveCopy: DocumentFiles['saveCopy'] = async (name, kind, text) => {
    await mkdir(this.folder, { recursive: true, mode: 0o700 })
    const twin = await this.#findCopy(name, hash('sha256', text))
    const file = twin ?? (await this.#makeCopyName(name, kind, Buffer.byteLength(text)))
    await this.#notices.tell({ document: name, file, path: this.#pathOf(file), kind })
    if (twin === undefined) await this.#orWithdraw(file, () => this.#writeWhole(this.#pathOf(file), text))
    await syncFolder(this.folder)
    return file
  }

  /** Contract: no part of the copy stays if it cannot be written. */
  async #writeWhole(path: string, text: string): Promise<void> {
    try {
      await writeNew(path, text)
    } catch (thrown) {
      // A file that was there before is none of ours.
      if ((thrown as { code?: string }).code !== 'EEXIST') await rm(path, { force: true })
      throw thrown
    }
  }

  /** Contract: if the copy that the owner was told of cannot be made, nothing is left to tell. */
  async #orWithdraw(file: string | undefined, make: () => Promise<void>): Promise<void> {
    try {
      await make()
    } catch (thrown) {
      if (file !== undefined) await this.#notices.withdraw(file)
      throw thrown
    }
  }

  listCopies: DocumentFiles['listCopies'] = async (name) => {
    const entries = await readdir(this.folder).catch(() => [])
    const copies = entries.flatMap((file) => {
      const kind = SAVED_COPY_KINDS.find((each) => file.startsWith(`${name}.${each}-`))
      return kind ? [{ file, kind, ts: instantIn(file) }] : []
    })
    return copies.toSorted((a, b) => (stampOf(a.file, name) < stampOf(b.file, name) ? -1 : 1))
  }

  remove: DocumentFiles['remove'] = (name) => rm(this.#pathOf(name), { force: true })

  /** What is no regular file may have been set aside, too. */
  removeCopy: DocumentFiles['removeCopy'] = async (file) => {
    await rm(this.#pathOf(file), { recursive: true, force: true })
    await this.#notices.withdraw(file)
  }

  close: DocumentFiles['close'] = () => this.#replaced.close()

  #pathOf(name: string): string {
    return join(this.folder, name)
  }

  async #swap(name: string, temporary: string, over: DocumentFileContent): Promise<boolean> {
    const { found, handle } = await openDocumentFile(this.#pathOf(name))
    const mode = handle && (await handle.stat()).mode & 0o777
    await handle?.close()
    if (!isSameContent(found, over)) return false
    if (mode !== undefined) await chmod(temporary, mode)
    return this.#replaced.exchange(name, temporary, over)
  }

  /** Contract: an unused name for a copy of so many bytes. Throws if there are too many copies, of which none goes. */
  async #makeCopyName(name: string, kind: SavedCopy['kind'], bytes: number): Promise<string> {
    const copies = (await this.listCopies(name)).map(({ file }) => file)
    const used = (await Promise.all(copies.map((file) => sizeOf(this.#pathOf(file))))).reduce((a, b) => a + b, 0)
    if (copies.length >= MAX_COPIES || used + bytes > MAX_COPY_BYTES) {
      await this.#notices.tellFull(name, this.folder, used)
      throw new Error(`there are too many copies of it (${copies.length}, ${used} bytes); delete some`)
    }
    await this.#notices.withdrawFull(name)
    const wanted = `${name}.${kind}-${iso(this.#clock.now()).replaceAll(':', '-')}`
    let unused = wanted
    for (let n = 2; copies.includes(unused); n += 1) unused = `${wanted}-${n}`
    return unused
  }

  /** Contract: the copy of the document with this content. */
  async #findCopy(name: string, fingerprint: string | undefined): Promise<string | undefined> {
    if (fingerprint === undefined) return undefined
    for (const { file } of await this.listCopies(name))
      if ((await fingerprintOf(this.#pathOf(file))) === fingerprint) return file
    return undefined
  }
}

/** Larger files are not compared. */
const MAX_COMPARED_BYTES = 16 * 1024 * 1024

/** Contract: the SHA-256 of a regular file; undefined if it is none, or too large. Links are not followed. */
async function fingerprintOf(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined)
  if (!found?.isFile() || found.size > MAX_COMPARED_BYTES) return undefined
  return hash('sha256', await readFile(path))
}

const sizeOf = async (path: string): Promise<number> => (await lstat(path).catch(() => undefined))?.size ?? 0

const stampOf = (file: string, name: string): string => file.slice(file.indexOf('-', name.length))

/** The instant in the name of a copy, whose time has no colons. */
const instantIn = (file: string): string =>
  (/\d{4}-\d\d-\d\dT[\d.-]+Z/.exec(file)?.[0] ?? '').replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:')

async function readFound(path: string): Promise<DocumentFileContent> {
  const opened = await openDocumentFile(path)
  await opened.handle?.close()
  return opened.found
}

/** Contract: false, with nothing moved, if `to` exists or the file system has no hard links. */
async function moveIfAbsent(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
  } catch {
    return false
  }
  await rm(from)
  return true
}

async function writeNew(path: string, text: string): Promise<void> {
  await using handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  await handle.writeFile(text)
  await handle.sync()
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r')
  await handle.sync()
}
