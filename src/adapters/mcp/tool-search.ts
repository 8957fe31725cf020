/** tool_search: which tools of other servers there are for something. They are not in the prompt, so that it stays what it is. */

import { z } from 'zod'
import type { Json } from '../../domain/json.ts'
import { CLEAN, UNTRUSTED } from '../../domain/trust.ts'
import { wordsOf } from '../../domain/words.ts'
import { defineTool } from '../../ports/define-tool.ts'
import type { AnyTool } from '../../ports/tool.ts'

export interface Findable {
  readonly name: string
  readonly description: string
  readonly schema: Json
}

export interface Shelf {
  readonly servers: readonly string[]
  /** Whether the owner trusts all of them. */
  readonly trusted: boolean
  /** Contract: what can be called, and which servers could not be asked; not before a server that was never seen has been waited for. */
  look(signal: AbortSignal): Promise<{ readonly tools: readonly Findable[]; readonly silent: readonly string[] }>
}

const MOST = 5
const MOST_NAMES = 200

const args = z.strictObject({ query: z.string().describe('What it should do, in a few words.') })

export const toolSearch = (shelf: Shelf): AnyTool =>
  defineTool<z.infer<typeof args>>({
    name: 'tool_search',
    description: `Looks for more tools, of these servers: ${shelf.servers.join(', ')}. Gives name, description and schema of those that fit best; call them with tool_call.`,
    args,
    effect: () => ({ recovery: 'pure', reach: 'none' }),
    // A pin says that it is still the same, not that it is true.
    gives: () => (shelf.trusted ? CLEAN : UNTRUSTED),
    async run({ query }, { signal }) {
      const { tools, silent } = await shelf.look(signal)
      const best = bestOf(tools, query)
      const lines = best.map(({ name, description, schema }) => JSON.stringify({ name, description, schema }))
      if (best.length === 0) lines.push(nothingFits(tools))
      const content = [...lines, ...silent.map((name) => `(${name} does not answer)`)].join('\n')
      return { status: 'ok', content }
    },
  })

function nothingFits(tools: readonly Findable[]): string {
  if (tools.length === 0) return 'there are no such tools'
  const names = tools.slice(0, MOST_NAMES).map(({ name }) => name)
  return `nothing fits; the tools are: ${names.join(', ')}${tools.length > MOST_NAMES ? ', …' : ''}`
}

/** Contract: pure; those that have a word in common with the question, best first. */
function bestOf(tools: readonly Findable[], query: string): readonly Findable[] {
  const wanted = [...new Set(wordsIn(query))]
  return tools
    .map((tool) => ({ tool, score: scoreOf(tool, wanted) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .slice(0, MOST)
    .map(({ tool }) => tool)
}

/** A word of the name says more than one of the description; the beginning of a word is better than nothing. */
function scoreOf({ name, description }: Findable, wanted: readonly string[]): number {
  const [named, described] = [wordsIn(name), wordsIn(description)]
  return wanted.reduce((sum, word) => sum + 3 * closeness(named, word) + closeness(described, word), 0)
}

function closeness(words: readonly string[], wanted: string): number {
  if (words.includes(wanted)) return 1
  const alike = (word: string): boolean => word.length > 2 && (word.startsWith(wanted) || wanted.startsWith(word))
  return wanted.length > 2 && words.some(alike) ? 0.5 : 0
}

/** `sendMail` and `send_mail` are two words each. */
const wordsIn = (text: string): string[] => wordsOf(text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll('_', ' '))
