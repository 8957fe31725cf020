/** Removes the folders of deleted runs. Folders that outlive runs (those of agents, git worktrees) are kept. */

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Contract: never rejects; what cannot be removed stays. `workspaces`: the folder with one folder per session. */
export async function removeRunFolders(workspaces: string, runs: readonly string[]): Promise<void> {
  const folders = await readdir(workspaces).catch(() => [])
  for (const name of folders) {
    if (!runs.some((run) => name.endsWith(`-${run}`))) continue
    const folder = join(workspaces, name)
    const entries = await readdir(folder).catch(() => ['.git'])
    // A git worktree may contain work that is nowhere else.
    if (!entries.includes('.git')) await rm(folder, { recursive: true, force: true }).catch(() => {})
  }
}
