/**
 * The files that people send, in workspaces. Agents write in the same folders, so every folder of a path is opened
 * without following links.
 */

import { constants } from 'node:fs'
import { lstat, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { TirelessError } from '../../domain/error.ts'
import { createFolders } from '../../ports/create-folders.ts'
import type { ReceivedFiles } from '../../ports/received-files.ts'
import { describeSystemError, errno, pathRefused } from './host/file-errors.ts'
import { createRootedFolders, type OpenFolder } from './host/rooted-folders.ts'
import { protectionReason } from './protected-names.ts'

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/** An unfinished file; it gets its name when it is whole. */
const PART = '.part'
const MAX_COUNTED = 10_000

export const receivedFiles: ReceivedFiles = { save: saveFile, copy: copyFile, sizeOf }

async function saveFile(workspace: string, names: readonly string[], bytes: Uint8Array): Promise<void> {
  const protection = protectionReason(names)
  if (protection !== undefined) throw pathRefused(names.join('/'), protection)
  await using folder = await openFolder(workspace, names, true)
  const name = names.at(-1) ?? ''
  const part = folder.systemPathOf(`${name}${PART}`)
  await rm(part, { force: true, recursive: true })
  const handle = await open(part, CREATE, 0o600)
  try {
    await folder.assertInside({ handle, name: `${name}${PART}` })
    await handle.writeFile(bytes)
    await handle.sync()
  } catch (thrown) {
    await rm(part, { force: true })
    throw await describeSystemError(thrown, part, names.join('/'))
  } finally {
    await handle.close()
  }
  // A link of this name is replaced, not followed.
  await rename(part, folder.systemPathOf(name))
  await folder.handle.sync()
}

async function copyFile(from: string, to: string, names: readonly string[]): Promise<void> {
  if (from === to) return
  await saveFile(to, names, await readFile(from, names))
}

async function readFile(workspace: string, names: readonly string[]): Promise<Uint8Array> {
  await using folder = await openFolder(workspace, names, false)
  const name = names.at(-1) ?? ''
  const handle = await open(folder.systemPathOf(name), READ).catch((cause: unknown) => {
    throw errno(cause) === 'ENOENT' ? missing(names) : pathRefused(names.join('/'), 'it is a link or cannot be read')
  })
  try {
    await folder.assertInside({ handle, name })
    const { nlink, size } = await handle.stat()
    if (nlink !== 1 || !(await handle.stat()).isFile()) throw pathRefused(names.join('/'), 'it is no plain file')
    return size === 0 ? new Uint8Array() : await handle.readFile()
  } finally {
    await handle.close()
  }
}

async function openFolder(workspace: string, names: readonly string[], create: boolean): Promise<OpenFolder> {
  // The folder of a session is made when it is first needed.
  if (create) await createFolders(workspace)
  const folder = await createRootedFolders(await realpath(workspace)).open(names.slice(0, -1), create)
  if (!folder) throw missing(names)
  return folder
}

const missing = (names: readonly string[]): TirelessError =>
  new TirelessError('not_found', { what: 'the received file is gone', got: names.join('/') })

/** A link in the place of the folder is not followed: it has no size here, and nothing can be saved there. */
async function sizeOf(workspace: string, names: readonly string[]): Promise<number> {
  const root = join(workspace, ...names)
  const isFolder = await lstat(root).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) return 0
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => [])
  const sizes = entries
    .filter((entry) => entry.isFile())
    .slice(0, MAX_COUNTED)
    .map(async ({ parentPath, name }) => (await stat(join(parentPath, name)).catch(() => ({ size: 0 }))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
