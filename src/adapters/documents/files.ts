/** Documents as files of one folder: read with suspicion, replaced whole or not at all, set aside rather than deleted. */

import { constants } from 'node:fs'
import { chmod, type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { MOST_DOCUMENT_BYTES } from '../../domain/document.ts'
import { type Clock, iso } from '../../ports/clock.ts'

export type Found =
  | { readonly kind: 'absent' }
  | { readonly kind: 'text'; readonly text: string }
  /** No text that a document can have. */
  | { readonly kind: 'torn'; readonly why: string }

/** What is put beside a file, and is part of its name. */
export type Beside = (typeof KINDS)[number]
const KINDS = ['torn', 'conflict', 'reverted'] as const

export interface Files {
  readonly folder: string
  /** Contract: what lies there; throws where that cannot be looked at. */
  read(name: string): Promise<Found>
  /** Contract: on disk when it resolves; false, and nothing done, where something other than `over` lies there by now. */
  replace(name: string, text: string, over: Found): Promise<boolean>
  /** Contract: what an editor that writes in place was still at when its file was replaced: what was replaced, and what became of it. Each once. */
  late(name: string): Promise<{ readonly over: Found; readonly text: string } | undefined>
  /** Contract: moves what lies there; answers with its new name. */
  setAside(name: string): Promise<string>
  /** Contract: a text beside the file; answers with its name. */
  putBeside(name: string, kind: Beside, text: string): Promise<string>
  remove(name: string): Promise<void>
  close(): Promise<void>
}

/** Of each document. A save takes less long than so many replacements. */
const MOST_HELD = 4
const MOST_BESIDE = 20
const PIECE_BYTES = 16 * 1024

export function diskFiles(folder: string, clock: Clock): Files {
  /** Replaced files, still open: whoever had one open may not have finished writing it. */
  const replaced = new Map<string, { readonly handle: FileHandle; over: Found }[]>()
  const at = (name: string): string => join(folder, name)

  async function read(name: string): Promise<Found> {
    const { found, handle } = await openFound(at(name))
    await handle?.close()
    return found
  }

  async function swap(name: string, temporary: string, over: Found): Promise<boolean> {
    const { found, handle } = await openFound(at(name))
    try {
      if (!isSame(found, over)) {
        await handle?.close()
        return false
      }
      if (handle) await chmod(temporary, (await handle.stat()).mode & 0o777)
      await rename(temporary, at(name))
    } catch (thrown) {
      await handle?.close()
      throw thrown
    }
    const held = replaced.get(name) ?? []
    if (handle) held.push({ handle, over })
    replaced.set(name, held)
    if (held.length > MOST_HELD) await held.shift()?.handle.close()
    return true
  }

  /** Makes room as well: what lies beside a document stays for a while, not for ever. */
  async function freeName(name: string, kind: Beside): Promise<string> {
    const stampOf = (entry: string): string => entry.slice(entry.indexOf('-', name.length))
    const beside = (await readdir(folder))
      .filter((entry) => KINDS.some((one) => entry.startsWith(`${name}.${one}-`)))
      .sort((a, b) => (stampOf(a) < stampOf(b) ? -1 : 1))
    for (const entry of beside.slice(0, -MOST_BESIDE + 1)) await rm(at(entry), { recursive: true, force: true })
    const wanted = `${name}.${kind}-${iso(clock.now()).replaceAll(':', '-')}`
    let free = wanted
    for (let n = 2; beside.includes(free); n += 1) free = `${wanted}-${n}`
    return free
  }

  return {
    folder,
    read,
    async replace(name, text, over) {
      const temporary = at(`.${name}.tmp`)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await rm(temporary, { recursive: true, force: true })
      try {
        await writeNew(temporary, text)
        const isReplaced = await swap(name, temporary, over)
        if (isReplaced) await syncFolder(folder)
        return isReplaced
      } finally {
        await rm(temporary, { force: true })
      }
    },
    async late(name) {
      for (const held of replaced.get(name) ?? []) {
        const { over } = held
        const found = await contentOf(held.handle)
        if (found.kind !== 'text' || found.text.trim() === '' || isSame(found, over)) continue
        held.over = found
        return { over, text: found.text }
      }
      return undefined
    },
    async setAside(name) {
      const beside = await freeName(name, 'torn')
      await rename(at(name), at(beside))
      await syncFolder(folder)
      return beside
    },
    async putBeside(name, kind, text) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const beside = await freeName(name, kind)
      await writeNew(at(beside), text)
      await syncFolder(folder)
      return beside
    },
    remove: (name) => rm(at(name), { force: true }),
    async close() {
      for (const { handle } of [...replaced.values()].flat()) await handle.close()
      replaced.clear()
    },
  }
}

function isSame(a: Found, b: Found): boolean {
  return a.kind === 'text' && b.kind === 'text' ? a.text === b.text : a.kind === b.kind
}

interface Opened {
  readonly found: Found
  /** Where it is a file that can be read. */
  readonly handle?: FileHandle
}

/** What stands for a file and is none: a link, a socket. */
const NO_FILE = new Set(['ELOOP', 'ENXIO'])

async function openFound(path: string): Promise<Opened> {
  let handle: FileHandle
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (thrown) {
    const { code = '' } = thrown as { code?: string }
    if (code === 'ENOENT') return { found: { kind: 'absent' } }
    if (NO_FILE.has(code)) return { found: { kind: 'torn', why: 'it is not a regular file' } }
    throw thrown
  }
  try {
    return { found: await contentOf(handle), handle }
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

async function contentOf(handle: FileHandle): Promise<Found> {
  if (!(await handle.stat()).isFile()) return { kind: 'torn', why: 'it is not a regular file' }
  const bytes = await upTo(MOST_DOCUMENT_BYTES + 1, handle)
  if (bytes.length > MOST_DOCUMENT_BYTES) return { kind: 'torn', why: 'it is larger than 1 MB' }
  const text = decoded(bytes)
  if (text === undefined) return { kind: 'torn', why: 'it is no UTF-8 text' }
  return text.includes('\0') ? { kind: 'torn', why: 'it holds a NUL' } : { kind: 'text', text }
}

/** Piece by piece: most documents are small, and each is read many times in a cycle. */
async function upTo(most: number, handle: FileHandle): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let length = 0
  while (length < most) {
    const piece = Buffer.alloc(PIECE_BYTES)
    const { bytesRead } = await handle.read(piece, 0, Math.min(piece.length, most - length), length)
    if (bytesRead === 0) break
    pieces.push(piece.subarray(0, bytesRead))
    length += bytesRead
  }
  return Buffer.concat(pieces)
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
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
