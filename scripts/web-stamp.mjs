// Checks whether the built page matches its sources. Plain JavaScript for Node 18 and newer, like the set-up.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const web = join(root, 'web')

export const built = join(web, 'dist')
export const STAGING = '.build-'
export const STAMP = '.stamp'

export const hasPage = () => existsSync(join(web, 'index.html'))

export function isBuilt() {
  try {
    return readFileSync(join(built, STAMP), 'utf8') === digest()
  } catch {
    return false
  }
}

/** Covers the sources of the page and the lock file, because another version of the tools may build another page. */
export function digest() {
  const hash = createHash('sha256')
  for (const file of [...filesIn(web), join(root, 'package-lock.json')])
    hash
      .update(`${file.slice(root.length)}\0`)
      .update(readFileSync(file))
      .update('\0')
  return hash.digest('hex')
}

function filesIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  return entries
    .filter(({ name }) => join(folder, name) !== built && !name.startsWith(STAGING) && name !== 'node_modules')
    .flatMap((entry) => (entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)]))
}
