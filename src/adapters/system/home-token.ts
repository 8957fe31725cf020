/** The access token of a home: a secret in a file that only the owner can read, created if missing. */

import { chmodSync, readFileSync } from 'node:fs'
import { TirelessError } from '../../domain/error.ts'
import { writeNewFile } from '../../files/whole-files.ts'

/** In characters. A shorter token could be guessed; the owner may choose a longer one. */
const MIN_LENGTH = 32

/** Contract: the token in the file, created if missing; afterwards only the owner can read the file. */
export function loadOrCreateToken(file: string, generate: () => string): string {
  const token = readToken(file) ?? createToken(file, generate())
  if (token.length < MIN_LENGTH)
    throw new TirelessError('config_invalid', {
      what: 'the access token is too short',
      where: file,
      got: `${token.length} characters`,
      expected: `at least ${MIN_LENGTH}`,
      fix: 'delete the file; the next start creates a new token',
    })
  return token
}

/** Contract: the token in the file now; undefined if missing or too short. Replacing the file revokes the old token. */
export function readCurrentToken(file: string): string | undefined {
  try {
    const token = readFileSync(file, 'utf8').trim()
    return token.length < MIN_LENGTH ? undefined : token
  } catch {
    return undefined
  }
}

function readToken(file: string): string | undefined {
  try {
    const token = readFileSync(file, 'utf8').trim()
    chmodSync(file, 0o600)
    return token
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new TirelessError(
      'config_invalid',
      {
        what: 'the access token cannot be read',
        where: file,
        got: String(cause),
        fix: 'make it a file that you own, or delete it',
      },
      { cause },
    )
  }
}

function createToken(file: string, token: string): string {
  writeNewFile(file, `${token}\n`)
  return token
}
