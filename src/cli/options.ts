/** Turns a command's input schema into command-line options, and parsed options back into input. */

import { resolve } from 'node:path'
import { Argument, InvalidArgumentError, Option, type Command as Program } from 'commander'
import type { Command } from '../commands/lib/command.ts'
import { type InputField, inputFields } from '../commands/lib/input-fields.ts'

/** Options of every command; they may also come before the command. True: the option takes a value. */
const COMMON: Readonly<Record<string, boolean>> = { '--home': true, '--config': true, '--json': false }

/** Contract: the same arguments, with common options moved from before the command to after it. */
export function moveCommonOptionsLast(args: readonly string[]): readonly string[] {
  let at = 0
  for (let arg = args[0]; arg !== undefined; arg = args[at]) {
    const [option = ''] = arg.split('=', 1)
    if (!Object.hasOwn(COMMON, option)) break
    at += COMMON[option] && option === arg ? 2 : 1
  }
  const rest = args.slice(at)
  const separator = rest.indexOf('--')
  const end = separator < 0 ? rest.length : separator
  return [...rest.slice(0, end), ...args.slice(0, at), ...rest.slice(end)]
}

/** A secret gets no option for its value, only options that name its source (a variable, a file, stdin). */
export function addInputs(program: Program, command: Command): void {
  if (secretField(command))
    program
      .option('--from-env <variable>', 'read the value from this environment variable')
      .option('--from-file <file>', 'read the value from this file')
  for (const field of optionFields(command)) {
    const isPositional = command.positional?.includes(field.key)
    if (isPositional) program.addArgument(argumentOf(field))
    else program.addOption(optionOf(field))
  }
}

/** Contract: leaves out options that were not given, so that the defaults of the schema apply. */
export function inputFromOptions(
  command: Command,
  positionals: readonly unknown[],
  options: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const field of optionFields(command)) {
    const position = command.positional?.indexOf(field.key) ?? -1
    const value = position >= 0 ? positionals[position] : options[camel(field.key)]
    if (value !== undefined) input[field.key] = field.isPath ? resolve(String(value)) : value
    else if (field.defaultsToCwd) input[field.key] = resolve('.')
  }
  return input
}

/** Its choices are shown and completed here; the schema of the command checks them. */
function argumentOf({ key, required, help, choices }: InputField): Argument {
  const argument = new Argument(required ? `<${key}>` : `[${key}]`, help)
  if (choices.length > 0) argument.argChoices = [...choices]
  return argument
}

function optionOf(field: InputField): Option {
  const flag = field.key.replaceAll('_', '-')
  const long = field.type === 'boolean' ? `--${flag}` : `--${flag} <${field.type === 'enum' ? 'word' : field.type}>`
  const flags = field.short === undefined ? long : `-${field.short}, ${long}`
  const option = new Option(
    flags,
    field.defaultValue === undefined || field.type === 'boolean'
      ? field.help
      : `${field.help} (default: ${field.defaultValue})`,
  )
  if (field.choices.length > 0) option.choices([...field.choices])
  if (field.type === 'number') option.argParser(numberOf)
  if (field.required) option.makeOptionMandatory()
  return option
}

/** The fields that become options: all but arrays and secrets, which one argument cannot hold. */
const optionFields = (command: Command): readonly InputField[] =>
  inputFields(command).filter(({ type, isSecret }) => type !== 'array' && !isSecret)

export const secretField = (command: Command): InputField | undefined =>
  inputFields(command).find(({ isSecret }) => isSecret)

function numberOf(text: string): number {
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number)) throw new InvalidArgumentError('Expected a number.')
  return number
}

function camel(key: string): string {
  return key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
