/**
 * Opens the folders of a path one by one, each inside the open handle of its parent, so that no attacker can replace a
 * parent between check and use. On Linux, `/proc/self/fd/N/name` does this, like openat(2). On other systems the real
 * path is checked after each opening, which makes such an attack less likely but still possible.
 * All symbolic links are refused, even links that stay inside the root, because a link may change at any time.
 */

import { constants, existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, readlink, realpath } from 'node:fs/promises'
import { TirelessError } from '../../../domain/error.ts'
import { describeSystemError, errno, pathRefused } from './file-errors.ts'
import { isInside } from './split-path.ts'

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK

export interface OpenFolder extends AsyncDisposable {
  readonly handle: FileHandle
  /** Relative to the root; empty for the root itself. */
  readonly path: string
  /** Path of the open folder for system calls; `systemPathOf` gives the path of an entry in it. */
  readonly systemPath: string
  systemPathOf(name: string): string
  /** The path of the entry `name`, relative to the root. */
  pathOf(name: string): string
  /** Contract: throws `path_refused` if the folder, or the file opened in it, is not inside the root now. */
  assertInside(opened?: { readonly handle: FileHandle; readonly name: string }): Promise<void>
}

export interface RootedFolders {
  /** Contract: opens the folder; undefined if it does not exist and `create` is not set. */
  open(names: readonly string[], create?: boolean): Promise<OpenFolder | undefined>
  openChild(folder: OpenFolder, name: string): Promise<OpenFolder | undefined>
}

/** `root` must be a path without symbolic links. `anchored`: `/proc/self/fd` is available. */
export function createRootedFolders(root: string, anchored = existsSync('/proc/self/fd')): RootedFolders {
  const anchor: Anchor = { root, anchored }

  async function child(folder: OpenFolder, name: string, create = false): Promise<OpenFolder | undefined> {
    try {
      return await openFolder(anchor, folder.systemPathOf(name), folder.pathOf(name))
    } catch (error) {
      if (errno(error) !== 'ENOENT')
        throw await describeSystemError(error, folder.systemPathOf(name), folder.pathOf(name))
    }
    if (!create) return undefined
    try {
      await mkdir(folder.systemPathOf(name))
      await folder.handle.sync()
    } catch (error) {
      if (errno(error) !== 'EEXIST')
        throw await describeSystemError(error, folder.systemPathOf(name), folder.pathOf(name))
    }
    return child(folder, name)
  }

  async function enter(names: readonly string[], create = false): Promise<OpenFolder | undefined> {
    let folder: OpenFolder | undefined = await openRoot()
    for (const name of names) {
      await using parent: OpenFolder = folder
      folder = await child(parent, name, create)
      if (!folder) return undefined
    }
    return folder
  }

  async function openRoot(): Promise<OpenFolder> {
    try {
      return await openFolder(anchor, root, '')
    } catch (error) {
      throw new TirelessError('tool_failed', { what: 'the workspace cannot be opened', where: root }, { cause: error })
    }
  }

  return { open: enter, openChild: child }
}

interface Anchor {
  readonly root: string
  readonly anchored: boolean
}

/** Contract: opens the folder at the system path `at`; throws if it is not inside the root. */
async function openFolder({ root, anchored }: Anchor, at: string, path: string): Promise<OpenFolder> {
  const handle = await open(at, FOLDER)
  const real = path === '' ? root : `${root}/${path}`
  const place = anchored ? `/proc/self/fd/${handle.fd}` : real
  const folder: OpenFolder = {
    handle,
    path,
    systemPath: place,
    systemPathOf: (name) => `${place}/${name}`,
    pathOf: (name) => (path === '' ? name : `${path}/${name}`),
    async assertInside(opened) {
      const where = anchored
        ? await readlink(`/proc/self/fd/${(opened?.handle ?? handle).fd}`)
        : await realpath(opened ? `${real}/${opened.name}` : real)
      if (!isInside(root, where)) throw pathRefused(path, 'the path is outside the workspace', { got: where })
    },
    [Symbol.asyncDispose]: () => handle.close(),
  }
  try {
    await folder.assertInside()
    return folder
  } catch (error) {
    await handle.close()
    throw error
  }
}
