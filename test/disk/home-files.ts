/** The files of a home or workspace that people, commands and agents write. */

import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const PATHS = ['secrets.json', 'tireless.yaml', 'token', '*.md', 'agents/**', 'kernels/**', 'plugins/**']

/** By path. When a secret was set differs in each run, and is left out. */
export function readFilesOf(root: string): ReadonlyMap<string, string> {
  const found = globSync(PATHS, { cwd: root }).filter((path) => statSync(join(root, path)).isFile())
  const names = found.filter((path) => !/(^|\/)\.[^/]*$/.test(path)).toSorted()
  return new Map(
    names.map((path) => [path, readFileSync(join(root, path), 'utf8').replaceAll(/"set_at": "[^"]*"/g, '"set_at"')]),
  )
}

type Files = ReadonlyMap<string, string>

export interface FileChange {
  /** `mixed`: some are old and some new, each of them wholly. */
  readonly files: 'old' | 'new' | 'mixed' | 'wrong'
  readonly differs: readonly string[]
}

/** `expected`: the files after the same work without trouble. */
export function compareFiles(before: Files, now: Files, expected: Files): FileChange {
  const paths = [...new Set([...before.keys(), ...expected.keys(), ...now.keys()])]
  const isOld = (path: string): boolean => now.get(path) === before.get(path)
  const isNew = (path: string): boolean => now.get(path) === expected.get(path)
  const wrong = paths.filter((path) => !isOld(path) && !isNew(path))
  if (wrong.length > 0) return { files: 'wrong', differs: wrong }
  const files = paths.every(isNew) ? 'new' : paths.every(isOld) ? 'old' : 'mixed'
  return { files, differs: paths.filter((path) => !isOld(path)) }
}
