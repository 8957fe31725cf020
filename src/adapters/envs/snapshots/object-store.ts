/**
 * Stores blobs and trees in git's format without running git: no process is started, and git settings in the workspace
 * have no effect. The folder is a bare repository, so `git --git-dir` can show and compare snapshots. Writes are
 * synchronous: for small files the thread pool costs more than the write, and sessions that finish a step at the same
 * time can still share one database commit. The objects of one snapshot are flushed to the disk together, before
 * anything names them.
 */

import { hash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflateSync, inflate, inflateSync } from 'node:zlib'
import { TirelessError } from '../../../domain/error.ts'
import { errno } from '../host/file-errors.ts'

type EntryMode = '100644' | '100755' | '120000' | '40000'
type ObjectKind = 'blob' | 'tree'

export interface TreeEntry {
  readonly mode: EntryMode
  readonly name: Buffer
  readonly id: string
}

/** Objects that become durable together. */
export interface ObjectBatch {
  writeBlob(content: Buffer): string
  writeTree(entries: readonly TreeEntry[]): string
  /** Contract: whether this process knows the object, and its file is as long as it should be; reads no content. */
  has(id: string): boolean
}

export interface ObjectStore {
  /**
   * Contract: what `work` wrote is on disk when this resolves; if it throws, nothing that it wrote is there. An object
   * that is stored already but damaged is written again.
   */
  write<T>(work: (batch: ObjectBatch) => T | Promise<T>): Promise<T>
  /** Contract: throws `LostObjectError` if the object is missing or damaged. */
  readBlob(id: string): Promise<Buffer>
  /** Contract: as `readBlob`. */
  readTree(id: string): Promise<readonly TreeEntry[]>
  /** Contract: whether the object is there and its content is that of its id; reads it. */
  isIntact(id: string): Promise<boolean>
  /** Contract: the bytes of the object's file; 0 if it is missing. Does not read it. */
  sizeOf(id: string): number
  /** Contract: removes every object that is not reachable from a tree in `roots`, and drafts of killed processes. */
  prune(roots: readonly string[]): Promise<void>
  /** Contract: forgets which objects were seen to be intact, so that they are read again before they are relied on. */
  distrust(): void
}

/** An object that a snapshot names is missing or damaged. */
class LostObjectError extends TirelessError {
  constructor(id: string, why: string) {
    super('snapshot_lost', {
      what: `a stored version of a file is ${why}`,
      got: id,
      fix: 'run tireless doctor, which says what is affected',
    })
  }
}

const FAST_COMPRESSION = { level: 1 }
const decompress = promisify(inflate)
/** More than the thread pool has threads, so that it never waits; the disk joins flushes that arrive together. */
const FLUSHES_AT_ONCE = 16
/** Bounds the memory of a process that sees many objects; what is forgotten is read once more. */
const MAX_REMEMBERED = 50_000
/** No snapshot takes so long; a draft older than this belongs to a killed process. */
const DRAFT_LIFE_MS = 3_600_000

/** `now`: of the clock that also stamps files. */
export async function openObjectStore(folder: string, now: () => number): Promise<ObjectStore> {
  const [objects, drafts] = [join(folder, 'objects'), join(folder, 'drafts')]
  for (const needed of [objects, join(folder, 'refs'), drafts]) await mkdir(needed, { recursive: true, mode: 0o700 })
  if (!existsSync(join(folder, 'HEAD'))) writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n')
  await removeOldDrafts(drafts, now)
  const fileOf = (id: string): string => join(objects, id.slice(0, 2), id.slice(2))
  /** Lengths of the files of objects that this process wrote, or has read and found intact. */
  const intact = new Map<string, number>()
  let draftNumber = 0

  const remember = (id: string, length: number): void => {
    if (intact.size >= MAX_REMEMBERED) intact.clear()
    intact.set(id, length)
  }

  /** Another process may have the same number, and a killed one may have left its draft: no draft is ever shared. */
  function openDraft(): { readonly draft: string; readonly handle: number } {
    for (;;) {
      draftNumber += 1
      const draft = join(drafts, `${process.pid}-${draftNumber}`)
      try {
        return { draft, handle: openSync(draft, 'wx', 0o600) }
      } catch (thrown) {
        if (errno(thrown) !== 'EEXIST') throw thrown
      }
    }
  }

  function isStored(id: string, object: Buffer): boolean {
    const file = fileOf(id)
    const length = intact.get(id)
    if (length !== undefined && statSync(file, { throwIfNoEntry: false })?.size === length) return true
    const found = readIfThere(file)
    if (found === undefined || !containsObject(found, object)) return false
    remember(id, found.length)
    return true
  }

  class Batch implements ObjectBatch {
    readonly #written = new Map<string, { readonly draft: string; readonly length: number }>()

    writeBlob(content: Buffer): string {
      return this.#write('blob', content)
    }

    writeTree(entries: readonly TreeEntry[]): string {
      return this.#write('tree', encodeTree(entries))
    }

    has(id: string): boolean {
      if (this.#written.has(id)) return true
      const length = intact.get(id)
      return length !== undefined && statSync(fileOf(id), { throwIfNoEntry: false })?.size === length
    }

    #write(kind: ObjectKind, content: Buffer): string {
      const object = Buffer.concat([Buffer.from(`${kind} ${content.length}\0`), content])
      const id = idOf(object)
      if (this.#written.has(id) || isStored(id, object)) return id
      const compressed = deflateSync(object, FAST_COMPRESSION)
      const { draft, handle } = openDraft()
      this.#written.set(id, { draft, length: compressed.length })
      try {
        // A nearly full disk may take less than it was given.
        for (let at = 0; at < compressed.length; ) at += writeSync(handle, compressed, at)
      } finally {
        closeSync(handle)
      }
      return id
    }

    async commit(): Promise<void> {
      const written = [...this.#written]
      await flushAll(written.map(([, { draft }]) => draft))
      const folders = new Set<string>()
      for (const [id, { draft, length }] of written) {
        const file = fileOf(id)
        if (!existsSync(dirname(file))) {
          mkdirSync(dirname(file), { mode: 0o700 })
          folders.add(objects)
        }
        renameSync(draft, file)
        remember(id, length)
        folders.add(dirname(file))
      }
      await flushAll([...folders])
    }

    discard(): void {
      for (const { draft } of this.#written.values()) rmSync(draft, { force: true })
    }
  }

  async function read(id: string, kind: ObjectKind): Promise<Buffer> {
    const object = await readObject(id)
    const end = object.indexOf(0)
    if (object.toString('latin1', 0, end).split(' ')[0] !== kind) throw new LostObjectError(id, 'damaged')
    return object.subarray(end + 1)
  }

  async function readObject(id: string): Promise<Buffer> {
    let compressed: Buffer
    try {
      compressed = await readFile(fileOf(id))
    } catch (thrown) {
      if (errno(thrown) !== 'ENOENT') throw thrown
      throw new LostObjectError(id, 'missing')
    }
    const object = await decompress(compressed).catch(() => undefined)
    if (object === undefined || idOf(object) !== id) {
      intact.delete(id)
      throw new LostObjectError(id, 'damaged')
    }
    remember(id, compressed.length)
    return object
  }

  const readTree = async (id: string): Promise<readonly TreeEntry[]> => decodeTree(await read(id, 'tree'))

  async function markReachable(id: string, reached: Set<string>): Promise<void> {
    if (reached.has(id)) return
    reached.add(id)
    for (const entry of await orIfLost(readTree(id), [])) {
      if (entry.mode === '40000') await markReachable(entry.id, reached)
      else reached.add(entry.id)
    }
  }

  return {
    async write(work) {
      const batch = new Batch()
      try {
        const result = await work(batch)
        await batch.commit()
        return result
      } catch (thrown) {
        batch.discard()
        throw thrown
      }
    },
    readBlob: (id) => read(id, 'blob'),
    readTree,
    isIntact: (id) =>
      orIfLost(
        readObject(id).then(() => true),
        false,
      ),
    sizeOf: (id) => statSync(fileOf(id), { throwIfNoEntry: false })?.size ?? 0,
    async prune(roots) {
      const reached = new Set<string>()
      for (const root of roots) await markReachable(root, reached)
      intact.clear()
      for (const start of await readdir(objects)) {
        for (const rest of await readdir(join(objects, start)))
          if (!reached.has(start + rest)) await rm(join(objects, start, rest), { force: true })
      }
      await removeOldDrafts(drafts, now)
    },
    distrust: () => intact.clear(),
  }
}

const idOf = (object: Buffer): string => hash('sha1', object)

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch (thrown) {
    if (errno(thrown) === 'ENOENT') return undefined
    throw thrown
  }
}

function containsObject(compressed: Buffer, object: Buffer): boolean {
  try {
    return inflateSync(compressed).equals(object)
  } catch {
    return false
  }
}

/** Contract: the value; `otherwise` if an object is missing or damaged. */
export async function orIfLost<T>(value: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await value
  } catch (thrown) {
    if (thrown instanceof LostObjectError) return otherwise
    throw thrown
  }
}

async function flushAll(paths: readonly string[]): Promise<void> {
  const rest = paths.values()
  const flushNext = async (): Promise<void> => {
    for (const path of rest) {
      const handle = await open(path, 'r')
      try {
        await handle.sync()
      } finally {
        await handle.close()
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(FLUSHES_AT_ONCE, paths.length) }, flushNext))
}

async function removeOldDrafts(drafts: string, now: () => number): Promise<void> {
  for (const name of await readdir(drafts)) {
    const draft = join(drafts, name)
    const written = (await stat(draft).catch(() => undefined))?.mtimeMs
    if (written !== undefined && written < now() - DRAFT_LIFE_MS) await rm(draft, { force: true })
  }
}

function encodeTree(entries: readonly TreeEntry[]): Buffer {
  // Git sorts a folder as if its name ended with a slash.
  const key = ({ mode, name }: TreeEntry): Buffer => (mode === '40000' ? Buffer.concat([name, Buffer.from('/')]) : name)
  const sorted = entries.toSorted((a, b) => Buffer.compare(key(a), key(b)))
  const parts = sorted.flatMap(({ mode, name, id }) => [
    Buffer.from(`${mode} `),
    name,
    Buffer.from([0]),
    Buffer.from(id, 'hex'),
  ])
  return Buffer.concat(parts)
}

function decodeTree(body: Buffer): readonly TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < body.length; ) {
    const blank = body.indexOf(0x20, at)
    const nul = body.indexOf(0, blank)
    const mode = body.toString('latin1', at, blank) as EntryMode
    entries.push({ mode, name: body.subarray(blank + 1, nul), id: body.toString('hex', nul + 1, nul + 21) })
    at = nul + 21
  }
  return entries
}
