/** A tool of a server, as the engine knows every tool: what it does to the world is what its owner has said of it, else the worst. */

import { addressOf, placeText } from '../../domain/address.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import { defineTool } from '../../ports/define-tool.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { type Arguments, argumentsOf } from './arguments.ts'
import { resultOf } from './content.ts'
import type { Called } from './link.ts'
import { type ServerOptions, STRICTEST, type ToolEffect } from './options.ts'
import type { Described } from './pins.ts'

/** The way to its server. */
export interface Line {
  /** Contract: throws `tool_failed` where nothing was asked of the server. */
  call(args: Arguments, key: string, signal: AbortSignal): Promise<Called>
  /** Contract: nothing that an earlier life of this program has asked of it goes on. */
  end(): Promise<void>
}

export function mcpTool(
  name: string,
  tool: string,
  { description, schema, read_only }: Described,
  options: ServerOptions,
  line: Line,
): AnyTool {
  const said = effectOf(options, tool, read_only)
  const { destinations, recovery, reach } = said
  const described = Object.keys((schema as { readonly properties?: object } | undefined)?.properties ?? {})
  // What the tool takes and has not described may be one, too.
  const placesOf = (args: Arguments): readonly string[] =>
    Object.entries(args).flatMap(([name, value]) =>
      destinations?.includes(name) ? placesIn(value) : described.includes(name) ? [] : [name, ...placesIn(value)],
    )
  return defineTool<Arguments>({
    name,
    description,
    args: argumentsOf(schema),
    parameters: schema as Readonly<Record<string, Json>>,
    lazy: true,
    ...(options.trust === 'untrusted' && { foreign: true }),
    timeoutMs: options.timeout,
    // Heeded only where it is harmless: a server that died is started again.
    maxRetries: 1,
    effect(args) {
      const host = reach === 'network' ? hostIn(placesOf(args)) : undefined
      return { recovery, reach, ...(host !== undefined && { host }) }
    },
    gives: () => ({ trust: said.gives ?? options.trust, private: said.private ?? reach === 'private' }),
    ...(destinations && { destinations: placesOf }),
    async run(args, { call, signal }) {
      const called = await line.call(args, call, signal)
      if (called.kind === 'answered') return resultOf(called.answer)
      if (called.kind === 'refused') return { status: 'error', content: called.why }
      if (called.kind === 'unheard') throw new TirelessError('tool_failed', `its server is not there: ${called.why}`)
      const harmless = recovery === 'pure' || recovery === 'idempotent'
      if (harmless) throw new TirelessError('tool_failed', `its server was lost during the call: ${called.why}`)
      return { status: 'unknown', content: `its server was lost during the call: ${called.why}` }
    },
    async remains() {
      await line.end()
      return 'Its server cannot tell what became of it.'
    },
  })
}

export const effectOf = (options: ServerOptions, tool: string, isReadOnly: boolean | undefined): ToolEffect =>
  declaredEffect(options, tool, isReadOnly) ?? STRICTEST

/** Contract: what the owner has said of it, by its name or by the mark that he approved it with; undefined where nothing. */
export function declaredEffect(
  { effects, read_only }: ServerOptions,
  tool: string,
  isReadOnly: boolean | undefined,
): ToolEffect | undefined {
  return (Object.hasOwn(effects, tool) ? effects[tool] : undefined) ?? (isReadOnly ? read_only : undefined)
}

function placesIn(value: Json | undefined): readonly string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value.flatMap(placesIn)
  return [typeof value === 'string' ? value : JSON.stringify(value)]
}

/** The one host that is asked, where it is one: an address stands for its host. */
function hostIn(places: readonly string[]): string | undefined {
  const hosts = places.map((place) => {
    const read = addressOf(place)
    return read.kind === 'read' ? placeText(read.value) : place
  })
  return new Set(hosts).size === 1 ? hosts[0] : undefined
}
