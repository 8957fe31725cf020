/** Reads stored trees by path, and compares two of them. Equal subtrees are not read. */

import {
  type Omission,
  type PathChange,
  type PathState,
  readablePath,
  repositoryOf,
} from '../../../domain/path-change.ts'
import { isReserved, MODES_ENTRY, nameKey, OMITTED_ENTRY, toRealName } from './entry-names.ts'
import type { ObjectStore } from './object-store.ts'
import { readNotes } from './workspace-tree.ts'

type Change = Omit<PathChange, 'path'>

interface FolderEntry {
  /** Of a folder: the id of its tree. */
  readonly tree?: string
  readonly state: string
}

/** Reads each tree once. Paths are bytes as Latin-1 text, with `/` between names. */
export class TreeReader {
  readonly #store: ObjectStore
  readonly #folders = new Map<string, Promise<ReadonlyMap<string, FolderEntry>>>()

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /** Contract: what is at the path in that tree. */
  async stateAt(tree: string, path: string): Promise<PathState> {
    return (await this.#find(tree, path.split('/')))?.state ?? null
  }

  /** Contract: every path that differs, folders included, with what was and is there. */
  async changes(before: string, after: string): Promise<ReadonlyMap<string, Change>> {
    const found = new Map<string, Change>()
    await this.#compare(before, after, '', found)
    return found
  }

  /** Contract: what the snapshot left out, by path. */
  async omitted(tree: string, path = ''): Promise<ReadonlyMap<string, Omission>> {
    const notes = await readNotes(this.#store, await this.#store.readTree(tree), OMITTED_ENTRY)
    const found = new Map([...notes].map(([name, why]) => [`${path}${name}`, why as Omission]))
    for (const [name, { tree: sub }] of await this.#folder(tree))
      if (sub !== undefined && name !== '.git')
        for (const [at, why] of await this.omitted(sub, `${path}${name}/`)) found.set(at, why)
    return found
  }

  /** Contract: the content of a file or the target of a link; null for anything else. */
  async content(state: PathState): Promise<Buffer | null> {
    const id = state === null || state.startsWith('d') ? undefined : state.split(' ').at(-1)
    return id === undefined ? null : this.#store.readBlob(id)
  }

  async #find(tree: string, [name = '', ...rest]: readonly string[]): Promise<FolderEntry | undefined> {
    const entry = (await this.#folder(tree)).get(name)
    if (rest.length === 0) return entry
    return entry?.tree === undefined ? undefined : this.#find(entry.tree, rest)
  }

  #folder(tree: string): Promise<ReadonlyMap<string, FolderEntry>> {
    const read = this.#folders.get(tree) ?? this.#read(tree)
    this.#folders.set(tree, read)
    return read
  }

  async #read(tree: string): Promise<ReadonlyMap<string, FolderEntry>> {
    const entries = await this.#store.readTree(tree)
    const modes = await readNotes(this.#store, entries, MODES_ENTRY)
    const found = new Map<string, FolderEntry>()
    for (const { mode, name: stored, id } of entries) {
      if (isReserved(stored)) continue
      const name = nameKey(toRealName(stored))
      const bits = modes.get(name) ?? (mode === '100644' ? '644' : '755')
      if (mode === '40000') found.set(name, { tree: id, state: `d ${bits}` })
      else found.set(name, { state: mode === '120000' ? `l ${id}` : `f ${bits} ${id}` })
    }
    return found
  }

  async #compare(
    before: string | undefined,
    after: string | undefined,
    path: string,
    found: Map<string, Change>,
  ): Promise<void> {
    if (before === after) return
    const [old, present] = [await this.#entries(before), await this.#entries(after)]
    for (const name of new Set([...old.keys(), ...present.keys()])) {
      const [a, b] = [old.get(name), present.get(name)]
      if (a?.state !== b?.state) found.set(`${path}${name}`, { before: a?.state ?? null, after: b?.state ?? null })
      if (a?.tree !== b?.tree) await this.#compare(a?.tree, b?.tree, `${path}${name}/`, found)
    }
  }

  async #entries(tree: string | undefined): Promise<ReadonlyMap<string, FolderEntry>> {
    return tree === undefined ? new Map() : this.#folder(tree)
  }
}

/** Contract: paths of files that were added, changed or removed, sorted; without those of repositories. */
export async function changedFiles(trees: TreeReader, before: string, after: string): Promise<readonly string[]> {
  const changes = await trees.changes(before, after)
  const isFile = (state: PathState): boolean => state !== null && !state.startsWith('d')
  return [...changes]
    .filter(([path, change]) => repositoryOf(path) === undefined && (isFile(change.before) || isFile(change.after)))
    .map(([path]) => readablePath(path))
    .sort()
}

/** Contract: the content of a file, as `path` names it; null if the tree has no such file. A link is not followed. */
export async function readFileIn(trees: TreeReader, tree: string, path: string): Promise<Uint8Array | null> {
  const names = path.split('/').filter((part) => part !== '' && part !== '.')
  const state = await trees.stateAt(tree, Buffer.from(names.join('/')).toString('latin1'))
  return state?.startsWith('f') ? trees.content(state) : null
}
