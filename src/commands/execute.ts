/** Running a command, whoever asks: input checked before, output checked after. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import type { Command, Context, Progress } from './command.ts'

export async function execute(
  command: Command,
  context: Context,
  input: unknown,
  tell: (progress: Progress) => void,
): Promise<unknown> {
  const checked = command.input.strict().safeParse(input)
  if (!checked.success)
    throw new TirelessError('usage', {
      what: z.prettifyError(checked.error).replaceAll('\n', ' '),
      where: command.name,
      fix: `see: ${command.name} --help`,
    })
  return command.output.parse(await command.run(context, checked.data, tell))
}
