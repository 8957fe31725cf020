/**
 * Writes single paths of a workspace. Never follows a link: a folder on the way that is not a real one refuses the
 * path. Every file is replaced as a whole, so that a kill leaves the old or the new one.
 */

import { chmod, lstat, mkdir, rename, rm, rmdir, symlink, writeFile } from 'node:fs/promises'
import type { PathState } from '../../../domain/path-change.ts'

/** Bytes as text, with `/` between names, as snapshots name paths. */
const locate = (root: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(root), Buffer.from('/'), Buffer.from(path, 'latin1')])

/** Name of a file that is not complete. */
const UNFINISHED = '.tireless-unfinished'

/** Contract: true if every folder on the way to the path is a real one; creates missing ones if `creates`. */
async function hasRealParents(root: string, path: string, creates: boolean): Promise<boolean> {
  const names = path.split('/').slice(0, -1)
  for (const [at] of names.entries()) {
    const folder = locate(root, names.slice(0, at + 1).join('/'))
    const found = await lstat(folder).catch(() => undefined)
    if (found?.isDirectory()) continue
    if (found || !creates) return false
    await mkdir(folder)
  }
  return true
}

/** Contract: removes a file or link; a folder only if it is empty. Does nothing if there is none. */
export async function removePath(root: string, path: string): Promise<void> {
  if (!(await hasRealParents(root, path, false))) return
  const at = locate(root, path)
  const found = await lstat(at).catch(() => undefined)
  if (found?.isDirectory()) await rmdir(at).catch(() => {})
  else if (found) await rm(at, { force: true })
}

/** Contract: false if something on the way is no folder, or a folder is in the place; nothing was changed then. */
export async function writePath(
  root: string,
  path: string,
  state: Exclude<PathState, null>,
  content: Uint8Array,
): Promise<boolean> {
  if (!(await hasRealParents(root, path, true))) return false
  const [kind = '', bits = '755'] = state.split(' ')
  const at = locate(root, path)
  const isThereFolder = (await lstat(at).catch(() => undefined))?.isDirectory() ?? false
  if (kind === 'd') {
    if (!isThereFolder) await mkdir(at)
    return true
  }
  if (isThereFolder) return false
  const unfinished = locate(root, `${path.slice(0, path.lastIndexOf('/') + 1)}${UNFINISHED}`)
  await rm(unfinished, { force: true })
  if (kind === 'l') await symlink(Buffer.from(content), unfinished)
  else {
    await writeFile(unfinished, content, { flag: 'wx' })
    await chmod(unfinished, Number.parseInt(bits, 8))
  }
  await rename(unfinished, at)
  return true
}
