/** Homes that earlier programs have written, as they are kept. */

import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadDump } from './dump.ts'

const DUMP = 'tireless.sql'

export const keptSchemas = (): number[] =>
  readdirSync(import.meta.dirname)
    .flatMap((name) => /^schema-(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b)

/** Contract: the home that was kept of that schema, in a folder that is there. */
export function layOut(schema: number, home: string): void {
  const kept = join(import.meta.dirname, `schema-${schema}`)
  cpSync(kept, home, { recursive: true, filter: (path) => !path.endsWith(DUMP) })
  loadDump(readFileSync(join(kept, DUMP), 'utf8'), join(home, 'tireless.db'), home)
}
