/** A model that makes calls until its history is cut. */

import type { JournalRecord } from '../../src/domain/journal-record.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import { estimateTokens } from '../../src/prompt-compiler/tokens.ts'
import { fakeBehaviour } from './fake-tools.ts'

export const KINDS = ['whole', 'window', 'summary', 'recall'] as const

export const yamlWith = (maxInput: number): string =>
  `models: { max_input: ${maxInput} }\nbudget: { per_dispatch_calls: 500 }\n`

export const pokeBehaviour = (): ReturnType<typeof fakeBehaviour> => fakeBehaviour({ tools: ['poke'] })

/** The tokens of a request as the engine counts them. */
export const tokensOf = ({ system, tools, messages }: ModelRequest): number =>
  [system, JSON.stringify(tools), ...messages.map((message) => JSON.stringify(message))].reduce(
    (sum, text) => sum + estimateTokens(text),
    0,
  )

export const textOf = ({ messages }: ModelRequest): string =>
  messages.map((message) => JSON.stringify(message)).join('\n')

export const cutsIn = (journal: readonly JournalRecord[]) => journal.flatMap((it) => (it.kind === 'cut' ? [it] : []))
