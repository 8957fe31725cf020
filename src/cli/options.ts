/** From a command's input schema to options of the command line, and back from their words to its input. */

import { resolve } from 'node:path'
import { InvalidArgumentError, Option, type Command as Program } from 'commander'
import type { Command } from '../commands/command.ts'
import { type Field, fieldsOf } from '../commands/fields.ts'

/** Every command has these, so people say them before the command, too. True: a word follows. */
const COMMON: Readonly<Record<string, boolean>> = { '--home': true, '--config': true, '--json': false }

/** Contract: the same words; those options that stand before the command come after it. */
export function commonLast(args: readonly string[]): readonly string[] {
  let at = 0
  for (let word = args[0]; word !== undefined; word = args[at]) {
    const [option = ''] = word.split('=', 1)
    if (!Object.hasOwn(COMMON, option)) break
    at += COMMON[option] && option === word ? 2 : 1
  }
  const rest = args.slice(at)
  const plain = rest.indexOf('--')
  const end = plain < 0 ? rest.length : plain
  return [...rest.slice(0, end), ...args.slice(0, at), ...rest.slice(end)]
}

/** A secret has no place on the command line, only where it comes from has. */
export function addInputs(program: Program, command: Command): void {
  if (secretOf(command))
    program
      .option('--from-env <variable>', 'take the value from this variable')
      .option('--from-file <file>', 'take the value from this file')
  for (const field of sayable(command)) {
    const position = command.positional?.includes(field.key)
    if (position) program.argument(field.required ? `<${field.key}>` : `[${field.key}]`, field.help)
    else program.addOption(optionOf(field))
  }
}

/** Contract: what was not given is left out, so that the schema's own defaults hold. */
export function inputOf(
  command: Command,
  positionals: readonly unknown[],
  options: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const field of sayable(command)) {
    const position = command.positional?.indexOf(field.key) ?? -1
    const value = position >= 0 ? positionals[position] : options[camel(field.key)]
    if (value !== undefined) input[field.key] = field.isPath ? resolve(String(value)) : value
    else if (field.isHere) input[field.key] = resolve('.')
  }
  return input
}

function optionOf(field: Field): Option {
  const flag = field.key.replaceAll('_', '-')
  const long = field.type === 'boolean' ? `--${flag}` : `--${flag} <${field.type === 'enum' ? 'word' : field.type}>`
  const flags = field.short === undefined ? long : `-${field.short}, ${long}`
  const option = new Option(
    flags,
    field.fallback === undefined || field.type === 'boolean'
      ? field.help
      : `${field.help} (default: ${field.fallback})`,
  )
  if (field.choices.length > 0) option.choices([...field.choices])
  if (field.type === 'number') option.argParser(numberOf)
  if (field.required) option.makeOptionMandatory()
  return option
}

/** Lists cannot be said in one word; secrets are not said at all. */
const sayable = (command: Command): readonly Field[] =>
  fieldsOf(command).filter(({ type, isSecret }) => type !== 'array' && !isSecret)

export const secretOf = (command: Command): Field | undefined => fieldsOf(command).find(({ isSecret }) => isSecret)

function numberOf(text: string): number {
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number)) throw new InvalidArgumentError('expected a number.')
  return number
}

function camel(key: string): string {
  return key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
