/** Compares two trees of the object store, and reads one file of a tree. Equal subtrees are not read. */

import type { ObjectStore, TreeEntry } from './object-store.ts'

const isFolder = (entry: TreeEntry | undefined): boolean => entry?.mode === '40000'

/** Contract: paths of files that were added, changed or removed, sorted. */
export async function changedPaths(store: ObjectStore, before: string, after: string): Promise<readonly string[]> {
  const found: string[] = []
  await compareFolders(store, before, after, { path: '', found })
  return found.sort()
}

interface Comparison {
  /** Of the folder; empty, or ends with a slash. */
  readonly path: string
  readonly found: string[]
}

async function compareFolders(
  store: ObjectStore,
  before: string | undefined,
  after: string | undefined,
  { path, found }: Comparison,
): Promise<void> {
  if (before === after) return
  const [old, present] = [await entriesOf(store, before), await entriesOf(store, after)]
  for (const name of new Set([...old.keys(), ...present.keys()])) {
    const [a, b] = [old.get(name), present.get(name)]
    if (a?.id === b?.id && a?.mode === b?.mode) continue
    const [folderBefore, folderAfter] = [isFolder(a) ? a?.id : undefined, isFolder(b) ? b?.id : undefined]
    if (isFolder(a) || isFolder(b))
      await compareFolders(store, folderBefore, folderAfter, { path: `${path}${name}/`, found })
    if ((a && !isFolder(a)) || (b && !isFolder(b))) found.push(`${path}${name}`)
  }
}

async function entriesOf(store: ObjectStore, tree: string | undefined): Promise<ReadonlyMap<string, TreeEntry>> {
  const entries = tree === undefined ? [] : await store.readTree(tree)
  return new Map(entries.map((entry) => [entry.name.toString(), entry]))
}

/** Contract: null if the tree has no such file. A link is not followed. */
export async function readFileIn(store: ObjectStore, tree: string, path: string): Promise<Uint8Array | null> {
  const [name = '', ...rest] = path.split('/').filter((part) => part !== '' && part !== '.')
  const entry = (await entriesOf(store, tree)).get(name)
  if (!entry) return null
  if (rest.length > 0) return isFolder(entry) ? readFileIn(store, entry.id, rest.join('/')) : null
  return isFolder(entry) || entry.mode === '120000' ? null : store.readBlob(entry.id)
}
