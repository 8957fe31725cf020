/** Writes a stored tree into a folder that nothing else uses: the workspace of a fork. */

import { chmod, mkdir, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { isReserved, MODES_ENTRY, nameKey, OMITTED_ENTRY, TIMES_ENTRY, toRealName } from './entry-names.ts'
import type { ObjectStore } from './object-store.ts'
import { readNotes } from './workspace-tree.ts'

/** Contract: afterwards the folder contains exactly the tree, and what it left out or `keep` names, as it was. */
export async function restoreTree(
  store: ObjectStore,
  tree: string,
  folder: string,
  keep: readonly string[] = [],
): Promise<void> {
  await restoreFolder({ store, keep }, tree, Buffer.from(folder))
}

interface Restoring {
  readonly store: ObjectStore
  readonly keep: readonly string[]
}

async function restoreFolder({ store, keep }: Restoring, tree: string, folder: Buffer): Promise<void> {
  const entries = await store.readTree(tree)
  const modes = await readNotes(store, entries, MODES_ENTRY)
  const times = await readNotes(store, entries, TIMES_ENTRY)
  const omitted = await readNotes(store, entries, OMITTED_ENTRY)
  await mkdir(folder, { recursive: true })
  const folders = new Set(entries.filter(({ mode }) => mode === '40000').map(({ name }) => nameKey(toRealName(name))))
  for (const entry of await readdir(folder, { withFileTypes: true, encoding: 'buffer' })) {
    const name = nameKey(entry.name)
    // A folder of the tree is cleaned when it is restored: it may have entries that the tree left out.
    if (omitted.has(name) || keep.includes(name) || (entry.isDirectory() && folders.has(name))) continue
    await rm(join(folder, entry.name) as never, { recursive: true, force: true })
  }
  for (const { mode, name: stored, id } of entries) {
    if (isReserved(stored)) continue
    const name = toRealName(stored)
    const path = join(folder, name)
    const bits = modes.get(nameKey(name))
    if (mode === '40000') await restoreFolder({ store, keep }, id, path)
    else if (mode === '120000') await symlink(await store.readBlob(id), path)
    else await writeFile(path, await store.readBlob(id), { flag: 'wx' })
    if (mode === '120000') continue
    await chmod(path, bits === undefined ? DEFAULT_BITS[mode] : Number.parseInt(bits, 8))
    const seconds = Number(times.get(nameKey(name))) / 1000
    if (Number.isFinite(seconds)) await utimes(path, seconds, seconds)
  }
}

const DEFAULT_BITS = { '100644': 0o644, '100755': 0o755, '40000': 0o755 } as const

const join = (folder: Buffer, name: Buffer): Buffer => Buffer.concat([folder, Buffer.from('/'), name])
