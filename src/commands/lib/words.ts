/** Reads the words of a typed command: splits a line, and makes the input of a command from words. */

import { TirelessError } from '../../domain/error.ts'
import type { Command } from './command.ts'
import { type InputField, inputFields } from './input-fields.ts'

/** Contract: words separated by blanks; quotes keep blanks inside a word. */
export function splitWords(text: string): readonly string[] {
  const words = text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)
  return [...words].map(([, double, single, plain]) => double?.replaceAll(/\\(.)/g, '$1') ?? single ?? plain ?? '')
}

/**
 * Contract: the input of the command; its schema is not checked here. `--key value` and `--key` set a field; all other
 * words are positional, and the last positional field takes the rest of them. Throws `usage`.
 */
export function inputFromWords(command: Command, words: readonly string[]): Record<string, unknown> {
  const fields = inputFields(command)
  const input: Record<string, unknown> = {}
  const free: string[] = []
  const rest = [...words]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [, name = '', inline] = /^--([a-z][a-z_-]*)(?:=(.*))?$/s.exec(word) ?? []
    const field = fields.find(({ key }) => key === name.replaceAll('-', '_'))
    if (field) input[field.key] = fieldValue(field, inline, rest)
    else free.push(word)
  }
  return { ...input, ...positionalInput(command, free) }
}

function fieldValue({ key, type, isPath, isSecret }: InputField, inline: string | undefined, rest: string[]): unknown {
  if (isPath || isSecret || type === 'array')
    throw new TirelessError('usage', { what: `--${key} can be given only on the command line` })
  if (type === 'boolean') return inline !== 'false'
  const text = inline ?? rest.shift()
  if (text === undefined) throw new TirelessError('usage', { what: `--${key} needs a value` })
  return type === 'number' ? Number(text) : text
}

function positionalInput({ name, positional = [] }: Command, free: readonly string[]): Record<string, string> {
  if (free.length > 0 && positional.length === 0)
    throw new TirelessError('usage', { what: `${name} takes no words`, got: free.join(' ') })
  const last = positional.length - 1
  const values = positional.map((key, at) => [key, at === last ? free.slice(at).join(' ') : free[at]] as const)
  return Object.fromEntries(values.filter((entry): entry is readonly [string, string] => Boolean(entry[1])))
}
