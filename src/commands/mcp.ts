/** Lists, tests and approves the MCP servers whose tools agents use; serves this home as an MCP server. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import { auditOwnerAction } from './audit.ts'
import { defineCommand } from './lib/command.ts'
import type { OfferedCommand } from './lib/context.ts'
import { copyMcpState, mcpStateSchema } from './lib/mcp-shapes.ts'

const server = z.string().min(1).describe('name in mcp_servers').meta({ idOf: 'mcp_server' })

export const mcpList = defineCommand({
  name: 'mcp list',
  summary: 'list MCP servers with their state, last error output and tools',
  example: 'mcp list',
  runsIn: 'any_process',
  needs: ['mcp'],
  input: z.object({}),
  output: z.object({ items: z.array(mcpStateSchema) }),
  run: async ({ mcp }) => ({ items: (await mcp.list()).map(copyMcpState) }),
})

export const mcpTest = defineCommand({
  name: 'mcp test',
  summary: 'start an MCP server and show its tools, or the error',
  example: 'mcp test github',
  runsIn: 'any_process',
  needs: ['mcp'],
  positional: ['server'],
  input: z.object({ server }),
  output: mcpStateSchema.extend({ ok: z.boolean() }),
  async run({ mcp }, { server: name }) {
    const state = copyMcpState(await mcp.test(name))
    return { ...state, ok: state.state === 'up' }
  },
  exitCode: ({ ok }) => (ok ? 0 : 1),
})

export const mcpApprove = defineCommand({
  name: 'mcp approve',
  summary: 'approve new or changed tools of an MCP server as they are now',
  example: 'mcp approve github create_issue',
  runsIn: 'any_process',
  needs: ['clock', 'mcp', 'store'],
  positional: ['server', 'tool'],
  input: z.object({ server, tool: z.string().min(1).optional().describe('only this tool, by its name on the server') }),
  output: z.object({ server: z.string(), approved: z.array(z.string()) }),
  async run(context, { server: name, tool }) {
    const approved = [...(await context.mcp.approve(name, tool))]
    if (approved.length > 0) await auditOwnerAction(context, 'mcp', { server: name, tools: approved })
    return { server: name, approved }
  },
})

/**
 * Commands that MCP clients may call. Approvals cannot be answered here: only a person may do that. An MCP client is a
 * model, so its prompts do not count as the owner's words.
 */
const OFFERED: readonly OfferedCommand[] = [
  { name: 'enqueue', fixedInput: { by: 'model' } },
  // By rule: a question of a program starts no run.
  { name: 'ask', fixedInput: { rules: true } },
  ...['status', 'approvals list', 'approvals show', 'state show', 'state log', 'trace list', 'trace show'].map(
    (name) => ({ name }),
  ),
]

export const mcpServe = defineCommand({
  name: 'mcp serve',
  summary: 'serve this home to an MCP client on stdin and stdout',
  example: 'mcp serve',
  runsIn: 'no_home',
  needs: ['serveMcp'],
  input: z.object({}),
  output: z.null().describe('everything was printed already'),
  async run({ serveMcp: offer }) {
    if (!offer)
      throw new TirelessError('usage', {
        what: 'mcp serve needs stdin and stdout',
        fix: 'run it as a process: tireless mcp serve',
      })
    await offer(OFFERED)
    return null
  },
})
