/**
 * Opens folders below a root one by one and keeps them open: a name is looked up in the folder that was checked.
 * On Linux, `/proc/self/fd/N/name` works like openat(2): each step refuses links, so replacing a parent has no effect.
 * Elsewhere the real path is checked after each opening, which makes such a race less likely but still possible.
 * All symbolic links are refused, even those to the inside, because a link may change between two steps.
 */

import { constants, existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, readlink, realpath } from 'node:fs/promises'
import { TirelessError } from '../../../domain/error.ts'
import { isInside } from './paths.ts'
import { errno, explained, refused } from './refusal.ts'

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK

export interface Folder extends AsyncDisposable {
  readonly handle: FileHandle
  /** Relative to the root; empty for the root itself. */
  readonly path: string
  /** Path of the open folder for system calls; `at` gives the path of a name in it. */
  readonly place: string
  at(name: string): string
  /** The path of `name` relative to the root. */
  below(name: string): string
  /** Contract: throws `path_refused` if the folder, or the file opened in it, is not inside the root now. */
  confirm(opened?: { readonly handle: FileHandle; readonly name: string }): Promise<void>
}

export interface Folders {
  /** Contract: opens the folder; undefined if it does not exist and `create` is not set. */
  enter(names: readonly string[], create?: boolean): Promise<Folder | undefined>
  child(folder: Folder, name: string): Promise<Folder | undefined>
}

/** `root` must be a real path. */
export function rootedFolders(root: string, anchored = existsSync('/proc/self/fd')): Folders {
  async function openFolder(at: string, path: string): Promise<Folder> {
    const handle = await open(at, FOLDER)
    const real = path === '' ? root : `${root}/${path}`
    const place = anchored ? `/proc/self/fd/${handle.fd}` : real
    const folder: Folder = {
      handle,
      path,
      place,
      at: (name) => `${place}/${name}`,
      below: (name) => (path === '' ? name : `${path}/${name}`),
      async confirm(opened) {
        const where = anchored
          ? await readlink(`/proc/self/fd/${(opened?.handle ?? handle).fd}`)
          : await realpath(opened ? `${real}/${opened.name}` : real)
        if (!isInside(root, where)) throw refused(path, 'outside the workspace', { got: where })
      },
      [Symbol.asyncDispose]: () => handle.close(),
    }
    try {
      await folder.confirm()
      return folder
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  async function child(folder: Folder, name: string, create = false): Promise<Folder | undefined> {
    try {
      return await openFolder(folder.at(name), folder.below(name))
    } catch (error) {
      if (errno(error) !== 'ENOENT') throw await explained(error, folder.at(name), folder.below(name))
    }
    if (!create) return undefined
    try {
      await mkdir(folder.at(name))
      await folder.handle.sync()
    } catch (error) {
      if (errno(error) !== 'EEXIST') throw await explained(error, folder.at(name), folder.below(name))
    }
    return child(folder, name)
  }

  async function enter(names: readonly string[], create = false): Promise<Folder | undefined> {
    let folder: Folder | undefined = await openRoot()
    for (const name of names) {
      await using parent: Folder = folder
      folder = await child(parent, name, create)
      if (!folder) return undefined
    }
    return folder
  }

  async function openRoot(): Promise<Folder> {
    try {
      return await openFolder(root, '')
    } catch (error) {
      throw new TirelessError('tool_failed', { what: 'the workspace cannot be opened', where: root }, { cause: error })
    }
  }

  return { enter, child }
}
