/** Homes that earlier versions wrote. */

import { cpSync, globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HOME, loadDump } from './dump-database.ts'

const DUMP = 'tireless.sql'

export const keptSchemas = (): number[] =>
  readdirSync(import.meta.dirname)
    .flatMap((name) => /^schema-(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b)

/** Contract: copies the kept home of that schema into an existing folder. */
export function copyKeptHome(schema: number, home: string): void {
  const kept = join(import.meta.dirname, `schema-${schema}`)
  cpSync(kept, home, { recursive: true, filter: (path) => !path.endsWith(DUMP) })
  rewriteFiles(home, HOME, home)
  loadDump(readFileSync(join(kept, DUMP), 'utf8'), join(home, 'tireless.db'), home)
}

/** Some of its files contain the path of the home. */
export function rewriteFiles(folder: string, from: string, to: string): void {
  for (const path of globSync('**', { cwd: folder }).map((name) => join(folder, name)))
    if (statSync(path).isFile() && !path.includes('tireless.db'))
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll(from, to))
}
