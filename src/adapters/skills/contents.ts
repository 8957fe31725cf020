/** What lies in a skill's folder, read once and whole: what is hashed is what is shown. */

import { hash } from 'node:crypto'
import { constants, type Dirent } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { TirelessError } from '../../domain/error.ts'

const MOST_FILES = 200
const MOST_BYTES = 2 * 1024 * 1024

export interface SkillFile {
  /** Below the folder, with forward slashes. */
  readonly path: string
  readonly mode: number
  readonly bytes: Buffer
}

export interface Contents {
  readonly files: readonly SkillFile[]
  /** Of all names, modes and bytes. */
  readonly digest: string
}

/** Contract: throws `conflict` where it holds something that cannot be pinned: a link, a device, too much. */
export async function contentsOf(folder: string): Promise<Contents> {
  const files: SkillFile[] = []
  const folders: { readonly path: string; readonly mode: number }[] = []
  let bytes = 0

  async function visit(below: string): Promise<void> {
    const entries = await readdir(join(folder, below), { withFileTypes: true })
    for (const entry of entries.toSorted(byName)) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory()) {
        folders.push({ path, mode: (await lstat(join(folder, path))).mode & 0o777 })
        await visit(path)
      } else if (entry.isFile()) {
        const file = await readFile(folder, path)
        bytes += file.bytes.length
        files.push(file)
      } else throw refused(folder, `${path} is neither a file nor a folder`, 'files and folders alone, no links')
      if (files.length > MOST_FILES || bytes > MOST_BYTES)
        throw refused(folder, 'it is too large', `at most ${MOST_FILES} files and ${MOST_BYTES} bytes`)
    }
  }

  if (!(await lstat(folder)).isDirectory()) throw refused(folder, 'it is no folder', 'a folder, not a link to one')
  await visit('')
  const listed = files.map(({ path, mode, bytes: content }) => [path, mode, hash('sha256', content)])
  return { files, digest: hash('sha256', JSON.stringify([listed, folders])) }
}

/** Contract: one file, pinned like a folder that holds nothing else. */
export async function fileOf(folder: string, name: string): Promise<Contents> {
  const file = await readFile(folder, name)
  return { files: [file], digest: hash('sha256', JSON.stringify([name, hash('sha256', file.bytes)])) }
}

/** Neither through a link nor from a pipe. */
async function readFile(folder: string, path: string): Promise<SkillFile> {
  await using handle = await open(join(folder, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const stat = await handle.stat()
  if (!stat.isFile()) throw refused(folder, `${path} is no file`, 'a plain file')
  if (stat.size > MOST_BYTES) throw refused(folder, `${path} is too large`, `at most ${MOST_BYTES} bytes`)
  return { path, mode: stat.mode & 0o777, bytes: await handle.readFile() }
}

const byName = (a: Dirent, b: Dirent): number => (a.name < b.name ? -1 : 1)

const refused = (where: string, what: string, expected: string): TirelessError =>
  new TirelessError('conflict', { what, where, expected })
