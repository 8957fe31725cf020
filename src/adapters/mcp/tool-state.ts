/** The state of one server tool: as data for the owner, and as a message for a model that calls a disabled tool. */

import type { McpTool } from '../../ports/mcp.ts'
import { diffPin, type Pin } from './approved-tools.ts'
import { declaredEffect, effectOfTool } from './mcp-tool.ts'
import type { ConfiguredServer } from './server.ts'
import { qualifiedToolName } from './tool-names.ts'

export function toolState(server: ConfiguredServer, tool: string, pin: Pin): McpTool {
  const { name, options } = server
  const isReadOnly = pin.approved?.read_only
  const { recovery, reach } = effectOfTool(options, tool, isReadOnly)
  return {
    ...{ tool, name: qualifiedToolName(name, tool), description: (pin.approved ?? pin.offered)?.description ?? '' },
    ...{ effect: { recovery, reach }, declared: declaredEffect(options, tool, isReadOnly) !== undefined },
    ...{ status: statusOf(server, tool, pin), difference: diffPin(tool, pin) },
  }
}

function statusOf(server: ConfiguredServer, tool: string, { approved, offered }: Pin): McpTool['status'] {
  if (!server.mayHaveTool(tool)) return 'gone'
  if (offered === null) return 'approved'
  return approved === null ? 'new' : 'changed'
}

/** A message that says why the tool cannot be called. */
export function describeDisabled(name: string, tool: string, pin: Pin | undefined): string {
  if (!pin?.offered) return `the MCP server ${name} has no tool ${tool}`
  const what = pin.approved === null ? 'has a new tool' : 'has changed the description of its tool'
  return `the MCP server ${name} ${what} ${tool}; disabled until the owner runs: tireless mcp approve ${name} ${tool}`
}
