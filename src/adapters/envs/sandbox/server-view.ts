/**
 * What a long-lived program that the owner configured (a server) has to see of the machine beside the system: where it lies, and what its
 * command names. An allow-list: what nobody named is not there, and neither is a folder so wide that it holds a whole account.
 */

import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { isProgram } from '../host/launch.ts'
import { isInSystem } from './layout.ts'

export interface ProgramPlace {
  /** Where it begins. */
  readonly cwd: string
  /** $PATH out here. */
  readonly path: string
  /** The account's own folder. */
  readonly account: string
  /** What must not be seen, whoever names it. */
  readonly hidden: readonly string[]
}

/** A folder with one of these is the whole of a program. */
const PACKAGE_MARKS = ['package.json', 'pyproject.toml', 'pyvenv.cfg', 'setup.py', 'go.mod', 'Cargo.toml']

/** Contract: real paths of files and folders that are to be seen, read-only; none of them is hidden or too wide. */
export function pathsOfProgram(command: readonly string[], around: ProgramPlace): readonly string[] {
  const [program = '', ...args] = command
  const at = programPath(program, around)
  const named = args.map((arg) => resolve(around.cwd, arg)).filter((path, i) => isNamed(args[i] ?? '', path))
  const beginning = isHidden(around.cwd, around.hidden) ? [] : [around.cwd]
  const wanted = [
    ...(at === undefined ? [] : [dirname(at), ...packageOf(realpathSync(at), around)]),
    ...named.flatMap((path) => packageOf(realpathSync(path), around)),
    ...beginning,
  ]
  return [...new Set(wanted)].filter((path) => canBeSeen(path, around))
}

/** Contract: whether a folder may be shown at all. */
export function canBeSeen(path: string, around: Pick<ProgramPlace, 'account' | 'hidden'>): boolean {
  return !isInSystem(path) && !isTooWide(path, around.account) && !isHidden(path, around.hidden)
}

export const isHidden = (path: string, hidden: readonly string[]): boolean =>
  hidden.some((folder) => path === folder || path.startsWith(`${folder}/`))

/** Contract: of $PATH, the folders that are there inside. */
export const visiblePath = (path: string, seen: readonly string[]): string =>
  path
    .split(':')
    .filter((folder) => isInSystem(folder) || isHidden(folder, seen))
    .join(':')

/** The root, a folder of it, or one that holds the account's own. */
const isTooWide = (path: string, account: string): boolean =>
  path.split('/').length <= 2 || account === path || account.startsWith(`${path}/`)

/** A word that is no path may happen to be the name of something: only what looks like one counts, or lies where the program begins. */
const isNamed = (arg: string, path: string): boolean =>
  arg !== '' && !arg.startsWith('-') && arg !== '.' && existsSync(path)

function programPath(program: string, { cwd, path }: ProgramPlace): string | undefined {
  if (program.includes('/')) return existsSync(resolve(cwd, program)) ? resolve(cwd, program) : undefined
  return path
    .split(':')
    .filter(isAbsolute)
    .map((folder) => join(folder, program))
    .find(isProgram)
}

/** The file itself, or the folder of the program that it belongs to. */
function packageOf(path: string, around: ProgramPlace): readonly string[] {
  if (statSync(path).isDirectory()) return [path]
  for (let folder = dirname(path); canBeSeen(folder, around); folder = dirname(folder))
    if (PACKAGE_MARKS.some((mark) => existsSync(join(folder, mark)))) return [folder]
  return [path]
}
