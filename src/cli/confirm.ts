/** A question before a command is run: on a terminal alone, and only where nobody has answered it already. */

import { createInterface } from 'node:readline/promises'
import type { Command } from '../commands/command.ts'

interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined }
  readonly output: NodeJS.WritableStream
}

/** Contract: true where nobody can be asked; Enter is a yes, the end of the input is none. */
export async function agreed(
  { consent }: Command,
  given: Readonly<Record<string, unknown>>,
  home: string,
  { input, output }: Terminal,
): Promise<boolean> {
  if (consent === undefined || given.yes === true || input.isTTY !== true) return true
  const asking = createInterface({ input, output })
  try {
    const ended = new Promise<string>((resolve) => asking.once('close', () => resolve('no')))
    const answer = await Promise.race([asking.question(`${home}\n${consent} [Y/n] `), ended])
    return /^\s*(y|yes|是)?\s*$/i.test(answer)
  } finally {
    asking.close()
  }
}
