/** Which files of a workspace git would obey, so that no tool may write them. */

import { existsSync } from 'node:fs'
import { filesObeyedByGit } from '../repository/git-obeyed-files.ts'

/** True if the path is inside a bare git repository. Checks only which names exist, not what the files contain. */
export function isInGitFolder(root: string, parents: readonly string[]): boolean {
  const folders = [root, ...parents.map((_, at) => [root, ...parents.slice(0, at + 1)].join('/'))]
  return folders.some((folder) => ['HEAD', 'objects', 'refs'].every((name) => existsSync(`${folder}/${name}`)))
}

/** True if the path is named by the git configuration, or read by the hooks, of a repository that contains the path. */
export function isObeyedByGit(root: string, names: readonly string[]): boolean {
  const path = [root, ...names].join('/')
  return names.some((_, at) => {
    const folder = [root, ...names.slice(0, at)].join('/')
    const obeyed = existsSync(`${folder}/.git/config`) ? filesObeyedByGit(folder, `${folder}/.git`) : []
    return obeyed.some((one) => path === one || path.startsWith(`${one}/`))
  })
}
