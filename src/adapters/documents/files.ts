/** Documents as files of one folder: validated when read, replaced atomically, set aside instead of deleted. */

import { constants } from 'node:fs'
import { chmod, link, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SAVED_COPY_KINDS, type SavedCopy } from '../../domain/document.ts'
import { type Clock, iso } from '../../ports/clock.ts'
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
  /** Contract: renames an invalid file and returns the new name; undefined if the file is valid by now and stays. */
  setAside(name: string): Promise<string | undefined>
  /** Contract: saves a text next to the file and returns the name of the copy. */
  saveCopy(name: string, kind: SavedCopy['kind'], text: string): Promise<string>
  /** Contract: the saved copies of a document, oldest first; none if the folder cannot be read. */
  listCopies(name: string): Promise<readonly SavedCopy[]>
  remove(name: string): Promise<void>
  close(): Promise<void>
}

const MAX_COPIES = 20

export function diskFiles(folder: string, clock: Clock): DocumentFiles {
  return new DiskFiles(folder, clock)
}

/** The operations are own properties, so that a copy of the object still has them. */
class DiskFiles implements DocumentFiles {
  readonly folder: string
  readonly #clock: Clock
  readonly #replaced: ReplacedFiles

  constructor(folder: string, clock: Clock) {
    this.folder = folder
    this.#clock = clock
    this.#replaced = new ReplacedFiles(folder, clock, async (name, path) => {
      await rename(path, this.#pathOf(await this.#makeCopyName(name, 'torn')))
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

  setAside: DocumentFiles['setAside'] = async (name) => {
    const path = this.#pathOf(name)
    const copyName = await this.#makeCopyName(name, 'torn')
    const copy = this.#pathOf(copyName)
    await rename(path, copy)
    const isBack = (await readFound(copy)).kind === 'text' && (await moveIfAbsent(copy, path))
    await syncFolder(this.folder)
    return isBack ? undefined : copyName
  }

  saveCopy: DocumentFiles['saveCopy'] = async (name, kind, text) => {
    await mkdir(this.folder, { recursive: true, mode: 0o700 })
    const copyName = await this.#makeCopyName(name, kind)
    await writeNew(this.#pathOf(copyName), text)
    await syncFolder(this.folder)
    return copyName
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

  /** Returns an unused name for a copy, and deletes the oldest copies beyond MAX_COPIES. */
  async #makeCopyName(name: string, kind: SavedCopy['kind']): Promise<string> {
    const copies = (await this.listCopies(name)).map(({ file }) => file)
    for (const entry of copies.slice(0, -MAX_COPIES + 1))
      await rm(this.#pathOf(entry), { recursive: true, force: true })
    const wanted = `${name}.${kind}-${iso(this.#clock.now()).replaceAll(':', '-')}`
    let unused = wanted
    for (let n = 2; copies.includes(unused); n += 1) unused = `${wanted}-${n}`
    return unused
  }
}

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
