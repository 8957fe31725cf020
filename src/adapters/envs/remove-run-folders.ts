/** Removes the folders of deleted runs. Folders that outlive runs (those of agents, git worktrees) are kept. */

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SUB_AGENTS_FOLDER } from '../../domain/sub-agent.ts'

/** Contract: never rejects; what cannot be removed stays. `workspaces`: the folder with one folder per session. */
export async function removeRunFolders(workspaces: string, runs: readonly string[]): Promise<void> {
  for (const folder of await foldersOf(workspaces, runs)) {
    const entries = await readdir(folder).catch(() => ['.git'])
    // A git worktree may contain work that is nowhere else.
    if (!entries.includes('.git')) await remove(folder)
  }
  // The folder of a sub-agent is a copy of its parent's.
  for (const folder of await foldersOf(join(workspaces, SUB_AGENTS_FOLDER), runs)) await remove(folder)
}

async function foldersOf(workspaces: string, runs: readonly string[]): Promise<readonly string[]> {
  const names = await readdir(workspaces).catch(() => [])
  return names.filter((name) => runs.some((run) => name.endsWith(`-${run}`))).map((name) => join(workspaces, name))
}

const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true }).catch(() => {})
