/**
 * The paths that a configured server (a long-lived program) sees in its sandbox besides the system folders: its
 * program, its start folder, and the paths that its command names. A folder that contains the user's home is never
 * shown.
 */

import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { isExecutableFile } from '../host/launcher.ts'
import { isInSystem } from './bubblewrap-command-line.ts'

interface ServerProgram {
  /** The folder in which the server starts. */
  readonly cwd: string
  /** $PATH outside the sandbox. */
  readonly path: string
  /** The user's home folder. */
  readonly account: string
  /** Folders that must stay hidden, even if the command names them. */
  readonly hidden: readonly string[]
}

/** A folder that contains one of these files is the package of a program. */
const PACKAGE_MARKS = ['package.json', 'pyproject.toml', 'pyvenv.cfg', 'setup.py', 'go.mod', 'Cargo.toml']

/** Contract: paths of files and folders to mount read-only. None is hidden, or contains the user's home. */
export function serverPaths(command: readonly string[], place: ServerProgram): readonly string[] {
  const [program = '', ...args] = command
  const at = programPath(program, place)
  const named = args.map((arg) => resolve(place.cwd, arg)).filter((path, i) => isNamed(args[i] ?? '', path))
  const startFolder = isBelowAny(place.cwd, place.hidden) ? [] : [place.cwd]
  const candidates = [
    ...(at === undefined ? [] : [dirname(at), ...packageOf(realpathSync(at), place)]),
    ...named.flatMap((path) => packageOf(realpathSync(path), place)),
    ...startFolder,
  ]
  return [...new Set(candidates)].filter((path) => mayBeVisible(path, place))
}

/** Contract: true if a mount of the path is needed, and shows neither a hidden folder nor the user's home. */
export function mayBeVisible(path: string, place: Pick<ServerProgram, 'account' | 'hidden'>): boolean {
  return !isInSystem(path) && !isTooWide(path, place.account) && !isBelowAny(path, place.hidden)
}

export const isBelowAny = (path: string, hidden: readonly string[]): boolean =>
  hidden.some((folder) => path === folder || path.startsWith(`${folder}/`))

/** Contract: $PATH, reduced to the folders that exist inside the sandbox. */
export const visiblePathVariable = (path: string, seen: readonly string[]): string =>
  path
    .split(':')
    .filter((folder) => isInSystem(folder) || isBelowAny(folder, seen))
    .join(':')

/** True for the root folder, a top-level folder, or a folder that is or contains the user's home. */
const isTooWide = (path: string, account: string): boolean =>
  path.split('/').length <= 2 || account === path || account.startsWith(`${path}/`)

/** True if the argument names an existing path. Options and `.` do not count, even if such a file exists. */
const isNamed = (arg: string, path: string): boolean =>
  arg !== '' && !arg.startsWith('-') && arg !== '.' && existsSync(path)

function programPath(program: string, { cwd, path }: ServerProgram): string | undefined {
  if (program.includes('/')) return existsSync(resolve(cwd, program)) ? resolve(cwd, program) : undefined
  return path
    .split(':')
    .filter(isAbsolute)
    .map((folder) => join(folder, program))
    .find(isExecutableFile)
}

/** The package folder that contains the file; the path itself if there is none, or if the path is a folder. */
function packageOf(path: string, place: ServerProgram): readonly string[] {
  if (statSync(path).isDirectory()) return [path]
  for (let folder = dirname(path); mayBeVisible(folder, place); folder = dirname(folder))
    if (PACKAGE_MARKS.some((mark) => existsSync(join(folder, mark)))) return [folder]
  return [path]
}
