/** The configuration in use: reads it, notices changes of its files, and edits them. */

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ConfigChange } from '../commands/lib/context.ts'
import { changeFile, type LoadedConfig, loadConfig, tryFile } from '../config.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { findVersion, keepVersion } from '../files/kept-versions.ts'
import { checkRestoreFinished, type HomePaths, versionsOf } from '../home.ts'
import type { Services } from '../ports/plugin.ts'
import { createAgentDirectory } from './agent-directory.ts'
import { refuseBadSchedules } from './check-schedules.ts'
import { refuseUnbuilt } from './refuse-unsupported.ts'

/** `instead`: by file, the text that is read in place of its content. */
export function readConfig(
  paths: HomePaths,
  file: string | undefined,
  instead: Readonly<Record<string, string>> = {},
): LoadedConfig {
  const required = file !== undefined
  try {
    const loaded = loadConfig({ file: file ?? paths.config, required, agents: paths.agents, drafts: instead })
    refuseBadSchedules(loaded)
    return loaded
  } catch (thrown) {
    throw Object.keys(instead).length > 0 ? thrown : withKeptVersion(paths, thrown)
  }
}

/** A file that is invalid now may be damaged: the error also names its last version that a command replaced. */
function withKeptVersion(paths: HomePaths, thrown: unknown): unknown {
  if (!(thrown instanceof TirelessError) || thrown.code !== 'config_invalid') return thrown
  const [, file] = /^(.+?\.yaml)(?::|$)/.exec(thrown.message) ?? []
  const kept = file && findVersion(versionsOf(paths, file), () => true)
  if (!kept) return thrown
  const earlier = `as it was before the last command that changed it: ${kept}`
  const fix = thrown.fix === undefined ? `compare it with the file ${earlier}` : `${thrown.fix}; the file ${earlier}`
  return new TirelessError('config_invalid', { ...thrown.parts, fix }, { cause: thrown })
}

/** Contract: throws `config_invalid` on a bad configuration. `file`: undefined for `tireless.yaml` of the home. */
export function createConfigService(paths: HomePaths, file: string | undefined): Services['config'] {
  // A half-restored home must be refused before any of its files is read.
  checkRestoreFinished(paths)
  const read = (): LoadedConfig => {
    const loaded = readConfig(paths, file)
    refuseUnbuilt(loaded)
    return loaded
  }
  const target = file ?? paths.config
  const stampNow = (): string => stampOf(target, paths.agents)
  let stamp = stampNow()
  let current = read()
  let refused: string | null = null
  const reload = (): void => {
    current = read()
    stamp = stampNow()
    refused = null
  }
  const keep = (changed: string): string | null => keepVersion(changed, versionsOf(paths, changed))
  const change = (changed: string, changes: readonly ConfigChange[]): string | null => {
    const versions = versionsOf(paths, changed)
    const kept = changeFile({ file: changed, changes, versions }, (text) =>
      readConfig(paths, file, { [changed]: text }),
    )
    reload()
    return kept
  }
  const tryChange = (changed: string, changes: readonly ConfigChange[]): LoadedConfig =>
    tryFile({ file: changed, changes }, (text) => readConfig(paths, file, { [changed]: text }))
  return {
    get loaded() {
      return current
    },
    read,
    file: target,
    refused: () => refused,
    refresh() {
      if (stampNow() === stamp) return 'same'
      stamp = stampNow()
      try {
        if (current.file !== null) refuseEmpty(target)
        current = read()
        refused = null
        return 'taken'
      } catch (thrown) {
        refused = asTirelessError(thrown).message
        return 'refused'
      }
    },
    change: (changes) => change(target, changes),
    roster: createAgentDirectory(paths.agents, target, () => current, { change, tryChange, reload, read, keep }),
  }
}

/** A text that changes whenever the configuration file or an agent's file changes. */
function stampOf(file: string, agents: string): string {
  const folders = namesIn(agents)
  const filesOf = (name: string): readonly string[] => [
    ...['agent.yaml', 'role.md'].map((part) => join(agents, name, part)),
    ...namesIn(join(agents, name, 'behaviours')).map((part) => join(agents, name, 'behaviours', part)),
  ]
  return [file, ...folders.flatMap(filesOf)]
    .map((path) => {
      const found = statSync(path, { throwIfNoEntry: false })
      return found ? `${path} ${found.ino} ${found.size} ${found.mtimeMs}` : 'none'
    })
    .join('\n')
}

const namesIn = (folder: string): readonly string[] =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder).toSorted() : []

/** A missing or empty file is probably being written, so the current configuration stays in use. */
function refuseEmpty(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found && found.size > 0) return
  throw new TirelessError('config_invalid', {
    ...{ what: `the configuration file is ${found ? 'empty' : 'missing'}`, where: file },
    fix: 'write the file again; for defaults only, one comment line is enough',
  })
}
