/** HTTP endpoints of the commands, and how a query or body becomes their input. */

import { isAbsolute } from 'node:path'
import type { Command } from '../commands/lib/command.ts'
import { inputFields } from '../commands/lib/input-fields.ts'
import { TirelessError } from '../domain/error.ts'

export const API = '/api/v1'

/** A command whose name ends in one of these words changes nothing and is called by GET; all others by POST. */
const READING: ReadonlySet<string> = new Set([
  ...['status', 'list', 'show', 'search', 'log', 'diff', 'compare', 'about', 'spend', 'files'],
])

export interface Endpoint {
  readonly command: Command
  readonly method: 'GET' | 'POST'
  readonly path: string
}

/** Contract: one endpoint per command that may run in the kernel; `queue list` has the path `/api/v1/queue/list`. */
export function createEndpoints(commands: readonly Command[]): readonly Endpoint[] {
  return commands
    .filter(({ runsIn, isServed = false }) => runsIn === 'any_process' || isServed)
    .map((command) => {
      const words = command.name.split(' ')
      const method = command.isServed || READING.has(words.at(-1) ?? '') ? 'GET' : 'POST'
      return { command, method, path: `${API}/${words.join('/')}` }
    })
}

/** Contract: converts text to numbers and booleans if the schema expects them; leaves other text for the schema. */
export function inputFromQuery(command: Command, query: Readonly<Record<string, readonly string[]>>): object {
  const fields = new Map(inputFields(command).map((field) => [field.key, field]))
  const input = Object.entries(query).map(([key, [value = '', ...more]]) => {
    if (fields.get(key)?.isForTerminal)
      throw new TirelessError('usage', { what: 'not possible over HTTP', where: `${command.name}: ${key}` })
    if (more.length > 0)
      throw new TirelessError('usage', {
        what: 'the parameter is given more than once',
        where: `${command.name}: ${key}`,
      })
    return [key, parseValue(fields.get(key)?.type, value)] as const
  })
  return Object.fromEntries(input)
}

function parseValue(type: string | undefined, text: string): unknown {
  if (type === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/** Throws `usage` for a relative path, because the client does not know the current folder of this process. */
export function refuseRelativePaths(command: Command, input: object): void {
  for (const { key } of inputFields(command).filter(({ isPath }) => isPath)) {
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
