/** Edits tireless.yaml in place: comments, order and all other text stay unchanged. */

import { readFileSync } from 'node:fs'
import { isCollection, isScalar, parseDocument } from 'yaml'
import type { Json } from '../domain/json.ts'
import { replaceKeptFile } from '../files/kept-versions.ts'
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

interface ConfigEdit {
  readonly file: string
  readonly changes: readonly KeyChange[]
  /** Folder for the content before. */
  readonly versions: string
}

/** Contract: changes everything or nothing. `check` is called with the new text before it is written, and may throw. */
export function editConfigFile({ file, changes, versions }: ConfigEdit, check: (text: string) => void): void {
  tryConfigFile({ file, changes }, (text) => {
    check(text)
    replaceKeptFile(file, text, { versions })
  })
}

/** Contract: what `read` makes of the text of the changed file; the file itself stays as it is. */
export const tryConfigFile = <T>({ file, changes }: Omit<ConfigEdit, 'versions'>, read: (text: string) => T): T =>
  read(editYaml(readOrEmpty(file), changes))

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw thrown
  }
}
