/** How things stand with one tool of a server, for its owner, and in our own words for a model that calls it all the same. */

import type { McpTool } from '../../ports/mcp.ts'
import { declaredEffect, effectOf } from './mcp-tool.ts'
import { nameOf } from './names.ts'
import { differenceIn, type Pin } from './pins.ts'
import type { Server } from './server.ts'

export function toolOf(server: Server, tool: string, pin: Pin): McpTool {
  const { name, options } = server
  const isReadOnly = pin.approved?.read_only
  const { recovery, reach } = effectOf(options, tool, isReadOnly)
  return {
    ...{ tool, name: nameOf(name, tool), description: (pin.approved ?? pin.offered)?.description ?? '' },
    ...{ effect: { recovery, reach }, declared: declaredEffect(options, tool, isReadOnly) !== undefined },
    ...{ status: statusOf(server, tool, pin), difference: differenceIn(tool, pin) },
  }
}

function statusOf(server: Server, tool: string, { approved, offered }: Pin): McpTool['status'] {
  if (!server.mayHave(tool)) return 'gone'
  if (offered === null) return 'approved'
  return approved === null ? 'new' : 'changed'
}

/** Why it cannot be called. */
export function offWords(name: string, tool: string, pin: Pin | undefined): string {
  if (!pin?.offered) return `the MCP server ${name} has no tool ${tool} (any more)`
  const what = pin.approved === null ? 'has a new tool' : 'says something else than before of its tool'
  return `the MCP server ${name} ${what} ${tool}; it is off until its owner says: tireless mcp approve ${name} ${tool}`
}
