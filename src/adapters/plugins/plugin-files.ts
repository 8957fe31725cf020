/**
 * Reads all files of a plugin at once: the bytes that are hashed are the bytes that run, whatever happens to the files
 * meanwhile.
 */

import { hash } from 'node:crypto'
import { constants, type Dirent } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { TirelessError } from '../../domain/error.ts'

const MOST_FILES = 1000
const MOST_BYTES = 16 * 1024 * 1024

export interface PluginFiles {
  /** Absolute path of the plugin's folder; for a single file, of the folder that holds it. */
  readonly root: string
  /** Contents by path, relative to `root`, with forward slashes. */
  readonly files: ReadonlyMap<string, Buffer>
  /** SHA-256 of each file, by path. */
  readonly hashes: Readonly<Record<string, string>>
  /** SHA-256 over all paths and contents. */
  readonly digest: string
  /** The plugin is one file, which may import none beside it. */
  readonly isSingleFile: boolean
}

/** Contract: throws `plugin_invalid` for a link, a device, or too many files or bytes; `where`: the plugin's source. */
export async function readPluginFiles(path: string, where: string): Promise<PluginFiles> {
  const found = await lstat(path).catch(() => undefined)
  if (!found)
    throw new TirelessError('plugin_invalid', {
      ...{ what: 'the plugin does not exist', where, got: path, fix: 'correct `plugins` in the configuration' },
    })
  if (found.isFile()) {
    const bytes = await readPlainFile(path, where)
    return collect(dirname(path), new Map([[basename(path), bytes]]), true)
  }
  if (!found.isDirectory()) throw refused(where, `${path} is neither a file nor a folder`, 'a file or folder, no link')
  return collect(path, await readFolder(path, where), false)
}

function collect(root: string, files: ReadonlyMap<string, Buffer>, isSingleFile: boolean): PluginFiles {
  const hashes = Object.fromEntries([...files].map(([path, bytes]) => [path, hash('sha256', bytes)]))
  return { root, files, hashes, digest: hash('sha256', JSON.stringify(Object.entries(hashes))), isSingleFile }
}

async function readFolder(root: string, where: string): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>()
  let bytes = 0
  async function visit(below: string): Promise<void> {
    const entries = await readdir(join(root, below), { withFileTypes: true })
    for (const entry of entries.toSorted(byName)) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (isIgnored(path)) continue
      if (entry.isDirectory()) await visit(path)
      else if (entry.isFile()) {
        const content = await readPlainFile(join(root, path), where)
        bytes += content.length
        files.set(path, content)
      } else throw refused(where, `${path} is neither a file nor a folder`, 'only files and folders, no links')
      if (files.size > MOST_FILES || bytes > MOST_BYTES)
        throw refused(where, 'the plugin is too large', `at most ${MOST_FILES} files and ${MOST_BYTES} bytes`)
    }
  }
  await visit('')
  return files
}

/** Folders that no module is loaded from: git's own, and the links to programs that npm makes. */
const isIgnored = (path: string): boolean => path === '.git' || /(^|\/)node_modules\/\.bin$/.test(path)

/** Refuses links, pipes and devices, also if they take the place of the file in the meantime. */
async function readPlainFile(path: string, where: string): Promise<Buffer> {
  await using handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const stat = await handle.stat()
  if (!stat.isFile()) throw refused(where, `${path} is not a file`, 'a plain file')
  if (stat.size > MOST_BYTES) throw refused(where, `${path} is too large`, `at most ${MOST_BYTES} bytes`)
  return handle.readFile()
}

const byName = (a: Dirent, b: Dirent): number => (a.name < b.name ? -1 : 1)

const refused = (where: string, what: string, expected: string): TirelessError =>
  new TirelessError('plugin_invalid', { what, where, expected })
