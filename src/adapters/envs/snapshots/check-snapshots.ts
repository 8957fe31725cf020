/**
 * Checks that the objects which snapshots name are there and intact, and takes lost ones out of the snapshots: their
 * paths are then among those that a snapshot leaves out, and everything else of it can be used.
 */

import { isReserved, nameKey, OMITTED_ENTRY, TIMES_ENTRY, toRealName } from './entry-names.ts'
import { type ObjectBatch, type ObjectStore, orIfLost, type TreeEntry } from './object-store.ts'
import { readNotes, writeNotes } from './workspace-tree.ts'

/** Bounds the time of a check; the newest snapshots are checked first. */
const CHECK_LIMITS = { trees: 20_000, contents: 5_000 }

interface FoundObjects {
  objects: number
  bytes: number
  /** Objects whose content was read, too; of the others it is known that they are there. */
  read: number
}

/** Remembers what it has checked, as most snapshots share most of their objects. */
export class ObjectCheck {
  readonly found: FoundObjects = { objects: 0, bytes: 0, read: 0 }
  readonly #store: ObjectStore
  readonly #limits: typeof CHECK_LIMITS
  readonly #blobs = new Map<string, boolean>()
  readonly #trees = new Map<string, readonly string[] | null>()

  constructor(store: ObjectStore, limits = CHECK_LIMITS) {
    this.#store = store
    this.#limits = limits
  }

  /** Whether it has read as much as it may. */
  get isOver(): boolean {
    return this.#trees.size >= this.#limits.trees
  }

  /** Contract: the paths of the tree that are lost, bytes as text; null: all of it. */
  async lostPaths(tree: string): Promise<readonly string[] | null> {
    const known = this.#trees.get(tree)
    if (known !== undefined) return known
    const entries = await orIfLost(this.#store.readTree(tree), null)
    if (entries) this.#count(tree)
    const lost = entries && (await this.#lostIn(entries))
    this.#trees.set(tree, lost)
    return lost
  }

  async #lostIn(entries: readonly TreeEntry[]): Promise<readonly string[] | null> {
    const lost: string[] = []
    for (const { mode, name: stored, id } of entries) {
      const isNote = isReserved(stored)
      const name = nameKey(toRealName(stored))
      if (mode === '40000') {
        const below = await this.lostPaths(id)
        lost.push(...(below === null ? [name] : below.map((path) => `${name}/${path}`)))
      } else if (nameKey(stored) !== TIMES_ENTRY && !(await this.#hasBlob(id, isNote))) {
        // Without its notes it is unknown what a folder left out, and so what its entries mean.
        if (isNote) return null
        lost.push(name)
      }
    }
    return lost
  }

  async #hasBlob(id: string, isNote: boolean): Promise<boolean> {
    const known = this.#blobs.get(id)
    if (known !== undefined) return known
    const isRead = isNote || this.found.read < this.#limits.contents
    const isThere = isRead ? await this.#store.isIntact(id) : this.#store.sizeOf(id) > 0
    if (isThere) this.#count(id, isRead)
    this.#blobs.set(id, isThere)
    return isThere
  }

  #count(id: string, isRead = true): void {
    this.found.objects += 1
    this.found.bytes += this.#store.sizeOf(id)
    if (isRead) this.found.read += 1
  }
}

/** Contract: the id of the same tree, whose lost paths are left out; undefined if nothing of it is left. */
export async function writeWithoutLost(store: ObjectStore, tree: string): Promise<string | undefined> {
  return store.write((batch) => withoutLost(store, batch, tree))
}

async function withoutLost(store: ObjectStore, batch: ObjectBatch, tree: string): Promise<string | undefined> {
  const entries = await orIfLost(store.readTree(tree), undefined)
  if (!entries) return undefined
  const kept: TreeEntry[] = []
  const lost: string[] = []
  for (const entry of entries) {
    const id = await intactId(store, batch, entry)
    if (id !== undefined) kept.push({ ...entry, id })
    else if (isReserved(entry.name)) return undefined
    else lost.push(nameKey(toRealName(entry.name)))
  }
  if (lost.length === 0) return batch.writeTree(kept)
  const omitted = new Map(await readNotes(store, entries, OMITTED_ENTRY))
  for (const name of lost) omitted.set(name, 'lost')
  const others = kept.filter(({ name }) => nameKey(name) !== OMITTED_ENTRY)
  return batch.writeTree([...others, writeNotes(batch, OMITTED_ENTRY, omitted)])
}

async function intactId(
  store: ObjectStore,
  batch: ObjectBatch,
  { mode, name, id }: TreeEntry,
): Promise<string | undefined> {
  if (mode === '40000') return withoutLost(store, batch, id)
  if (nameKey(name) === TIMES_ENTRY) return id
  return (await store.isIntact(id)) ? id : undefined
}
