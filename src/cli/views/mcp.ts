/** Shows MCP servers and their tools. Text from a server is untrusted, so it is escaped. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { escapeInvisible, style } from '../terminal.ts'
import { formatTable } from './table.ts'

type ShownServer = CommandOutput<'mcp list'>['items'][number]
type ShownTool = ShownServer['tools'][number]

const COLOURS = { up: 'green', down: 'red', starting: 'yellow', idle: 'dim' } as const

export function renderServer({ name, transport, state, protocol, error, stderr, tools }: ShownServer): string {
  const colour = COLOURS[state]
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

export const renderAddedServer = ({ added, ...server }: CommandOutput<'mcp add'>): string =>
  `${renderServer(server)}\n${added ? 'Added.' : 'It was not added, because it does not start.'}`

export const renderServers = ({ items }: CommandOutput<'mcp list'>): string =>
  items.map(renderServer).join('\n\n') || 'none; add one: tireless mcp add'

export const renderApprovedTools = ({ server, approved }: CommandOutput<'mcp approve'>): string =>
  approved.length === 0 ? `no tool of ${server} awaits approval` : `approved: ${escapeInvisible(approved.join(', '))}`

function toolsView(name: string, state: ShownServer['state'], tools: readonly ShownTool[]): readonly string[] {
  if (tools.length > 0)
    return [indented(formatTable(tools.map(row), ['name', 'recovery, reach', 'status', 'description']))]
  return state === 'down' ? [] : [`  tools unknown; list them: tireless mcp test ${name}`]
}

const row = ({ name, effect, declared, status, description }: ShownTool): Readonly<Record<string, unknown>> => ({
  ...{ name: escapeInvisible(name), status, description: escapeInvisible(description) },
  'recovery, reach': `${effect.recovery}, ${effect.reach}${declared ? '' : ' (not declared)'}`,
})

const indented = (text: string): string => text.replaceAll(/^/gm, '  ')
