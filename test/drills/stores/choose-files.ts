/** Which test files the drill runs: those that may open a home, except those that cannot run on PostgreSQL. */

import { posix } from 'node:path'
import { readCode } from '../../architecture/read-tree.ts'
import { importsOf, withoutTypes } from '../../architecture/source.ts'
import { FILES_LEFT_OUT } from './left-out.ts'

/** A file opens homes if its imports lead to one of these: the program itself, or the path of its command line. */
const WITH_HOMES = new Set(['src/app.ts', 'test/crash/kills.ts'])

interface ChosenFiles {
  readonly run: readonly string[]
  /** By reason. */
  readonly leftOut: ReadonlyMap<string, readonly string[]>
}

/** `patterns`: globs; none: those of `npm test`, or with `long` those of `npm run proofs`. */
export function chooseFiles(patterns: readonly string[], long = false): ChosenFiles {
  const code = readCode()
  const isLong = (path: string): boolean => code.get('scripts/long-tests.mjs')?.includes(`'${path}'`) === true
  const asked = (path: string): boolean =>
    patterns.length === 0 ? isLong(path) === long : patterns.some((pattern) => posix.matchesGlob(path, pattern))
  const run: string[] = []
  const leftOut = new Map<string, string[]>()
  for (const path of code.keys()) {
    if (!path.endsWith('.test.ts') || !asked(path) || !opensHomes(path, code)) continue
    const reason = reasonAgainst(path)
    if (reason === undefined) run.push(path)
    else leftOut.set(reason, [...(leftOut.get(reason) ?? []), path])
  }
  return { run, leftOut }
}

/** Contract: entries of the list that name no file. */
export function findStaleFiles(): readonly string[] {
  const paths = [...readCode().keys()]
  return Object.keys(FILES_LEFT_OUT).filter((entry) => !paths.some((path) => isNamed(path, entry)))
}

const reasonAgainst = (path: string): string | undefined =>
  Object.entries(FILES_LEFT_OUT).find(([entry]) => isNamed(path, entry))?.[1]

const isNamed = (path: string, entry: string): boolean =>
  entry.endsWith('/') ? path.startsWith(entry) : path === entry

function opensHomes(file: string, code: ReadonlyMap<string, string>): boolean {
  const seen = new Set([file])
  // The set grows while it is walked.
  for (const path of seen) {
    if (WITH_HOMES.has(path)) return true
    const source = code.get(path)
    if (source === undefined || !path.endsWith('.ts')) continue
    for (const { specifier } of importsOf(withoutTypes(source)))
      if (specifier.startsWith('.')) seen.add(posix.join(posix.dirname(path), specifier))
  }
  return false
}
