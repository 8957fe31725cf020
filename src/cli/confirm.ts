/** Asks for confirmation on a terminal: before a command runs, or when it answers that it needs a yes. */

import { createInterface } from 'node:readline/promises'
import type { Command } from '../commands/lib/command.ts'
import { inOwnLanguage, terminalLanguage } from './views/language.ts'

interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined }
  readonly output: NodeJS.WritableStream
}

/** Contract: asks whether to go on; false without a terminal, and unless the answer is yes. */
export async function isAgreed(question: string, { input, output }: Terminal): Promise<boolean> {
  if (input.isTTY !== true) return false
  return /^\s*(y|yes|是|好)\s*$/i.test(
    await ask(`${question}\n${terminalLanguage() === 'zh' ? '继续吗？' : 'Go on?'} [y/N] `, { input, output }),
  )
}

/** End of input counts as `no`. */
async function ask(question: string, { input, output }: Terminal): Promise<string> {
  const prompt = createInterface({ input, output })
  try {
    const closed = new Promise<string>((resolve) => prompt.once('close', () => resolve('no')))
    return await Promise.race([prompt.question(question), closed])
  } finally {
    prompt.close()
  }
}

/** Contract: true without a question if there is no terminal. Enter means yes, end of input means no. */
export async function isConfirmed(
  { confirmation: consent }: Command,
  given: Readonly<Record<string, unknown>>,
  home: string,
  { input, output }: Terminal,
): Promise<boolean> {
  if (consent === undefined || given.yes === true || input.isTTY !== true) return true
  return /^\s*(y|yes|是)?\s*$/i.test(await ask(`${home}\n${inOwnLanguage(consent)} [Y/n] `, { input, output }))
}
