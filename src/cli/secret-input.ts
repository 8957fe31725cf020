/**
 * A secret that a command needs: from a variable, a file, the standard input, or asked for and not shown. Never from the command line:
 * others on the machine can read that, and the shell keeps it.
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

/** Contract: one line break at its end is no part of it. */
export async function secretInput(
  { fromEnv, fromFile }: SecretSource,
  what: string,
  terminal: Terminal,
): Promise<string> {
  if (fromEnv !== undefined && fromFile !== undefined)
    throw new TirelessError('usage', { what: 'one of --from-env and --from-file is enough', got: 'both' })
  return (await given(fromEnv, fromFile, what, terminal)).replace(/\r?\n$/, '')
}

async function given(
  variable: string | undefined,
  file: string | undefined,
  what: string,
  { input, output }: Terminal,
): Promise<string> {
  if (variable !== undefined) return fromVariable(variable)
  if (file !== undefined) return fromFile(file)
  return input.isTTY ? hidden(what, input, output) : textOf(Buffer.concat(await input.toArray()), 'the standard input')
}

function fromVariable(name: string): string {
  const value = environment()[name]
  if (value) return value
  throw new TirelessError('usage', { what: 'the variable is empty or not set', where: '--from-env', got: name })
}

function fromFile(file: string): string {
  try {
    return textOf(readFileSync(file), file)
  } catch (thrown) {
    const { message } = asTirelessError(thrown)
    throw new TirelessError('usage', { what: 'the file cannot be read', where: '--from-file', got: message })
  }
}

function textOf(bytes: Buffer, where: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new TirelessError('usage', {
      what: 'a secret is text',
      where,
      got: 'bytes that are no UTF-8',
      fix: 'encode them',
    })
  }
}

const [ENTER, NEWLINE, CTRL_C, CTRL_D, BACKSPACE, DELETE] = ['\r', '\n', '\u0003', '\u0004', '\u007f', '\b']

/** Contract: nothing of it is shown, not even its length. */
async function hidden(what: string, input: ReadStream, output: NodeJS.WritableStream): Promise<string> {
  output.write(`${what} (it is not shown): `)
  input.setRawMode(true)
  input.setEncoding('utf8')
  let said = ''
  try {
    for await (const typed of input as AsyncIterable<string>)
      for (const key of typed) {
        if (key === ENTER || key === NEWLINE || key === CTRL_D) return said
        if (key === CTRL_C) throw new TirelessError('aborted', 'nothing was set')
        said = key === BACKSPACE || key === DELETE ? [...said].slice(0, -1).join('') : said + key
      }
    return said
  } finally {
    input.setRawMode(false)
    output.write('\n')
  }
}
