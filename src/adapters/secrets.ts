/** The file of secrets: JSON that nobody but its owner can read, written whole or not at all. */

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
import { TirelessError } from '../domain/error.ts'

const shape = z.object({
  version: z.literal(1),
  secrets: z.record(z.string(), z.object({ value: z.string(), set_at: z.string(), to: z.array(z.string()) })),
})

export interface KeptSecret {
  readonly value: string
  readonly set_at: string
  /** Where tools may send it; nowhere, where there is none. */
  readonly to: readonly string[]
}

export type KeptSecrets = Readonly<Record<string, KeptSecret>>

/** Contract: none where there is no file; throws `config_invalid` where others could have read it, or it is not one of ours. */
export function readSecrets(file: string): KeptSecrets {
  const text = readPrivate(file)
  if (text === undefined) return {}
  const { success, data } = shape.safeParse(parsed(text))
  if (success) return data.secrets
  throw refused(
    file,
    'it is not a file of secrets',
    'what `tireless secrets set` writes',
    'move it away, and set them again',
  )
}

/** Contract: on disk when it returns. */
export function writeSecrets(file: string, secrets: KeptSecrets): void {
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

/** Looked at by its handle: what is checked is what is read. */
function readPrivate(file: string): string | undefined {
  let handle: number
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw refused(file, `it cannot be read (${code})`, 'a file of yours', 'make it one, or move it away')
  }
  try {
    const stat = fstatSync(handle)
    const self = process.getuid?.()
    if (!stat.isFile() || (self !== undefined && stat.uid !== self))
      throw refused(
        file,
        "it is another user's, or no file",
        'a file of yours',
        'move it away, and set the secrets again',
      )
    const mode = stat.mode & 0o777
    if ((mode & 0o077) !== 0)
      throw refused(
        file,
        `others can read the secrets (its mode is ${mode.toString(8).padStart(4, '0')})`,
        '0600',
        `chmod 600 ${file}, and make new ones of what others may have read`,
      )
    return readFileSync(handle, 'utf8')
  } finally {
    closeSync(handle)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const refused = (where: string, what: string, expected: string, fix: string): TirelessError =>
  new TirelessError('config_invalid', { what, where, expected, fix })
