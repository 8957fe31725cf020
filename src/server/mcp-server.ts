/** An MCP server on an input and an output stream; its tools are commands. Serves both generations of the protocol. */

import type { Readable, Writable } from 'node:stream'
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
import type { Command } from '../commands/lib/command.ts'
import { asTirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'

/** A command that the server offers as a tool. `fixedInput`: input that the client neither sees nor sets. */
interface OfferedTool {
  readonly command: Command
  readonly fixedInput: Readonly<Record<string, Json>>
}

interface McpServerOptions {
  readonly offered: readonly OfferedTool[]
  readonly input: Readable
  readonly output: Writable
  /** When it aborts, the server stops answering. */
  readonly stop: AbortSignal
  /** Contract: runs the command, in whichever process holds the home; throws the command's error. */
  runCommand(command: Command, input: unknown): Promise<unknown>
}

/** Contract: resolves when the client has disconnected or `stop` has aborted, and all running calls have ended. */
export async function serveMcp({
  offered,
  input,
  output,
  stop: over,
  runCommand: ask,
}: McpServerOptions): Promise<void> {
  const running = new Set<Promise<unknown>>()
  const runCall = (command: Command, args: unknown): Promise<unknown> => {
    const call = ask(command, args).finally(() => running.delete(call))
    running.add(call)
    return call
  }
  const disconnected = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) input.once(event, () => resolve())
    output.once('error', () => resolve())
    if (over.aborted) resolve()
    over.addEventListener('abort', () => resolve(), { once: true })
  })
  const server = serveStdio(() => createServer(offered, runCall), {
    transport: new StdioServerTransport(input, output),
  })
  await disconnected
  await server.close()
  await Promise.allSettled(running)
}

function createServer(offered: readonly OfferedTool[], ask: McpServerOptions['runCommand']): McpServer {
  const server = new McpServer({ name: 'tireless', version: '1' }, { capabilities: { tools: {} } })
  for (const { command, fixedInput: fixed } of offered)
    server.registerTool(
      command.name.replaceAll(' ', '_'),
      {
        title: command.name,
        description: command.summary,
        inputSchema: clientInput(command, fixed),
        annotations: { readOnlyHint: command.name !== 'enqueue', destructiveHint: false, openWorldHint: false },
      },
      async (args: unknown) => {
        try {
          const result = await ask(command, { ...(args as object), ...fixed })
          return { content: [{ type: 'text', text: JSON.stringify(result, null, 2) }] }
        } catch (thrown) {
          const { code, message } = asTirelessError(thrown)
          return { content: [{ type: 'text', text: `${code}: ${message}` }], isError: true }
        }
      },
    )
  return server
}

const clientInput = ({ input }: Command, fixed: OfferedTool['fixedInput']): Command['input'] =>
  z.strictObject(Object.fromEntries(Object.entries(input.shape).filter(([key]) => !Object.hasOwn(fixed, key))))
