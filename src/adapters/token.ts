/** The token of a home: a secret in a file that only the owner can read, made where there is none. */

import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { TirelessError } from '../domain/error.ts'

/** What is shorter could be guessed; an owner may write a longer one of their own. */
const SHORTEST = 32

/** Contract: the same answer every time until the file is changed or removed; nobody but the owner can read the file afterwards. */
export function tokenIn(file: string, make: () => string): string {
  const token = read(file) ?? made(file, make())
  if (token.length < SHORTEST)
    throw new TirelessError('config_invalid', {
      what: 'the token is too short to be safe',
      where: file,
      got: `${token.length} characters`,
      expected: `at least ${SHORTEST}`,
      fix: 'remove the file: a new token is made at the next start',
    })
  return token
}

/** Contract: the token as it is in this moment; undefined where there is none that is safe. Whoever removes or replaces the file has ended the old one. */
export function currentToken(file: string): string | undefined {
  try {
    const token = readFileSync(file, 'utf8').trim()
    return token.length < SHORTEST ? undefined : token
  } catch {
    return undefined
  }
}

function read(file: string): string | undefined {
  try {
    const token = readFileSync(file, 'utf8').trim()
    chmodSync(file, 0o600)
    return token
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new TirelessError(
      'config_invalid',
      {
        what: 'the token cannot be read',
        where: file,
        got: String(cause),
        fix: 'make it a file of yours, or remove it',
      },
      { cause },
    )
  }
}

/** Made exclusively and with its mode from the first byte on: there is no moment at which others could open it. */
function made(file: string, token: string): string {
  const opened = openSync(file, 'wx', 0o600)
  try {
    writeSync(opened, `${token}\n`)
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
  return token
}
