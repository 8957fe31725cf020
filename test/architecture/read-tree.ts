/** Reads the files of the checkout that the architecture test checks. */

import { globSync, readFileSync } from 'node:fs'
import { sep } from 'node:path'
import type { Tree } from './check.ts'

const root = new URL('../../', import.meta.url)

/** Undefined if the file was deleted between listing and reading, as another process may do in the same checkout. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(new URL(path, root), 'utf8')
  } catch {
    return undefined
  }
}

/** The files below `folder` that match, by their path below it. */
export function readFolder(folder: string, pattern = '**/*.ts'): Tree {
  const tree = new Map<string, string>()
  // The benchmark installs the packages of its peers below `bench/`.
  const exclude = ['**/node_modules/**']
  for (const found of globSync(pattern, { cwd: new URL(folder, root), exclude }).sort()) {
    const path = found.replaceAll(sep, '/')
    const source = readText(`${folder}${path}`)
    if (source !== undefined) tree.set(path, source)
  }
  return tree
}

/** Everything that people write and read as code. */
export function readCode(): Tree {
  const folders = ['src/', 'test/', 'bench/', 'scripts/', 'examples/', 'web/src/']
  return new Map(
    folders.flatMap((folder) =>
      [...readFolder(folder, '**/*.{ts,tsx,mjs}')].map(([path, source]) => [`${folder}${path}`, source] as const),
    ),
  )
}

/** The pages for people: guides, decisions, and those at the top. */
export function readPages(): Tree {
  return readFolder('', '{*.md,docs/*.md,decisions/*.md,src/**/*.md}')
}
