/** Reads all files of a skill at once, so the hashed bytes are the bytes that are shown. */

import { hash } from 'node:crypto'
import { constants, type Dirent } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { TirelessError } from '../../domain/error.ts'

const MOST_FILES = 200
const MOST_BYTES = 2 * 1024 * 1024

export interface SkillFile {
  /** Relative to the skill's folder, with forward slashes. */
  readonly path: string
  readonly mode: number
  readonly bytes: Buffer
}

export interface SkillContents {
  readonly files: readonly SkillFile[]
  /** SHA-256 over all names, modes and contents. */
  readonly digest: string
}

/** Contract: throws `conflict` for a link, a device, or too many files or bytes. */
export async function readSkillFolder(folder: string): Promise<SkillContents> {
  const files: SkillFile[] = []
  const folders: { readonly path: string; readonly mode: number }[] = []
  let bytes = 0

  async function visitFolder(below: string): Promise<void> {
    const entries = await readdir(join(folder, below), { withFileTypes: true })
    for (const entry of entries.toSorted(byName)) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory()) {
        folders.push({ path, mode: (await lstat(join(folder, path))).mode & 0o777 })
        await visitFolder(path)
      } else if (entry.isFile()) {
        const file = await readFile(folder, path)
        bytes += file.bytes.length
        files.push(file)
      } else throw invalidSkill(folder, `${path} is neither a file nor a folder`, 'only files and folders, no links')
      if (files.length > MOST_FILES || bytes > MOST_BYTES)
        throw invalidSkill(folder, 'the skill is too large', `at most ${MOST_FILES} files and ${MOST_BYTES} bytes`)
    }
  }

  if (!(await lstat(folder)).isDirectory()) throw invalidSkill(folder, 'not a folder', 'a folder, not a link to one')
  await visitFolder('')
  const fileDigests = files.map(({ path, mode, bytes: content }) => [path, mode, hash('sha256', content)])
  return { files, digest: hash('sha256', JSON.stringify([fileDigests, folders])) }
}

/** Contract: as readSkillFolder, for a single file. */
export async function readSkillFile(folder: string, name: string): Promise<SkillContents> {
  const file = await readFile(folder, name)
  return { files: [file], digest: hash('sha256', JSON.stringify([name, hash('sha256', file.bytes)])) }
}

/** Refuses links, pipes and devices. */
async function readFile(folder: string, path: string): Promise<SkillFile> {
  await using handle = await open(join(folder, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const stat = await handle.stat()
  if (!stat.isFile()) throw invalidSkill(folder, `${path} is not a file`, 'a plain file')
  if (stat.size > MOST_BYTES) throw invalidSkill(folder, `${path} is too large`, `at most ${MOST_BYTES} bytes`)
  return { path, mode: stat.mode & 0o777, bytes: await handle.readFile() }
}

const byName = (a: Dirent, b: Dirent): number => (a.name < b.name ? -1 : 1)

const invalidSkill = (where: string, what: string, expected: string): TirelessError =>
  new TirelessError('conflict', { what, where, expected })
