/** The secrets file: JSON that only its owner can read, replaced atomically. */

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { TirelessError } from '../../domain/error.ts'
import { parseJson } from '../../domain/json.ts'
import { findVersion, replaceKeptFile } from '../../files/kept-versions.ts'

const shape = z.object({
  version: z.literal(1),
  secrets: z.record(
    z.string(),
    z.object({
      value: z.string(),
      set_at: z.string(),
      to: z.array(z.string()),
      made_for: z.string().optional(),
    }),
  ),
})

export interface StoredSecret {
  readonly value: string
  readonly set_at: string
  /** Hosts to which tools may send the secret; empty means none. */
  readonly to: readonly string[]
  /** The part of the configuration that a command stored it for; undefined: its owner set it by name. */
  readonly made_for?: string | undefined
}

export type StoredSecrets = Readonly<Record<string, StoredSecret>>

/**
 * Contract: empty without a file; throws `config_invalid` if others can read the file or its content is invalid, and
 * names the last version in the folder `versions` that is valid.
 */
export function readSecrets(file: string, versions: string): StoredSecrets {
  const text = readPrivate(file)
  if (text === undefined) return {}
  const { success, data } = parseSecrets(text)
  if (success) return data.secrets
  const good = findVersion(versions, (version) => parseSecrets(version).success)
  throw invalidFile(
    file,
    'not a secrets file',
    'a file written by `tireless secrets set`',
    good === undefined
      ? 'move it away, then set the secrets again'
      : `bring back the last version that is whole: cp '${good}' '${file}'`,
  )
}

const parseSecrets = (text: string) => shape.safeParse(parseJson(text))

/** Contract: the file is on disk when this returns, and its content before is among `versions`. */
export function writeSecrets(file: string, secrets: StoredSecrets, versions: string): void {
  const text = `${JSON.stringify({ version: 1, secrets }, null, 2)}\n`
  replaceKeptFile(file, text, { versions, mode: 0o600 })
}

/** Checks and reads the file through one handle, so the checked file is the one that is read. */
function readPrivate(file: string): string | undefined {
  let handle: number
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw invalidFile(
      file,
      `the secrets file cannot be read (${code})`,
      'a file that you own',
      'change its owner, or move it away',
    )
  }
  try {
    const stat = fstatSync(handle)
    const ownUid = process.getuid?.()
    if (!stat.isFile() || (ownUid !== undefined && stat.uid !== ownUid))
      throw invalidFile(
        file,
        'the secrets file belongs to another user, or is not a file',
        'a file that you own',
        'move it away, then set the secrets again',
      )
    const mode = stat.mode & 0o777
    if ((mode & 0o077) !== 0)
      throw invalidFile(
        file,
        `other users can read the secrets (mode ${mode.toString(8).padStart(4, '0')})`,
        '0600',
        `chmod 600 ${file}, and replace the secrets that others may have read`,
      )
    return readFileSync(handle, 'utf8')
  } finally {
    closeSync(handle)
  }
}

const invalidFile = (where: string, what: string, expected: string, fix: string): TirelessError =>
  new TirelessError('config_invalid', { what, where, expected, fix })
