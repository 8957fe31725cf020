/**
 * Keeps replaced document files for a while. An editor may have saved the file just before its replacement, or may
 * still write to it through an open handle. So each replaced file is kept under a private name, also across a kill, and
 * every call looks for new text in it.
 */

import { linkSync, renameSync } from 'node:fs'
import { type FileHandle, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../ports/clock.ts'
import { type DocumentFileContent, isSameContent, openDocumentFile, readContent, sha256 } from './read-file.ts'

/** A text that an editor wrote into a replaced file. */
export interface LateEdit {
  readonly text: string
  /** SHA-256 of the file's known content at its replacement. */
  readonly knownSha: string
  /** The known content itself; undefined after a restart. */
  readonly known: DocumentFileContent | undefined
  /** Call this once the text is saved elsewhere; until then the edit is reported again. */
  keep(): Promise<void>
}

type TextContent = DocumentFileContent & { readonly kind: 'text' }

interface KeptFile {
  readonly handle: FileHandle
  path: string
  over: DocumentFileContent | undefined
  overSha: string
  readonly keptAt: number
  /** `readAt`: when the file was last read. `stamp`: its modification time and size at that moment. */
  readAt: number
  stamp: string
}

/** How long a replaced file is kept. If an editor still has the file open and writes later, that text is lost. */
const KEEP_MS = 60_000
const MAX_KEPT = 32
/** Longer than the resolution of file times on any file system. */
const TICK_MS = 100

export class ReplacedFiles {
  readonly #folder: string
  readonly #clock: Clock
  readonly #keepUnreadable: (name: string, path: string) => Promise<void>
  readonly #kept = new Map<string, KeptFile[]>()
  /** Part of the name of the next kept file; makes the names unique. */
  #count = 0

  /** `keepUnreadable`: saves a replaced file that is not a valid document. */
  constructor(folder: string, clock: Clock, keepUnreadable: (name: string, path: string) => Promise<void>) {
    this.#folder = folder
    this.#clock = clock
    this.#keepUnreadable = keepUnreadable
  }

  /**
   * Contract: puts the file `fresh` at `name` and keeps the old file; false, with nothing lost, if another file was
   * created at `name` meanwhile.
   */
  async exchange(name: string, fresh: string, over: DocumentFileContent): Promise<boolean> {
    await this.#loadKept(name)
    const path = join(this.#folder, name)
    const overSha = sha256(over.kind === 'text' ? over.text : '')
    const keptPath = this.#pathFor(name, overSha)
    const isMoved = over.kind !== 'absent' && moveIfPresent(path, keptPath)
    const isPut = linkIfAbsent(fresh, path)
    if (isMoved) await this.#keepFile(name, keptPath, { over, overSha })
    return isPut
  }

  async findLateEdit(name: string): Promise<LateEdit | undefined> {
    for (const replaced of [...(await this.#loadKept(name))]) {
      const found = await this.#readNewText(replaced)
      if (found === undefined) continue
      const { over, overSha } = replaced
      return { text: found.text, known: over, knownSha: overSha, keep: () => this.#keepEdit(name, replaced, found) }
    }
    const all = [...(await this.#loadKept(name))]
    const oldest = this.#clock.now() - KEEP_MS
    for (const [i, replaced] of all.entries())
      if (replaced.keptAt < oldest || replaced.over === undefined || i < all.length - MAX_KEPT)
        await this.#discard(name, replaced)
    return undefined
  }

  async close(): Promise<void> {
    for (const [name, all] of this.#kept) for (const replaced of all) await this.#discard(name, replaced)
    for (const replaced of [...this.#kept.values()].flat()) await replaced.handle.close()
    this.#kept.clear()
  }

  #pathFor(name: string, sha: string): string {
    return join(this.#folder, `${prefixOf(name)}${sha}-${this.#count++}`)
  }

  /** Loads the files that an earlier process kept, once for each document. */
  async #loadKept(name: string): Promise<KeptFile[]> {
    const known = this.#kept.get(name)
    if (known) return known
    const found: KeptFile[] = []
    this.#kept.set(name, found)
    for (const entry of await readdir(this.#folder).catch(() => [])) {
      if (!entry.startsWith(prefixOf(name))) continue
      const [overSha = '', number = ''] = entry.slice(prefixOf(name).length).split('-')
      this.#count = Math.max(this.#count, Number(number) + 1 || 0)
      await this.#keepFile(name, join(this.#folder, entry), { over: undefined, overSha })
    }
    return found
  }

  async #keepFile(name: string, path: string, before: Pick<KeptFile, 'over' | 'overSha'>): Promise<void> {
    const { handle } = await openDocumentFile(path)
    if (handle) this.#kept.get(name)?.push({ ...before, handle, path, keptAt: this.#clock.now(), readAt: 0, stamp: '' })
    else await this.#keepUnreadable(name, path)
  }

  /**
   * Contract: the text, if an editor wrote a new one. Skips a file with unchanged time and size, unless it was read
   * within TICK_MS of its last write: a second write in that time may have left the file time unchanged.
   */
  async #readNewText(replaced: KeptFile): Promise<TextContent | undefined> {
    const readAt = this.#clock.now()
    const { mtimeMs, size } = await replaced.handle.stat()
    const stamp = `${mtimeMs} ${size}`
    if (stamp === replaced.stamp && mtimeMs + TICK_MS < replaced.readAt) return undefined
    const found = await readContent(replaced.handle)
    if (found.kind === 'text' && isNewText(found, replaced)) return found
    replaced.stamp = stamp
    replaced.readAt = readAt
    return undefined
  }

  async #discard(name: string, replaced: KeptFile): Promise<void> {
    const found = await readContent(replaced.handle)
    if (isNewText(found, replaced)) return
    if (found.kind === 'torn') await this.#keepUnreadable(name, replaced.path)
    else await rm(replaced.path, { force: true })
    await replaced.handle.close()
    this.#kept.set(
      name,
      (this.#kept.get(name) ?? []).filter((one) => one !== replaced),
    )
  }

  async #keepEdit(name: string, replaced: KeptFile, over: TextContent): Promise<void> {
    replaced.over = over
    replaced.overSha = sha256(over.text)
    const path = this.#pathFor(name, replaced.overSha)
    await rename(replaced.path, path)
    replaced.path = path
  }
}

const prefixOf = (name: string): string => `.${name}.taken-`

/** An empty file has no new text: an editor is about to write it. */
function isNewText(found: DocumentFileContent, { over, overSha }: KeptFile): boolean {
  if (found.kind !== 'text' || found.text.trim() === '') return false
  return over === undefined ? sha256(found.text) !== overSha : !isSameContent(found, over)
}

function moveIfPresent(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return false
    throw thrown
  }
}

/**
 * Uses link, which unlike rename fails if the path exists. Call it right after the old file was moved away: in between,
 * the document's file is missing.
 */
function linkIfAbsent(fresh: string, path: string): boolean {
  try {
    linkSync(fresh, path)
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') return false
    // Without hard links, rename is used: it would overwrite a file that an editor saves in these microseconds.
    renameSync(fresh, path)
  }
  return true
}

const codeOf = (thrown: unknown): string | undefined => (thrown as { code?: string }).code
