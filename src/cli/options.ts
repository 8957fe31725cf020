/** From a command's input schema to options of the command line, and back from their words to its input. */

import { resolve } from 'node:path'
import { InvalidArgumentError, Option, type Command as Program } from 'commander'
import type { z } from 'zod'
import type { Command } from '../commands/command.ts'

interface Field {
  readonly key: string
  readonly flag: string
  readonly type: string
  readonly help: string
  readonly required: boolean
  readonly choices: readonly string[]
  readonly fallback: unknown
  readonly isPath: boolean
  readonly short: string | undefined
}

export function addInputs(program: Program, command: Command): void {
  for (const field of fieldsOf(command)) {
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
  for (const field of fieldsOf(command)) {
    const position = command.positional?.indexOf(field.key) ?? -1
    const value = position >= 0 ? positionals[position] : options[camel(field.key)]
    if (value !== undefined) input[field.key] = field.isPath ? resolve(String(value)) : value
  }
  return input
}

function optionOf(field: Field): Option {
  const long = field.type === 'boolean' ? `--${field.flag}` : `--${field.flag} <${field.type}>`
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

function fieldsOf(command: Command): Field[] {
  return Object.entries(command.input.shape)
    .map(([key, schema]) => fieldOf(key, schema as z.ZodType))
    .filter(({ type }) => type !== 'array')
}

function fieldOf(key: string, schema: z.ZodType): Field {
  let inner = schema as z.ZodType & {
    def: { type: string; innerType?: z.ZodType; defaultValue?: unknown; entries?: Record<string, string> }
  }
  let required = true
  let fallback: unknown
  let help = schema.description
  const { path, short } = (schema.meta() ?? {}) as { readonly path?: boolean; readonly short?: string }
  while (inner.def.innerType) {
    required &&= inner.def.type !== 'optional' && inner.def.type !== 'default'
    if (inner.def.type === 'default') fallback = inner.def.defaultValue
    inner = inner.def.innerType as typeof inner
    help ??= inner.description
  }
  return {
    key,
    flag: key.replaceAll('_', '-'),
    type: inner.def.type === 'enum' ? 'word' : inner.def.type,
    help: help ?? '',
    required,
    choices: Object.values(inner.def.entries ?? {}),
    fallback,
    isPath: path === true,
    short,
  }
}

function numberOf(text: string): number {
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number)) throw new InvalidArgumentError('expected a number.')
  return number
}

function camel(key: string): string {
  return key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
