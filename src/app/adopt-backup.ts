/** Makes the files of a backup usable in a home: its database, and where its configuration says the records are. */

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { noteSharedRecords } from '../adapters/stores/audit-seal.ts'
import { checkIntegrity, lastAuditNumber, upgradeCopy } from '../adapters/stores/sqlite/copy-database.ts'
import { edited, keyInFile, type LoadedConfig } from '../config.ts'
import { TirelessError } from '../domain/error.ts'
import { replaceFile } from '../files/whole-files.ts'
import type { HomePaths } from '../home.ts'
import { adoptRoots } from './home-roots.ts'
import { showAddress } from './move-store.ts'

/** `staged`: the files of the backup; `original`: the home that was backed up. Contract: notes for the owner. */
export function adoptBackup(paths: HomePaths, staged: HomePaths, original: string): readonly string[] {
  checkIntegrity(staged.database)
  upgradeCopy(staged.database, adoptRoots(staged, original))
  const source = existsSync(staged.config) ? readFileSync(staged.config, 'utf8') : ''
  return [...describeFormerPaths(source, paths.root, original), ...useOwnRecords(staged, source)]
}

/** The owner's words are not changed, but what they name is not in this home. */
function describeFormerPaths(source: string, root: string, original: string): readonly string[] {
  const lines = source.split('\n').flatMap((line, i) => (line.includes(`${original}/`) ? [i + 1] : []))
  if (original === root || lines.length === 0) return []
  const places = `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}`
  return [
    `tireless.yaml names files of ${original}, from which the backup was made, in ${places}: change what is to be here`,
  ]
}

function useOwnRecords(staged: HomePaths, source: string): readonly string[] {
  const written = keyInFile(source, ['store'])
  if (written === undefined || written === 'sqlite') return []
  // A link leads to a file of the home that was backed up, which stays as it is.
  rmSync(staged.config, { force: true })
  // The records of the backup are in its file. Those in PostgreSQL may be newer, and other homes may work on them.
  replaceFile(staged.config, edited(source, [{ path: ['store'], value: 'sqlite' }]))
  noteSharedRecords(staged.auditKey, lastAuditNumber(staged.database))
  return [
    'the backup is of a home on PostgreSQL; its records are now in the file tireless.db (store: sqlite)',
    'to work in PostgreSQL again, move them into an empty database: tireless store move ADDRESS',
  ]
}

/** Contract: what to know if the home uses PostgreSQL now; throws `conflict` if a restored file would not be used. */
export function describeSharedStore(paths: HomePaths, readConfig: () => LoadedConfig): readonly string[] {
  let loaded: LoadedConfig
  try {
    loaded = readConfig()
  } catch {
    // A home that cannot be opened can still be replaced.
    return []
  }
  const { config, file } = loaded
  if (config.store === 'sqlite') return []
  if (file !== null && file !== paths.config)
    throw new TirelessError('conflict', {
      what: 'a restore puts the records into a file, and this configuration names PostgreSQL',
      where: file,
      fix: 'write `store: sqlite` there first',
    })
  return [`the records from before are still in ${showAddress(config.store)}`]
}
