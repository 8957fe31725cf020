/** Running a command, whoever asks: input checked before, output checked after. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import type { Command, Context, Progress } from './command.ts'
import type { Outside } from './outside.ts'

export async function execute(
  command: Command,
  context: Context,
  input: unknown,
  tell: (progress: Progress) => void,
): Promise<unknown> {
  return command.output.parse(await command.run(context, checked(command, input), tell))
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
