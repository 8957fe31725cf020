/** Which command is reached how over HTTP, and its input from a query or a body. */

import { isAbsolute } from 'node:path'
import type { Command } from '../commands/command.ts'
import { fieldsOf } from '../commands/fields.ts'
import { TirelessError } from '../domain/error.ts'

export const API = '/api/v1'

/** A command whose last word is one of these changes nothing, and is a GET; every other is a POST. */
const READING: ReadonlySet<string> = new Set(['status', 'list', 'show', 'search', 'log', 'diff', 'compare'])

export interface Endpoint {
  readonly command: Command
  readonly method: 'GET' | 'POST'
  readonly path: string
}

/** Contract: one for each command that runs in the holder of the home: `queue list` is `/api/v1/queue/list`. */
export function endpointsOf(commands: readonly Command[]): readonly Endpoint[] {
  return commands
    .filter(({ runsIn }) => runsIn === 'any_process')
    .map((command) => {
      const words = command.name.split(' ')
      const method = READING.has(words.at(-1) ?? '') ? 'GET' : 'POST'
      return { command, method, path: `${API}/${words.join('/')}` }
    })
}

/** Contract: numbers and booleans where the schema wants them; what is none stays a word, for the schema to refuse. */
export function inputOfQuery(command: Command, query: Readonly<Record<string, readonly string[]>>): object {
  const types = new Map(fieldsOf(command).map(({ key, type }) => [key, type]))
  const input = Object.entries(query).map(([key, [value = '', ...more]]) => {
    if (more.length > 0)
      throw new TirelessError('usage', { what: 'it is given more than once', where: `${command.name}: ${key}` })
    return [key, readWord(types.get(key), value)] as const
  })
  return Object.fromEntries(input)
}

function readWord(type: string | undefined, word: string): unknown {
  if (type === 'number' && word.trim() !== '' && Number.isFinite(Number(word))) return Number(word)
  if (type === 'boolean' && (word === 'true' || word === 'false')) return word === 'true'
  return word
}

/** A relative path would be one of this process's folder, which whoever asks over HTTP cannot know. */
export function refuseRelativePaths(command: Command, input: object): void {
  for (const { key } of fieldsOf(command).filter(({ isPath }) => isPath)) {
    const value = (input as Readonly<Record<string, unknown>>)[key]
    if (typeof value === 'string' && !isAbsolute(value))
      throw new TirelessError('usage', {
        what: 'the path is relative',
        where: `${command.name}: ${key}`,
        got: value,
        expected: 'an absolute path on the machine that runs Tireless',
      })
  }
}
