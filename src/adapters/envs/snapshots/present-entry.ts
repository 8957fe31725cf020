/** What is at a path of a workspace now, in the words of snapshots. Reads only that path, and writes nothing. */

import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync, type Stats } from 'node:fs'
import type { PathState } from '../../../domain/path-change.ts'

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const CHUNK = 1024 * 1024

interface PresentEntry {
  readonly state: PathState
  /** Undefined: nothing is there. */
  readonly stats: Stats | undefined
}

/** `at`: for system calls. What has no content (a socket, a device) has a state that no snapshot has. */
export function readPresentEntry(at: Buffer): PresentEntry {
  const stats = lstatSync(at, { throwIfNoEntry: false })
  if (!stats) return { state: null, stats }
  const bits = (stats.mode & 0o7777).toString(8).padStart(3, '0')
  if (stats.isDirectory()) return { state: `d ${bits}`, stats }
  if (stats.isSymbolicLink()) return { state: `l ${blobId(readlinkSync(at, { encoding: 'buffer' }))}`, stats }
  return { state: stats.isFile() ? `f ${bits} ${blobIdOfFile(at)}` : 'other', stats }
}

/** Contract: pure; the id under which git, and so a snapshot, stores the content. */
export const blobId = (content: Uint8Array): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')

function blobIdOfFile(at: Buffer): string {
  const file = openSync(at, READ)
  try {
    const hash = createHash('sha1').update(`blob ${fstatSync(file).size}\0`)
    const chunk = Buffer.alloc(CHUNK)
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) hash.update(chunk.subarray(0, read))
    return hash.digest('hex')
  } finally {
    closeSync(file)
  }
}

/** Contract: pure; names one file as long as it exists, whatever is written into it. */
export const fileIdentity = ({ ino, birthtimeMs }: Pick<Stats, 'ino' | 'birthtimeMs'>): string =>
  `${ino} ${birthtimeMs}`
