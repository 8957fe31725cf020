/** The secrets file: JSON that only its owner can read, replaced atomically. */

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { TirelessError } from '../../domain/error.ts'
import { parseJson } from '../../domain/json.ts'

const shape = z.object({
  version: z.literal(1),
  secrets: z.record(z.string(), z.object({ value: z.string(), set_at: z.string(), to: z.array(z.string()) })),
})

export interface StoredSecret {
  readonly value: string
  readonly set_at: string
  /** Hosts to which tools may send the secret; empty means none. */
  readonly to: readonly string[]
}

export type StoredSecrets = Readonly<Record<string, StoredSecret>>

/** Contract: empty without a file; throws `config_invalid` if others can read the file or its content is invalid. */
export function readSecrets(file: string): StoredSecrets {
  const text = readPrivate(file)
  if (text === undefined) return {}
  const { success, data } = shape.safeParse(parseJson(text))
  if (success) return data.secrets
  throw invalidFile(
    file,
    'not a secrets file',
    'a file written by `tireless secrets set`',
    'move it away, then set the secrets again',
  )
}

/** Contract: the file is on disk when this returns. */
export function writeSecrets(file: string, secrets: StoredSecrets): void {
  const draft = `${file}.draft`
  rmSync(draft, { force: true })
  const handle = openSync(draft, 'wx', 0o600)
  try {
    writeSync(handle, `${JSON.stringify({ version: 1, secrets }, null, 2)}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(draft, file)
  const folder = openSync(dirname(file), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
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
