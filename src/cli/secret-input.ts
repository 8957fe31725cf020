/**
 * Reads a secret from an environment variable, a file, stdin, or a prompt that does not show it. Never from an
 * argument: other users can list those, and the shell keeps them in its history.
 */

import { readFileSync } from 'node:fs'
import type { ReadStream } from 'node:tty'
import { environment } from '../config/environment.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'

export interface SecretSource {
  readonly fromEnv?: string
  readonly fromFile?: string
}

interface Terminal {
  readonly input: ReadStream
  readonly output: NodeJS.WritableStream
}

/** Contract: returns the secret; one line break at its end is removed. */
export async function readSecretInput(
  { fromEnv, fromFile }: SecretSource,
  what: string,
  terminal: Terminal,
): Promise<string> {
  if (fromEnv !== undefined && fromFile !== undefined)
    throw new TirelessError('usage', { what: '--from-env and --from-file cannot be combined', got: 'both' })
  return (await readSecret(fromEnv, fromFile, what, terminal)).replace(/\r?\n$/, '')
}

async function readSecret(
  variable: string | undefined,
  file: string | undefined,
  what: string,
  { input, output }: Terminal,
): Promise<string> {
  if (variable !== undefined) return fromVariable(variable)
  if (file !== undefined) return fromFile(file)
  return input.isTTY ? promptHidden(what, input, output) : decodeText(Buffer.concat(await input.toArray()), 'stdin')
}

function fromVariable(name: string): string {
  const value = environment()[name]
  if (value) return value
  throw new TirelessError('usage', { what: 'this variable is empty or not set', where: '--from-env', got: name })
}

function fromFile(file: string): string {
  try {
    return decodeText(readFileSync(file), file)
  } catch (thrown) {
    const { message } = asTirelessError(thrown)
    throw new TirelessError('usage', { what: 'the file cannot be read', where: '--from-file', got: message })
  }
}

function decodeText(bytes: Buffer, where: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new TirelessError('usage', {
      what: 'a secret must be text',
      where,
      got: 'bytes that are not UTF-8',
      fix: 'encode them as text, for example as base64',
    })
  }
}

const [ENTER, NEWLINE, CTRL_C, CTRL_D, BACKSPACE, DELETE] = ['\r', '\n', '\u0003', '\u0004', '\u007f', '\b']

/** Contract: shows nothing of the secret, not even its length. */
async function promptHidden(what: string, input: ReadStream, output: NodeJS.WritableStream): Promise<string> {
  output.write(`${what} (input is hidden): `)
  input.setRawMode(true)
  input.setEncoding('utf8')
  let typedText = ''
  try {
    for await (const chunk of input as AsyncIterable<string>)
      for (const key of chunk) {
        if (key === ENTER || key === NEWLINE || key === CTRL_D) return typedText
        if (key === CTRL_C) throw new TirelessError('aborted', 'cancelled; nothing was set')
        typedText = key === BACKSPACE || key === DELETE ? [...typedText].slice(0, -1).join('') : typedText + key
      }
    return typedText
  } finally {
    input.setRawMode(false)
    output.write('\n')
  }
}
