/** Replaces configuration files: as a whole, through links. */

import { readFileSync } from 'node:fs'
import { replaceKeptFile } from '../files/kept-versions.ts'
import { editYaml, type KeyChange } from './edit-yaml.ts'

interface ConfigEdit {
  readonly file: string
  readonly changes: readonly KeyChange[]
  /** Folder for the content before. */
  readonly versions: string
}

/**
 * Contract: changes everything or nothing; `check` is called with the new text before it is written, and may throw.
 * Returns the copy of the file before; null if there was none.
 */
export function editConfigFile({ file, changes, versions }: ConfigEdit, check: (text: string) => void): string | null {
  return tryConfigFile({ file, changes }, (text) => {
    check(text)
    return replaceKeptFile(file, text, { versions })
  })
}

/** Contract: what `read` makes of the text of the changed file; the file itself stays as it is. */
export const tryConfigFile = <T>({ file, changes }: Omit<ConfigEdit, 'versions'>, read: (text: string) => T): T =>
  read(editYaml(readOrEmpty(file), changes, file))

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw thrown
  }
}
