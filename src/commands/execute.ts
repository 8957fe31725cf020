/** Running a command, whoever asks: input checked before, output checked after, and no secret in it. */

import { z } from 'zod'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { type Redact, redacted } from '../domain/redacted.ts'
import type { Command, Context, Progress } from './command.ts'
import type { Outside } from './outside.ts'

export async function execute(
  command: Command,
  context: Context,
  input: unknown,
  tell: (progress: Progress) => void,
): Promise<unknown> {
  const { hide = (text: string) => text } = context as Partial<Context>
  try {
    const output = command.output.parse(await command.run(context, checked(command, input), tell))
    return redacted(output, hide)
  } catch (thrown) {
    throw withoutSecrets(thrown, hide)
  }
}

/** Whoever asks: an error says no more than an answer does. */
function withoutSecrets(thrown: unknown, hide: Redact): unknown {
  const error = asTirelessError(thrown)
  const message = hide(error.message)
  return message === error.message ? thrown : new TirelessError(error.code, message)
}

/** Contract: throws `why` for a command that can do nothing without the home. */
export async function executeShut(
  command: Command,
  outside: Outside,
  input: unknown,
  why: TirelessError,
): Promise<unknown> {
  if (!command.shut) throw why
  return command.output.parse(await command.shut(outside, checked(command, input), why))
}

function checked(command: Command, input: unknown): Record<string, unknown> {
  const { success, data, error } = command.input.strict().safeParse(input)
  if (success) return data
  throw new TirelessError('usage', {
    what: z.prettifyError(error).replaceAll('\n', ' '),
    where: command.name,
    fix: `see: ${command.name} --help`,
  })
}
