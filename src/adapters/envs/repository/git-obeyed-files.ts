/**
 * Finds the files of a work tree that the owner's git runs or obeys: files that the git configuration names, and files
 * that installed hooks read. Does not run git. A wrongly found file does no harm: agents just cannot write it.
 */

import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Files that common hook managers read, once the owner has installed their hooks. */
const HOOK_MANAGERS: readonly string[] = [
  ...['.pre-commit-config.yaml', '.overcommit.yml', '.lefthook', 'captainhook.json', 'grumphp.yml'],
  ...['', '-local'].flatMap((kind) =>
    ['yml', 'yaml', 'toml', 'json'].flatMap((end) => [`lefthook${kind}.${end}`, `.lefthook${kind}.${end}`]),
  ),
]

/** Names of settings whose value is a program. */
const PROGRAM_SETTINGS =
  /^(?:fsmonitor|sshcommand|clean|smudge|process|textconv|driver|command|cmd|helper|program|editor|pager|askpass)$/i

const MAX_CONFIG_BYTES = 256 * 1024

/** Contract: absolute paths of existing or missing files in the work tree, outside `.git`. */
export function filesObeyedByGit(workTree: string, gitFolder: string): readonly string[] {
  const fromConfig = readSettings(join(gitFolder, 'config')).flatMap(([key, value]) =>
    pathsIn(key, value, { workTree, gitFolder }),
  )
  const fromHooks = hasHooks(join(gitFolder, 'hooks')) ? HOOK_MANAGERS.map((name) => join(workTree, name)) : []
  const isInWorkTree = (path: string): boolean =>
    path.startsWith(`${workTree}/`) && !path.startsWith(`${workTree}/.git/`)
  return [...new Set([...fromConfig, ...fromHooks])].filter(isInWorkTree)
}

/** Reads a git configuration leniently: it may also return lines that git does not read as settings. */
function readSettings(config: string): readonly (readonly [key: string, value: string])[] {
  const stats = lstatSync(config, { throwIfNoEntry: false })
  if (!stats?.isFile() || stats.size > MAX_CONFIG_BYTES) return []
  const lines = readFileSync(config, 'utf8').matchAll(
    /^[^\S\n]*(?:\[[^\n]*\])?[^\S\n]*([a-z][a-z0-9-]*)[^\S\n]*=(.*)$/gim,
  )
  return [...lines].map(([, key = '', value = '']) => [key.toLowerCase(), value.trim()])
}

interface Repository {
  readonly workTree: string
  readonly gitFolder: string
}

function pathsIn(key: string, value: string, { workTree, gitFolder }: Repository): readonly string[] {
  const unquoted = value.replaceAll(/^"|"$/g, '')
  if (key === 'hookspath') return [resolve(workTree, unquoted)]
  // The setting `include.path` is relative to the configuration file.
  if (key === 'path') return [resolve(gitFolder, unquoted)]
  if (!PROGRAM_SETTINGS.test(key)) return []
  const words = unquoted.split(/[\s"';|&()!\\]+/)
  return words.filter((word) => word.includes('/') && !word.startsWith('-')).map((word) => resolve(workTree, word))
}

function hasHooks(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => !name.endsWith('.sample'))
  } catch {
    return false
  }
}
