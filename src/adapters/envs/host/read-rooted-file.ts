/** Reads one file of a workspace for people, with the checks of the tools. */

import { existsSync } from 'node:fs'
import { TirelessError } from '../../../domain/error.ts'
import { readRootedContent } from './rooted-files.ts'
import { createRootedFolders } from './rooted-folders.ts'

/**
 * Contract: as `FileOps.read`, for files that are no text. `root` must be a path without symbolic links; a workspace
 * that no run has opened yet has no files.
 */
export async function readRootedFile(root: string, path: string): Promise<Buffer | undefined> {
  const workspace = { root, folders: createRootedFolders(root) }
  try {
    return (await readRootedContent(workspace, path))?.bytes
  } catch (error) {
    if (error instanceof TirelessError && error.code === 'tool_failed' && !existsSync(root)) return undefined
    throw error
  }
}
