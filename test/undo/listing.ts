/** Everything in a folder: paths with type, permission bits and content. Links are not followed. */

import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

export function listing(folder: string, path = ''): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(join(folder, path)).toSorted()) {
    const at = join(path, name)
    const stats = lstatSync(join(folder, at))
    const bits = (stats.mode & 0o7777).toString(8)
    if (stats.isSymbolicLink()) found[at] = `link to ${readlinkSync(join(folder, at))}`
    else if (stats.isDirectory()) Object.assign(found, { [at]: `folder ${bits}` }, listing(folder, at))
    else found[at] = `${bits} ${readFileSync(join(folder, at)).toString('base64')}`
  }
  return found
}
