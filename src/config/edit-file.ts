/** Edits tireless.yaml in place: comments, order and all other text stay unchanged. */

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { isCollection, isScalar, parseDocument } from 'yaml'
import type { Json } from '../domain/json.ts'
import type { KeyPath } from './key-path.ts'

interface KeyChange {
  readonly path: KeyPath
  /** undefined: remove the key. */
  readonly value: Json | undefined
}

/** Contract: pure. */
export function editYaml(source: string, changes: readonly KeyChange[]): string {
  const document = parseDocument(source)
  for (const { path, value } of changes) {
    // A key with a missing or scalar value (`budget:`) cannot hold another key.
    for (let depth = 1; depth < path.length; depth++) {
      const above = path.slice(0, depth)
      if (!isCollection(document.getIn(above))) document.setIn(above, document.createNode({}))
    }
    const node = document.getIn(path, true)
    if (value === undefined) document.deleteIn(path)
    // The value is set in place, so that a comment beside it stays.
    else if (isScalar(node) && (typeof value !== 'object' || value === null)) node.value = value
    else document.setIn(path, document.createNode(value))
  }
  return document.toString({ lineWidth: 0 })
}

/** Contract: pure; the value as it is written, with references to variables; undefined if there is none. */
export const keyInFile = (source: string, path: KeyPath): unknown => parseDocument(source).getIn(path) ?? undefined

/**
 * Contract: changes everything or nothing. `check` is called with the draft before it replaces the file, and may throw.
 */
export function editConfigFile(file: string, changes: readonly KeyChange[], check: (draft: string) => void): void {
  withDraft(file, changes, (draft) => {
    check(draft)
    renameSync(draft, file)
  })
}

/** Contract: what `read` makes of the changed file; the file itself stays as it is. */
export const tryConfigFile = <T>(file: string, changes: readonly KeyChange[], read: (draft: string) => T): T =>
  withDraft(file, changes, read)

/** Contract: the draft is gone afterwards. */
function withDraft<T>(file: string, changes: readonly KeyChange[], use: (draft: string) => T): T {
  const draft = `${file}.draft`
  writeSynced(draft, editYaml(readOrEmpty(file), changes))
  try {
    return use(draft)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Contract: replaces the whole file or leaves it as it is. */
export function replaceTextFile(file: string, text: string): void {
  const draft = `${file}.draft`
  writeSynced(draft, text)
  renameSync(draft, file)
}

function writeSynced(file: string, text: string): void {
  const handle = openSync(file, 'w', 0o600)
  try {
    writeSync(handle, text)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw thrown
  }
}
