/** Copies a workspace for a sub-agent. Unlike a throw-away copy, it stays: it is the workspace of the sub-agent. */

import { mkdir, realpath, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createFolders } from '../../../ports/create-folders.ts'
import { makeThrowAwayCopy } from './throw-away-copy.ts'

interface SubAgentCopy {
  /** The folder of unfinished copies, on the same disk as `to`. */
  readonly folder: string
  readonly from: string
  readonly to: string
}

/**
 * Contract: `to` is a complete copy when it resolves; a copy that a killed process left at `to` is replaced. Links to
 * places inside lead to the same places in the copy, others to nothing.
 */
export async function copyForSubAgent({ folder, from, to }: SubAgentCopy): Promise<void> {
  await createFolders(from)
  const copy = await makeThrowAwayCopy({ folder, root: await realpath(from), links: 'cut', home: undefined })
  try {
    await rm(to, { recursive: true, force: true })
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    await rename(copy.root, to)
  } finally {
    await copy.remove()
  }
}
