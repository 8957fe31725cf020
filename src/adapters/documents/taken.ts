/**
 * Files that were taken away to be replaced. An editor may have saved one in the moment before, or may still be writing into it through an open
 * handle; so each stays under a private name, also over a kill, until it is old, and is compared again at every look.
 */

import { linkSync, renameSync } from 'node:fs'
import { type FileHandle, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../ports/clock.ts'
import { contentOf, type Found, isSameText, openFound, sha256 } from './found.ts'

/** A text that an editor wrote into a file that was taken away. */
export interface Late {
  readonly text: string
  /** SHA-256 of what was known to be in the file when it was taken. */
  readonly overSha: string
  /** That text itself; undefined after a restart. */
  readonly over: Found | undefined
  /** Contract: called when the text is kept elsewhere; until then it is told again. */
  keep(): Promise<void>
}

export interface TakenFiles {
  /** Contract: what is at `name` now is `fresh`; false, with nothing of anybody lost, where somebody created a file in between. */
  exchange(name: string, fresh: string, over: Found): Promise<boolean>
  late(name: string): Promise<Late | undefined>
  close(): Promise<void>
}

type TextFound = Found & { readonly kind: 'text' }

interface TakenFile {
  readonly handle: FileHandle
  path: string
  over: Found | undefined
  overSha: string
  readonly since: number
  /** When it was last read, and the time and size that it had then. */
  readAt: number
  stamp: string
}

/** An editor that has a file open for longer than this and then writes into it has lost it. */
const KEPT_MS = 60_000
const MOST_KEPT = 32
/** More than any file system's clock stands still between two writes. */
const TICK_MS = 100

/** `keepUnreadable`: where a file goes that cannot be a document's text. */
export function createTakenFiles(
  folder: string,
  clock: Clock,
  keepUnreadable: (name: string, path: string) => Promise<void>,
): TakenFiles {
  const kept = new Map<string, TakenFile[]>()
  /** So that names differ. */
  let count = 0
  const prefixOf = (name: string): string => `.${name}.taken-`
  const pathFor = (name: string, sha: string): string => join(folder, `${prefixOf(name)}${sha}-${count++}`)

  /** What an earlier process has left, once for each name. */
  async function keptOf(name: string): Promise<TakenFile[]> {
    const known = kept.get(name)
    if (known) return known
    const found: TakenFile[] = []
    kept.set(name, found)
    for (const entry of await readdir(folder).catch(() => [])) {
      if (!entry.startsWith(prefixOf(name))) continue
      const [overSha = '', number = ''] = entry.slice(prefixOf(name).length).split('-')
      count = Math.max(count, Number(number) + 1 || 0)
      await add(name, join(folder, entry), { over: undefined, overSha })
    }
    return found
  }

  async function add(name: string, path: string, was: Pick<TakenFile, 'over' | 'overSha'>): Promise<void> {
    const { handle } = await openFound(path)
    if (handle) kept.get(name)?.push({ ...was, handle, path, since: clock.now(), readAt: 0, stamp: '' })
    else await keepUnreadable(name, path)
  }

  /** Contract: the text, where an editor has written one. Read only where it can have changed: two writes in one tick have the same time. */
  async function newText(taken: TakenFile): Promise<TextFound | undefined> {
    const readAt = clock.now()
    const { mtimeMs, size } = await taken.handle.stat()
    const stamp = `${mtimeMs} ${size}`
    if (stamp === taken.stamp && mtimeMs + TICK_MS < taken.readAt) return undefined
    const found = await contentOf(taken.handle)
    if (found.kind === 'text' && isNews(found, taken)) return found
    taken.stamp = stamp
    taken.readAt = readAt
    return undefined
  }

  async function drop(name: string, taken: TakenFile): Promise<void> {
    const found = await contentOf(taken.handle)
    if (isNews(found, taken)) return
    if (found.kind === 'torn') await keepUnreadable(name, taken.path)
    else await rm(taken.path, { force: true })
    await taken.handle.close()
    kept.set(
      name,
      (kept.get(name) ?? []).filter((one) => one !== taken),
    )
  }

  async function keep(name: string, taken: TakenFile, over: TextFound): Promise<void> {
    taken.over = over
    taken.overSha = sha256(over.text)
    const path = pathFor(name, taken.overSha)
    await rename(taken.path, path)
    taken.path = path
  }

  return {
    async exchange(name, fresh, over) {
      await keptOf(name)
      const path = join(folder, name)
      const overSha = sha256(over.kind === 'text' ? over.text : '')
      const away = pathFor(name, overSha)
      const isTaken = over.kind !== 'absent' && moveIfThere(path, away)
      const isPut = putIfFree(fresh, path)
      if (isTaken) await add(name, away, { over, overSha })
      return isPut
    },
    async late(name) {
      for (const taken of [...(await keptOf(name))]) {
        const found = await newText(taken)
        if (found === undefined) continue
        const { over, overSha } = taken
        return { text: found.text, over, overSha, keep: () => keep(name, taken, found) }
      }
      const all = [...(await keptOf(name))]
      const old = clock.now() - KEPT_MS
      for (const [i, taken] of all.entries())
        if (taken.since < old || taken.over === undefined || i < all.length - MOST_KEPT) await drop(name, taken)
      return undefined
    },
    async close() {
      for (const [name, all] of kept) for (const taken of all) await drop(name, taken)
      for (const taken of [...kept.values()].flat()) await taken.handle.close()
      kept.clear()
    },
  }
}

/** An empty file is one that an editor is about to write. */
function isNews(found: Found, { over, overSha }: TakenFile): boolean {
  if (found.kind !== 'text' || found.text.trim() === '') return false
  return over === undefined ? sha256(found.text) !== overSha : !isSameText(found, over)
}

function moveIfThere(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return false
    throw thrown
  }
}

/** By a link, which, unlike a renaming, fails where something is already there. Right after `moveIfThere`: in between, the file is missing. */
function putIfFree(fresh: string, path: string): boolean {
  try {
    linkSync(fresh, path)
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') return false
    // A file system without links: a save in these microseconds would be lost there.
    renameSync(fresh, path)
  }
  return true
}

const codeOf = (thrown: unknown): string | undefined => (thrown as { code?: string }).code
