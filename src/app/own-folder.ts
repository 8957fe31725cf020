/** The folders that the program itself writes: watching one would make work of its own work, without end. */

import { realpathSync } from 'node:fs'
import { relative, sep } from 'node:path'
import type { HomePaths } from '../home.ts'

/** Workspaces are written by agents, and agents' folders by people. */
const WATCHABLE: readonly (keyof HomePaths)[] = ['workspaces', 'agents', 'root', 'named']

/** `path`: a real path. Folders that people add to the home are not the program's own. */
export function isOwnFolder(home: HomePaths): (path: string) => boolean {
  const own = (Object.keys(home) as (keyof HomePaths)[])
    .filter((key) => !WATCHABLE.includes(key))
    .map((key) => relative(home.root, home[key]).split(sep)[0])
  return (path) => {
    const below = relative(realpathSync(home.root), path)
    if (below === '') return true
    const [first = '..'] = below.split(sep)
    return first !== '..' && own.includes(first)
  }
}
