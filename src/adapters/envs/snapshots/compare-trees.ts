/** Reads stored trees by path, and compares two of them. Equal subtrees are not read. */

import {
  type Omission,
  type PathChange,
  type PathState,
  readablePath,
  repositoryOf,
} from '../../../domain/path-change.ts'
import { isReserved, MODES_ENTRY, nameKey, OMITTED_ENTRY, TIMES_ENTRY, toRealName } from './entry-names.ts'
import type { ObjectStore } from './object-store.ts'
import { readNotes } from './workspace-tree.ts'

type Change = Omit<PathChange, 'path'>

interface FolderEntry {
  /** Of a folder: the id of its tree. */
  readonly tree?: string
  readonly state: string
  /** Of a file: when it was last modified, in ms; snapshots of earlier versions do not say it. */
  readonly time?: number | undefined
}

interface Folder {
  readonly entries: ReadonlyMap<string, FolderEntry>
  /** What is there and not stored. */
  readonly omitted: ReadonlyMap<string, Omission>
}

const NO_FOLDER: Folder = { entries: new Map(), omitted: new Map() }

/** Reads each tree once. Paths are bytes as Latin-1 text, with `/` between names. */
export class TreeReader {
  readonly #store: ObjectStore
  readonly #folders = new Map<string, Promise<Folder>>()

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /** Contract: what is at the path in that tree. */
  async stateAt(tree: string, path: string): Promise<PathState> {
    return (await this.#find(tree, path.split('/')))?.state ?? null
  }

  /**
   * Contract: every path that differs, folders included, with what was and is there. Of a path that one of the two left
   * out, nothing is known, so it is no change; neither is another time.
   */
  async changes(before: string, after: string): Promise<ReadonlyMap<string, Change>> {
    const found = new Map<string, Change>()
    await this.#compare(before, after, '', found)
    return found
  }

  /** Contract: what the snapshot left out, by path. */
  async omitted(tree: string, path = ''): Promise<ReadonlyMap<string, Omission>> {
    const { entries, omitted } = await this.#folder(tree)
    const found = new Map([...omitted].map(([name, why]) => [`${path}${name}`, why]))
    for (const [name, { tree: sub }] of entries)
      if (sub !== undefined) for (const [at, why] of await this.omitted(sub, `${path}${name}/`)) found.set(at, why)
    return found
  }

  /** Contract: the content of a file or the target of a link; null for anything else. */
  async content(state: PathState): Promise<Buffer | null> {
    const id = state === null || state.startsWith('d') ? undefined : state.split(' ').at(-1)
    return id === undefined ? null : this.#store.readBlob(id)
  }

  async #find(tree: string, [name = '', ...rest]: readonly string[]): Promise<FolderEntry | undefined> {
    const entry = (await this.#folder(tree)).entries.get(name)
    if (rest.length === 0) return entry
    return entry?.tree === undefined ? undefined : this.#find(entry.tree, rest)
  }

  #folder(tree: string): Promise<Folder> {
    const read = this.#folders.get(tree) ?? this.#read(tree)
    this.#folders.set(tree, read)
    return read
  }

  async #read(tree: string): Promise<Folder> {
    const stored = await this.#store.readTree(tree)
    const modes = await readNotes(this.#store, stored, MODES_ENTRY)
    const times = await readNotes(this.#store, stored, TIMES_ENTRY)
    const omitted = await readNotes(this.#store, stored, OMITTED_ENTRY)
    const entries = new Map<string, FolderEntry>()
    for (const { mode, name: storedName, id } of stored) {
      if (isReserved(storedName)) continue
      const name = nameKey(toRealName(storedName))
      const bits = modes.get(name) ?? (mode === '100644' ? '644' : '755')
      if (mode === '40000') entries.set(name, { tree: id, state: `d ${bits}` })
      else if (mode === '120000') entries.set(name, { state: `l ${id}` })
      else entries.set(name, { state: `f ${bits} ${id}`, time: timeOf(times.get(name)) })
    }
    return { entries, omitted: omitted as ReadonlyMap<string, Omission> }
  }

  async #compare(
    before: string | undefined,
    after: string | undefined,
    path: string,
    found: Map<string, Change>,
  ): Promise<void> {
    if (before === after) return
    const [old, present] = [await this.#folderOrNone(before), await this.#folderOrNone(after)]
    for (const name of new Set([...old.entries.keys(), ...present.entries.keys()])) {
      if (old.omitted.has(name) || present.omitted.has(name)) continue
      const [a, b] = [old.entries.get(name), present.entries.get(name)]
      if (a?.state !== b?.state)
        found.set(`${path}${name}`, {
          before: a?.state ?? null,
          after: b?.state ?? null,
          ...(a?.time !== undefined && { beforeTime: a.time }),
          ...(b?.time !== undefined && { afterTime: b.time }),
        })
      if (a?.tree !== b?.tree) await this.#compare(a?.tree, b?.tree, `${path}${name}/`, found)
    }
  }

  async #folderOrNone(tree: string | undefined): Promise<Folder> {
    return tree === undefined ? NO_FOLDER : this.#folder(tree)
  }
}

const timeOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))

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
