/** Shows MCP servers and their tools. Text from a server is untrusted, so it is escaped. */

import { escapeInvisible, style } from '../terminal.ts'
import { formatTable } from './table.ts'

interface ShownTool {
  readonly tool: string
  readonly name: string
  readonly description: string
  readonly effect: { readonly recovery: string; readonly reach: string }
  readonly declared: boolean
  readonly status: string
  readonly difference: string
}

export interface ServerView {
  readonly name: string
  readonly transport: string
  readonly state: string
  readonly protocol: string | null
  readonly error: string | null
  readonly stderr: readonly string[]
  readonly tools: readonly ShownTool[]
}

const COLOURS = { up: 'green', down: 'red', starting: 'yellow', idle: 'dim' } as const

export function renderServer({ name, transport, state, protocol, error, stderr, tools }: ServerView): string {
  const colour = COLOURS[state as keyof typeof COLOURS] ?? 'dim'
  const waiting = tools.filter(({ status }) => status === 'new' || status === 'changed')
  return [
    `${style('bold', name)}  ${style(colour, state)}  ${[transport, protocol].filter(Boolean).join(', ')}`,
    ...(error === null ? [] : [`  ${style('red', escapeInvisible(error))}`]),
    ...(state === 'down' ? stderr.map((line) => `  ${style('dim', '|')} ${escapeInvisible(line)}`) : []),
    ...toolsView(name, state, tools),
    ...waiting.flatMap(({ tool, difference }) => [
      indented(escapeInvisible(difference).trimEnd()),
      `  to approve it: tireless mcp approve ${name} ${escapeInvisible(tool)}`,
    ]),
  ].join('\n')
}

export const renderServers = ({ items }: { readonly items: readonly ServerView[] }): string =>
  items.map(renderServer).join('\n\n') || 'none; add one to mcp_servers in the configuration'

export const renderApprovedTools = ({
  server,
  approved,
}: {
  readonly server: string
  readonly approved: readonly string[]
}): string =>
  approved.length === 0 ? `no tool of ${server} awaits approval` : `approved: ${escapeInvisible(approved.join(', '))}`

function toolsView(name: string, state: string, tools: readonly ShownTool[]): readonly string[] {
  if (tools.length > 0)
    return [indented(formatTable(tools.map(row), ['name', 'recovery, reach', 'status', 'description']))]
  return state === 'down' ? [] : [`  tools unknown; list them: tireless mcp test ${name}`]
}

const row = ({ name, effect, declared, status, description }: ShownTool): Readonly<Record<string, unknown>> => ({
  ...{ name: escapeInvisible(name), status, description: escapeInvisible(description) },
  'recovery, reach': `${effect.recovery}, ${effect.reach}${declared ? '' : ' (not declared)'}`,
})

const indented = (text: string): string => text.replaceAll(/^/gm, '  ')
