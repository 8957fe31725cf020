/**
 * tool_search: finds tools of MCP servers. Their descriptions are not in the prompt, so that the prompt stays short.
 */

import { z } from 'zod'
import type { Json } from '../../domain/json.ts'
import { CLEAN_LABEL, UNTRUSTED_LABEL } from '../../domain/label.ts'
import { tokenize } from '../../domain/tokenize.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'

export interface FoundTool {
  readonly name: string
  readonly description: string
  readonly schema: Json
}

interface ToolSource {
  readonly servers: readonly string[]
  /** True if the owner trusts all servers. */
  readonly trusted: boolean
  /** Contract: `tools`: tools that can be called. `silent`: new servers that did not answer in a limited time. */
  findTools(signal: AbortSignal): Promise<{ readonly tools: readonly FoundTool[]; readonly silent: readonly string[] }>
}

const MOST = 5
const MOST_NAMES = 200

const args = z.strictObject({ query: z.string() })

export const toolSearch = (shelf: ToolSource): AnyTool =>
  defineToolWithText<z.infer<typeof args>>({
    name: 'tool_search',
    loadText: () => loadToolText('tool_search', { servers: shelf.servers.join(', ') }),
    args,
    effect: () => ({ recovery: 'pure', reach: 'none' }),
    // The owner's approval means that a description is unchanged since then, not that it is true.
    gives: () => (shelf.trusted ? CLEAN_LABEL : UNTRUSTED_LABEL),
    async run({ query }, { signal }) {
      const { tools, silent } = await shelf.findTools(signal)
      const best = bestOf(tools, query)
      const lines = best.map(({ name, description, schema }) => JSON.stringify({ name, description, schema }))
      if (best.length === 0) lines.push(describeNoMatch(tools))
      const content = [...lines, ...silent.map((name) => `(the server ${name} does not answer)`)].join('\n')
      return { status: 'ok', content }
    },
  })

function describeNoMatch(tools: readonly FoundTool[]): string {
  if (tools.length === 0) return 'no tools are available'
  const names = tools.slice(0, MOST_NAMES).map(({ name }) => name)
  return `no tool matches; the available tools are: ${names.join(', ')}${tools.length > MOST_NAMES ? ', …' : ''}`
}

/** The tools that share a word with the query, best match first. Pure. */
function bestOf(tools: readonly FoundTool[], query: string): readonly FoundTool[] {
  const wanted = [...new Set(wordsIn(query))]
  return tools
    .map((tool) => ({ tool, score: scoreOf(tool, wanted) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .slice(0, MOST)
    .map(({ tool }) => tool)
}

/** A word in the tool's name counts three times as much as a word in its description; a common prefix counts half. */
function scoreOf({ name, description }: FoundTool, wanted: readonly string[]): number {
  const [named, described] = [wordsIn(name), wordsIn(description)]
  return wanted.reduce((sum, word) => sum + 3 * closeness(named, word) + closeness(described, word), 0)
}

function closeness(words: readonly string[], wanted: string): number {
  if (words.includes(wanted)) return 1
  const alike = (word: string): boolean => word.length > 2 && (word.startsWith(wanted) || wanted.startsWith(word))
  return wanted.length > 2 && words.some(alike) ? 0.5 : 0
}

/** The words of a text; `sendMail` and `send_mail` are two words each. */
const wordsIn = (text: string): string[] =>
  tokenize(text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll('_', ' '))
