/**
 * A throw-away copy of a workspace, with a copy of the home folder of its commands. It is removed when it is closed;
 * copies that a killed process left are removed at the next start.
 */

import { lstatSync, readdirSync } from 'node:fs'
import { chmod, lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { LinkRules } from './copy-link.ts'
import { copyRepository, correctGitFile } from './copy-repository.ts'
import { COPY_LIMITS, type CopyLimits, copyWorkspace } from './copy-workspace.ts'

interface CopyRequest {
  /** The folder of all copies. */
  readonly folder: string
  /** The original; a path without symbolic links. */
  readonly root: string
  readonly links: LinkRules
  /** The folder that is $HOME for the workspace's commands; undefined if they have the machine's. */
  readonly home: string | undefined
  readonly limits?: CopyLimits | undefined
}

interface ThrowAwayCopy {
  readonly root: string
  readonly home: string
  readonly digest: string
  /** Contract: idempotent, never throws. */
  remove(): Promise<void>
}

/** A larger home folder is not copied: commands then start with an empty one. */
const HOME_LIMITS: CopyLimits = { files: 20_000, bytes: 256 * 1024 * 1024 }

/** Contract: leaves nothing behind if it throws. */
export async function makeThrowAwayCopy(request: CopyRequest): Promise<ThrowAwayCopy> {
  const { folder, root, links, limits = COPY_LIMITS } = request
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const own = await mkdtemp(join(folder, 'copy-'))
  const remove = (): Promise<void> => removeCopy(own)
  try {
    const to = join(own, 'workspace')
    const hasGitFolder = (await lstat(join(root, '.git')).catch(() => undefined))?.isDirectory() ?? false
    const digest = await copyWorkspace({
      ...{ from: root, to, limits, links, without: hasGitFolder ? [] : ['.git'] },
      correctGitFile: (text, at) => correctGitFile(text, at, root),
    })
    await copyRepository(root, to, limits)
    const home = join(own, 'home')
    await copyHome(request.home, home)
    return { root: to, home, digest, remove }
  } catch (thrown) {
    await remove()
    throw thrown
  }
}

async function copyHome(from: string | undefined, to: string): Promise<void> {
  const exists = from !== undefined && (await lstat(from).catch(() => undefined))?.isDirectory()
  if (exists)
    try {
      await copyWorkspace({ from, to, limits: HOME_LIMITS, links: 'keep', without: [] })
      return
    } catch {
      await removeCopy(to)
    }
  await mkdir(to, { recursive: true, mode: 0o700 })
}

/** Contract: never throws. A command may have made folders that cannot be entered; their modes are restored first. */
async function removeCopy(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 2 })
  } catch {
    await makeRemovable(folder).catch(() => {})
    await rm(folder, { recursive: true, force: true, maxRetries: 2 }).catch(() => {})
  }
}

async function makeRemovable(folder: string): Promise<void> {
  if (!(await lstat(folder)).isDirectory()) return
  await chmod(folder, 0o700)
  for (const name of await readdir(folder)) await makeRemovable(join(folder, name))
}

/** Contract: removes what a killed process left. Call it while no copy is in use; never throws. */
export async function removeLeftCopies(folder: string): Promise<void> {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  for (const name of readdirSync(folder)) await removeCopy(join(folder, name))
}
