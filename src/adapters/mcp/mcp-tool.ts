/**
 * Wraps a server's tool as a tool of the engine. The tool's effect comes from the configuration; if none is configured,
 * the strictest effect is assumed.
 */

import { formatHostPort, parseHttpAddress } from '../../domain/address.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import { defineTool } from '../../ports/define-tool.ts'
import type { AnyTool } from '../../ports/tool.ts'
import type { PinnedTool } from './approved-tools.ts'
import { argumentsSchema, type ToolArguments } from './check-arguments.ts'
import type { McpCallOutcome } from './connection.ts'
import { type ServerOptions, STRICTEST_EFFECT, type ToolEffect } from './server-options.ts'
import { resultFromAnswer } from './tool-result.ts'

/** Sends calls to the server. */
interface ServerCalls {
  /** Contract: throws `tool_failed` if the call was not sent to the server. */
  call(args: ToolArguments, key: string, signal: AbortSignal): Promise<McpCallOutcome>
  /** Contract: ends the server's processes that an earlier process of the runtime left behind, and so their calls. */
  end(): Promise<void>
}

export function mcpTool(
  name: string,
  tool: string,
  { description, schema, read_only }: PinnedTool,
  options: ServerOptions,
  line: ServerCalls,
): AnyTool {
  const declared = effectOfTool(options, tool, read_only)
  const { destinations, recovery, reach } = declared
  const described = Object.keys((schema as { readonly properties?: object } | undefined)?.properties ?? {})
  // An argument that the schema does not list may be a destination too.
  const destinationsOf = (args: ToolArguments): readonly string[] =>
    Object.entries(args).flatMap(([name, value]) =>
      destinations?.includes(name) ? textsIn(value) : described.includes(name) ? [] : [name, ...textsIn(value)],
    )
  return defineTool<ToolArguments>({
    name,
    description,
    args: argumentsSchema(schema),
    parameters: schema as Readonly<Record<string, Json>>,
    lazy: true,
    outside: true,
    ...(options.trust === 'untrusted' && { foreign: true }),
    timeoutMs: options.timeout,
    // A retry starts an ended server again. The engine retries only if a repetition is harmless.
    maxRetries: 1,
    effect(args) {
      const host = reach === 'network' ? hostIn(destinationsOf(args)) : undefined
      return { recovery, reach, ...(host !== undefined && { host }) }
    },
    gives: () => ({ trust: declared.gives ?? options.trust, private: declared.private ?? reach === 'private' }),
    ...(destinations && { destinations: destinationsOf }),
    async run(args, { call, signal }) {
      const called = await line.call(args, call, signal)
      if (called.kind === 'answered') return resultFromAnswer(called.answer)
      if (called.kind === 'refused') return { status: 'error', content: called.why }
      if (called.kind === 'unheard')
        throw new TirelessError('tool_failed', `the MCP server cannot be reached: ${called.why}`)
      const isRepeatable = recovery === 'pure' || recovery === 'idempotent'
      if (isRepeatable)
        throw new TirelessError(
          'tool_failed',
          `the connection to the MCP server was lost during the call: ${called.why}`,
        )
      return { status: 'unknown', content: `the connection to the MCP server was lost during the call: ${called.why}` }
    },
    async remains() {
      await line.end()
      return 'The server cannot report whether the call took effect.'
    },
  })
}

export const effectOfTool = (options: ServerOptions, tool: string, isReadOnly: boolean | undefined): ToolEffect =>
  declaredEffect(options, tool, isReadOnly) ?? STRICTEST_EFFECT

/** Contract: the effect that the owner configured for the tool, or else for read-only tools; undefined if none. */
export function declaredEffect(
  { effects, read_only }: ServerOptions,
  tool: string,
  isReadOnly: boolean | undefined,
): ToolEffect | undefined {
  return (Object.hasOwn(effects, tool) ? effects[tool] : undefined) ?? (isReadOnly ? read_only : undefined)
}

function textsIn(value: Json | undefined): readonly string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return [typeof value === 'string' ? value : JSON.stringify(value)]
}

/** Contract: the host of the destinations; undefined if there is no destination, or if the hosts differ. */
function hostIn(places: readonly string[]): string | undefined {
  const hosts = places.map((place) => {
    const read = parseHttpAddress(place)
    return read.kind === 'read' ? formatHostPort(read.value) : place
  })
  return new Set(hosts).size === 1 ? hosts[0] : undefined
}
