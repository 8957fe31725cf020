/**
 * The folders of workspaces in the home. A folder with files in it goes only when its owner removes it: deliverables
 * outlive the runs that made them. Removed ones are kept for some days.
 */

import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { lstat, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { TirelessError } from '../../domain/error.ts'
import { parseJson } from '../../domain/json.ts'
import { SUB_AGENTS_FOLDER } from '../../domain/sub-agent.ts'
import { replaceFile } from '../../files/whole-files.ts'
import type { RemovedWorkspace, WorkspaceFolders } from '../../ports/workspace-folders.ts'

const DAY_MS = 86_400_000
/** In days of borne-out time. */
const KEPT_REMOVED_DAYS = 7

interface Folders {
  readonly root: string
  /** One folder per workspace. */
  readonly workspaces: string
  /** Folder of the removed ones: one per removal, with `note.json` and `files`. */
  readonly removed: string
}

export function createWorkspaceFolders({ root, workspaces, removed: kept }: Folders): WorkspaceFolders {
  const noteOf = (id: string): RemovedWorkspace | undefined => readNote(root, join(kept, id))
  const list: WorkspaceFolders['list'] = async () => {
    const own = (await foldersIn(workspaces)).filter((path) => path !== join(workspaces, SUB_AGENTS_FOLDER))
    return [...own, ...(await foldersIn(join(workspaces, SUB_AGENTS_FOLDER)))].toSorted()
  }
  return {
    list,
    size: sizeOf,
    has: async (workspace) => (await list()).includes(workspace),
    async remove(given) {
      const note = { ...given, until: given.removed_at + KEPT_REMOVED_DAYS * DAY_MS }
      const folder = join(kept, given.id)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeNote(root, folder, note)
      try {
        await rename(given.workspace, join(folder, 'files'))
      } catch (cause) {
        await rm(folder, { recursive: true, force: true })
        throw notMoved(given.workspace, cause)
      }
      return note
    },
    delete: (workspace) => rm(workspace, { recursive: true, force: true }),
    async removed() {
      const ids = await readdir(kept).catch(() => [])
      return ids.flatMap((id) => noteOf(id) ?? []).toSorted((a, b) => b.removed_at - a.removed_at)
    },
    async bringBack(id) {
      const note = noteOf(id)
      if (note === undefined)
        throw new TirelessError('not_found', {
          what: 'no removed workspace has this id, or its days are over',
          got: id,
          fix: 'run tireless workspace list --removed',
        })
      // An empty folder in its place was made for a later run, and holds nothing.
      await rmdir(note.workspace).catch(() => {})
      if (existsSync(note.workspace))
        throw new TirelessError('conflict', {
          what: 'something else is where the workspace was; nothing was changed',
          where: note.workspace,
          fix: `move it away, then run tireless undo ${id} again; the removed files are in ${join(kept, id, 'files')}`,
        })
      await mkdir(dirname(note.workspace), { recursive: true, mode: 0o700 })
      await rename(join(kept, id, 'files'), note.workspace)
      await rm(join(kept, id), { recursive: true, force: true })
      return note
    },
    async deleteExpired(now) {
      const ids = await readdir(kept).catch(() => [])
      const expired = ids.flatMap((id) => noteOf(id) ?? []).filter(({ until }) => until <= now)
      for (const { id } of expired) await rm(join(kept, id), { recursive: true, force: true }).catch(() => {})
      return expired
    },
    async deleteOfRuns(runs) {
      const ids = runs.map(({ run_id }) => run_id)
      // Only if it is empty: a folder with files has results, or work that is nowhere else.
      for (const folder of ofRuns(await foldersIn(workspaces), ids)) await rmdir(folder).catch(() => {})
      const merged = runs.filter(({ isMerged }) => isMerged).map(({ run_id }) => run_id)
      const copies = await foldersIn(join(workspaces, SUB_AGENTS_FOLDER))
      for (const copy of ofRuns(copies, merged)) await rm(copy, { recursive: true, force: true }).catch(() => {})
    },
  }
}

async function sizeOf(path: string): Promise<{ readonly files: number; readonly bytes: number }> {
  const found = await lstat(path).catch(() => undefined)
  if (found?.isDirectory() !== true) return { files: found === undefined ? 0 : 1, bytes: found?.size ?? 0 }
  let [files, bytes] = [0, 0]
  for (const name of await readdir(path).catch(() => [])) {
    const inside = await sizeOf(join(path, name))
    files += inside.files
    bytes += inside.bytes
  }
  return { files, bytes }
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => [])
  const paths = names.map((name) => join(folder, name))
  const found = await Promise.all(paths.map((path) => lstat(path).catch(() => undefined)))
  return paths.filter((_, i) => found[i]?.isDirectory() || found[i]?.isSymbolicLink())
}

const ofRuns = (folders: readonly string[], runs: readonly string[]): readonly string[] =>
  folders.filter((folder) => runs.some((run) => folder.endsWith(`-${run}`)))

/** The path is stored relative to the home, which may move. */
function writeNote(root: string, folder: string, { workspace, ...note }: RemovedWorkspace): void {
  const file = join(folder, 'note.json')
  replaceFile(file, JSON.stringify({ ...note, workspace: relative(root, workspace) }))
}

function readNote(root: string, folder: string): RemovedWorkspace | undefined {
  try {
    const note = parseJson(readFileSync(join(folder, 'note.json'), 'utf8')) as unknown as RemovedWorkspace
    const isInside = !note.workspace.startsWith(`..${sep}`)
    return isInside && existsSync(join(folder, 'files'))
      ? { ...note, workspace: join(root, note.workspace) }
      : undefined
  } catch {
    return undefined
  }
}

const notMoved = (where: string, cause: unknown): TirelessError =>
  new TirelessError(
    'conflict',
    {
      what: 'the folder could not be moved away; nothing was changed',
      where,
      got: String(cause),
      fix: 'move it yourself, or run tireless workspace remove NAME --now',
    },
    { cause },
  )
