/** Makes the files of a backup usable in a home: its database, and where its configuration says the records are. */

import { existsSync, readFileSync } from 'node:fs'
import { noteSharedRecords } from '../adapters/stores/audit-seal.ts'
import {
  checkIntegrity,
  lastAuditNumber,
  moveWorkspaces,
  upgradeCopy,
} from '../adapters/stores/sqlite/copy-database.ts'
import { edited, keyInFile, type LoadedConfig } from '../config.ts'
import { TirelessError } from '../domain/error.ts'
import { replaceFile } from '../files/whole-files.ts'
import type { HomePaths } from '../home.ts'
import { showAddress } from './move-store.ts'

/** `staged`: the files of the backup; `original`: the home that was backed up. Contract: notes for the owner. */
export function adoptBackup(paths: HomePaths, staged: HomePaths, original: HomePaths): readonly string[] {
  checkIntegrity(staged.database)
  upgradeCopy(staged.database)
  if (original.root !== paths.root) moveWorkspaces(staged.database, original.workspaces, paths.workspaces)
  const source = existsSync(staged.config) ? readFileSync(staged.config, 'utf8') : ''
  const written = keyInFile(source, ['store'])
  if (written === undefined || written === 'sqlite') return []
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
