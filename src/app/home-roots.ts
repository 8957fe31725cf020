/**
 * Where a home was. Each home notes its own path in a file, which goes with it when it is moved, copied or restored; so
 * it knows paths of a former place, in records and in the configuration, as its own.
 */

import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { findEarlierRoots } from '../adapters/stores/sqlite/earlier-roots.ts'
import { replaceFile } from '../files/whole-files.ts'
import type { HomePaths } from '../home.ts'
import { createStoredPaths, type StoredPaths } from '../ports/stored-paths.ts'

/** A home is not moved often; the oldest places are forgotten. */
const MAX_ROOTS = 50

/** The last one is where the home was opened last. */
const noteShape = z.object({ roots: z.array(z.string()) })

/**
 * Contract: notes where the home is now. Without a note, an earlier version wrote the home; then its former places are
 * found in its database.
 */
export function noteRoot(paths: HomePaths): StoredPaths {
  const noted = readRoots(paths)
  const known = noted ?? findEarlierRoots(paths.database)
  const roots = [...known.filter((root) => root !== paths.root), paths.root].slice(-MAX_ROOTS)
  if (noted === undefined || noted.at(-1) !== paths.root) tryToWriteRoots(paths, roots)
  return createStoredPaths(paths.root, roots.slice(0, -1))
}

/** Contract: the places of a home whose files were copied to another folder, such as a backup; `original`: the home. */
export function adoptRoots(staged: HomePaths, original: string): readonly string[] {
  const known = readRoots(staged) ?? findEarlierRoots(staged.database)
  const roots = [...known.filter((root) => root !== original), original]
  writeRoots(staged, roots)
  return roots
}

/** Contract: undefined if there is no note that can be read. */
function readRoots({ roots }: HomePaths): readonly string[] | undefined {
  try {
    return noteShape.parse(JSON.parse(readFileSync(roots, 'utf8'))).roots
  } catch {
    return undefined
  }
}

/** On a full disk the home can be read, and the next process notes where it is. */
function tryToWriteRoots(paths: HomePaths, roots: readonly string[]): void {
  try {
    writeRoots(paths, roots)
  } catch {
    // Nothing is lost: what is written from now on does not depend on the note.
  }
}

const writeRoots = ({ roots: file }: HomePaths, roots: readonly string[]): void =>
  replaceFile(file, `${JSON.stringify({ roots }, null, 2)}\n`)
