/** Asks for confirmation before a command runs; only on a terminal, and only if `--yes` is absent. */

import { createInterface } from 'node:readline/promises'
import type { Command } from '../commands/lib/command.ts'

interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined }
  readonly output: NodeJS.WritableStream
}

/** Contract: true without a question if there is no terminal. Enter means yes, end of input means no. */
export async function isConfirmed(
  { confirmation: consent }: Command,
  given: Readonly<Record<string, unknown>>,
  home: string,
  { input, output }: Terminal,
): Promise<boolean> {
  if (consent === undefined || given.yes === true || input.isTTY !== true) return true
  const prompt = createInterface({ input, output })
  try {
    const closed = new Promise<string>((resolve) => prompt.once('close', () => resolve('no')))
    const answer = await Promise.race([prompt.question(`${home}\n${consent} [Y/n] `), closed])
    return /^\s*(y|yes|是)?\s*$/i.test(answer)
  } finally {
    prompt.close()
  }
}
