/** Homes with one run, their backups and digests. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { globSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createApp } from '../../src/app.ts'
import type { NotIncluded } from '../../src/domain/not-included.ts'
import { tirelessJson } from './command-line.ts'
import { freshFolder } from './open-app.ts'

export interface Backup {
  readonly dir: string
  readonly files: number
  readonly skipped: readonly string[]
  readonly parts: readonly { readonly name: string; readonly files: number; readonly bytes: number }[]
  readonly not_included: readonly NotIncluded[]
  readonly notes: readonly string[]
}

export const sha256Of = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

/** The digest of every file below a folder, by path. */
export const digestsOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    globSync('**', { cwd: folder })
      .filter((path) => lstatSync(join(folder, path)).isFile())
      .toSorted()
      .map((path) => [path, sha256Of(join(folder, path))]),
  )

/** Padded to the minimum length of a token. */
export const tokenOf = (name: string): string => `token of ${name} `.padEnd(40, '.')

/** A home with a configuration, a token and one finished run that wrote a file. */

export async function homeWithOneRun(t: TestContext, name: string): Promise<string> {
  const home = freshFolder(t, name)
  writeFileSync(join(home, 'tireless.yaml'), `kernel: { max_concurrent: ${name.length} } # ${name}\n`)
  writeFileSync(join(home, 'token'), tokenOf(name), { mode: 0o600 })
  const app = await createApp({ home })
  await app.run('run', { task: `Create made.md with the text "${name}".` })
  await app.close()
  return home
}

export async function makeBackup(t: TestContext, home: string): Promise<string> {
  const dir = join(freshFolder(t, 'backup'), 'new', 'folder')
  const { exit } = await tirelessJson<Backup>(home, 'backup', dir)
  assert.equal(exit, 0)
  return dir
}
