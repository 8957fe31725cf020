/** Commands as tools of an MCP server on a pair of streams, for both generations of the protocol; made from their schemas. */

import type { Readable, Writable } from 'node:stream'
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
import type { Command } from '../commands/command.ts'
import { asTirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'

/** `fixed`: input that whoever asks neither sees nor gives. */
export interface Offered {
  readonly command: Command
  readonly fixed: Readonly<Record<string, Json>>
}

export interface Conversation {
  readonly offered: readonly Offered[]
  readonly input: Readable
  readonly output: Writable
  /** When aborted, nobody is answered any more. */
  readonly over: AbortSignal
  /** Contract: runs the command, whoever holds the home; throws what it throws. */
  ask(command: Command, input: unknown): Promise<unknown>
}

/** Contract: resolves when whoever asked has gone away, or it is over, and nothing that was asked is still under way. */
export async function serveMcp({ offered, input, output, over, ask }: Conversation): Promise<void> {
  const underWay = new Set<Promise<unknown>>()
  const asked = (command: Command, given: unknown): Promise<unknown> => {
    const asking = ask(command, given).finally(() => underWay.delete(asking))
    underWay.add(asking)
    return asking
  }
  const gone = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) input.once(event, () => resolve())
    output.once('error', () => resolve())
    if (over.aborted) resolve()
    over.addEventListener('abort', () => resolve(), { once: true })
  })
  const serving = serveStdio(() => offering(offered, asked), { transport: new StdioServerTransport(input, output) })
  await gone
  await serving.close()
  await Promise.allSettled(underWay)
}

function offering(offered: readonly Offered[], ask: Conversation['ask']): McpServer {
  const server = new McpServer({ name: 'tireless', version: '1' }, { capabilities: { tools: {} } })
  for (const { command, fixed } of offered)
    server.registerTool(
      command.name.replaceAll(' ', '_'),
      {
        title: command.name,
        description: command.summary,
        inputSchema: theirs(command, fixed),
        annotations: { readOnlyHint: command.name !== 'enqueue', destructiveHint: false, openWorldHint: false },
      },
      async (given: unknown) => {
        try {
          const told = await ask(command, { ...(given as object), ...fixed })
          return { content: [{ type: 'text', text: JSON.stringify(told, null, 2) }] }
        } catch (thrown) {
          const { code, message } = asTirelessError(thrown)
          return { content: [{ type: 'text', text: `${code}: ${message}` }], isError: true }
        }
      },
    )
  return server
}

const theirs = ({ input }: Command, fixed: Offered['fixed']): Command['input'] =>
  z.strictObject(Object.fromEntries(Object.entries(input.shape).filter(([key]) => !Object.hasOwn(fixed, key))))
