/** Renames the files of a database, so that a new one can take their place. */

import { existsSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { fsyncPath } from './fsync.ts'

/** The notes of the last commits belong to the database: beside another one, they would count as lost commits. */
const SUFFIXES = ['-wal', '-shm', '-commits', '']

/** Contract: the new path of the database; null if there was none. On disk when it returns. */
export function setDatabaseAside(file: string, to: string): string | null {
  const hadDatabase = existsSync(file)
  const free = unusedPath(to)
  for (const suffix of SUFFIXES) if (existsSync(file + suffix)) renameSync(file + suffix, free + suffix)
  fsyncPath(dirname(file))
  return hadDatabase ? free : null
}

function unusedPath(path: string): string {
  for (let i = 1; ; i += 1) {
    const name = i === 1 ? path : path.replace(/\.db$/, `-${i}.db`)
    if (!existsSync(name)) return name
  }
}
