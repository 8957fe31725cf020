/** Outputs about MCP servers that several commands share. */

import { z } from 'zod'
import { REACHES, RECOVERIES } from '../../domain/effect.ts'
import type { McpState } from '../../ports/mcp.ts'

const toolShape = z.object({
  tool: z.string(),
  name: z.string(),
  description: z.string(),
  effect: z.object({ recovery: z.enum(RECOVERIES), reach: z.enum(REACHES) }),
  declared: z.boolean(),
  status: z.enum(['approved', 'changed', 'new', 'gone']),
  difference: z.string(),
})

export const mcpStateSchema = z.object({
  name: z.string(),
  transport: z.enum(['stdio', 'http']),
  state: z.enum(['idle', 'starting', 'up', 'down']),
  protocol: z.string().nullable(),
  error: z.string().nullable(),
  stderr: z.array(z.string()),
  tools: z.array(toolShape),
})

export const copyMcpState = ({ stderr, tools, ...state }: McpState): z.input<typeof mcpStateSchema> => ({
  ...state,
  stderr: [...stderr],
  tools: tools.map(({ effect: { recovery, reach }, ...tool }) => ({ ...tool, effect: { recovery, reach } })),
})
