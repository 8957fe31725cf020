/** Asks a person on a terminal for inputs of a command that were not given. */

import { createInterface } from 'node:readline/promises'
import type { Command } from '../commands/lib/command.ts'
import { TirelessError } from '../domain/error.ts'
import { inOwnLanguage } from './views/language.ts'

interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined }
  readonly output: NodeJS.WritableStream
}

type Input = Readonly<Record<string, unknown>>

/** Contract: the input with the answers; unchanged without a terminal. An empty answer means the default. */
export async function askForInputs({ prompts = [] }: Command, given: Input, terminal: Terminal): Promise<Input> {
  const missing = prompts.filter(({ key, when }) => given[key] === undefined && when.includes(String(given.name)))
  if (missing.length === 0 || terminal.input.isTTY !== true) return given
  const answers: Record<string, unknown> = {}
  for (const { key, before, question, fallback } of missing) {
    if (before) terminal.output.write(`${inOwnLanguage(before)}\n`)
    const shown = fallback === undefined ? '' : ` [${fallback}]`
    const answer = (await askLine(`${inOwnLanguage(question)}${shown}: `, terminal)).trim() || fallback
    if (answer !== undefined) answers[key] = answer
  }
  return { ...given, ...answers }
}

async function askLine(question: string, { input, output }: Terminal): Promise<string> {
  const prompt = createInterface({ input, output })
  try {
    const closed = new Promise<never>((_, reject) =>
      prompt.once('close', () => reject(new TirelessError('aborted', 'cancelled; nothing was set'))),
    )
    closed.catch(() => {})
    return await Promise.race([prompt.question(question), closed])
  } finally {
    prompt.close()
  }
}
