/**
 * Files of a work tree that the owner's own git obeys without asking, because the owner has said so: its configuration names them, or the hooks
 * that are installed read them. Found without git; a name too many costs an agent a file it may not write.
 */

import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** What the common managers of hooks run, once the owner has installed their hooks. */
const HOOK_MANAGERS: readonly string[] = [
  ...['.pre-commit-config.yaml', '.overcommit.yml', '.lefthook', 'captainhook.json', 'grumphp.yml'],
  ...['', '-local'].flatMap((kind) =>
    ['yml', 'yaml', 'toml', 'json'].flatMap((end) => [`lefthook${kind}.${end}`, `.lefthook${kind}.${end}`]),
  ),
]

/** Settings that name programs. */
const PROGRAMS =
  /^(?:fsmonitor|sshcommand|clean|smudge|process|textconv|driver|command|cmd|helper|program|editor|pager|askpass)$/i

const MAX_CONFIG_BYTES = 256 * 1024

/** Contract: real or not yet there, inside the work tree, without its `.git`. `gitFolder`: where its configuration and its hooks lie. */
export function obeyedBeside(workTree: string, gitFolder: string): readonly string[] {
  const named = settingsIn(join(gitFolder, 'config')).flatMap(([key, value]) =>
    pathsNamed(key, value, { workTree, gitFolder }),
  )
  const managed = hasHooks(join(gitFolder, 'hooks')) ? HOOK_MANAGERS.map((name) => join(workTree, name)) : []
  const isBeside = (path: string): boolean => path.startsWith(`${workTree}/`) && !path.startsWith(`${workTree}/.git/`)
  return [...new Set([...named, ...managed])].filter(isBeside)
}

/** Generously: what git would not take for a setting may be one here. */
function settingsIn(config: string): readonly (readonly [key: string, value: string])[] {
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

function pathsNamed(key: string, value: string, { workTree, gitFolder }: Repository): readonly string[] {
  const whole = value.replaceAll(/^"|"$/g, '')
  if (key === 'hookspath') return [resolve(workTree, whole)]
  // Of an include; relative to the configuration itself.
  if (key === 'path') return [resolve(gitFolder, whole)]
  if (!PROGRAMS.test(key)) return []
  const words = whole.split(/[\s"';|&()!\\]+/)
  return words.filter((word) => word.includes('/') && !word.startsWith('-')).map((word) => resolve(workTree, word))
}

function hasHooks(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => !name.endsWith('.sample'))
  } catch {
    return false
  }
}
