/** Changes to tireless.yaml by the program: comments, order and everything else its owner wrote stay as they are. */

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { isCollection, isScalar, parseDocument } from 'yaml'
import type { Json } from '../domain/json.ts'
import type { Path } from './path.ts'

export interface Change {
  readonly path: Path
  /** undefined: the key goes. */
  readonly value: Json | undefined
}

/** Contract: pure. */
export function edited(source: string, changes: readonly Change[]): string {
  const document = parseDocument(source)
  for (const { path, value } of changes) {
    // A key whose value is missing or plain (`budget:`) would refuse to hold another.
    for (let depth = 1; depth < path.length; depth++) {
      const above = path.slice(0, depth)
      if (!isCollection(document.getIn(above))) document.setIn(above, document.createNode({}))
    }
    const there = document.getIn(path, true)
    if (value === undefined) document.deleteIn(path)
    // In its place, so that what was said beside it stays.
    else if (isScalar(there) && (typeof value !== 'object' || value === null)) there.value = value
    else document.setIn(path, document.createNode(value))
  }
  return document.toString({ lineWidth: 0 })
}

/** Contract: the file is changed whole, or not at all: `check` is asked of the new one before it takes the old one's place. */
export function changeFile(file: string, changes: readonly Change[], check: (draft: string) => void): void {
  const draft = `${file}.draft`
  const handle = openSync(draft, 'w', 0o600)
  try {
    writeSync(handle, edited(textOf(file), changes))
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  try {
    check(draft)
    renameSync(draft, file)
  } catch (thrown) {
    rmSync(draft, { force: true })
    throw thrown
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw thrown
  }
}
