/** Runs inside the sandbox: loads the plugin, tells what it offers, and executes calls of Tireless. */

import { z } from 'zod'
import { asTirelessError, TirelessError } from '../../../domain/error.ts'
import type { Json } from '../../../domain/json.ts'
import { pluginLabel, type SANDBOXED_KINDS } from '../../../domain/plugin-manifest.ts'
import type { Channel } from '../../../ports/channel.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Ids } from '../../../ports/ids.ts'
import type { ModelProvider } from '../../../ports/model.ts'
import type { AnyTool } from '../../../ports/tool.ts'
import { pluginFrom } from '../guard-plugin.ts'
import { importPinned } from '../pinned-modules.ts'
import { createMiniHost, type MiniHost } from './mini-host.ts'
import { type FromPlugin, type Offers, type ToPlugin, toPlugin } from './protocol.ts'
import { runCall } from './run-call.ts'

interface ServeOptions {
  readonly lines: AsyncIterable<string>
  send(message: FromPlugin): void
  readonly clock: Clock
  readonly ids: Ids
  /** Addresses of the modules that the plugin can import, by name. */
  readonly modules: Readonly<Record<string, string>>
  /** Contract: writes the plugin's files to a folder of the sandbox and returns its path. */
  unpack(files: ReadonlyMap<string, Buffer>): string
}

type Kind = (typeof SANDBOXED_KINDS)[number]

/** Contract: resolves when Tireless closes the connection. */
export async function servePlugin(options: ServeOptions): Promise<void> {
  const { lines, send, clock } = options
  const running = new Map<number, AbortController>()
  const asked = new Map<number, PromiseWithResolvers<Json | undefined>>()
  let host: MiniHost | undefined
  let lastAsk = 0
  const askTireless = async (id: number, method: 'publish' | 'mark' | 'saveMark', value?: Json) => {
    if (!running.has(id)) throw new TirelessError('usage', 'the call of the source has ended')
    lastAsk += 1
    const reply = Promise.withResolvers<Json | undefined>()
    asked.set(lastAsk, reply)
    send({ type: 'ask', id, ask: lastAsk, method, ...(value !== undefined && { value }) })
    return reply.promise
  }
  for await (const line of lines) {
    const message = toPlugin.parse(JSON.parse(line))
    if (message.type === 'load') host = await load(message, options)
    else if (message.type === 'ping') send({ type: 'pong' })
    else if (message.type === 'cancel') running.get(message.id)?.abort('cancelled')
    else if (message.type === 'reply') {
      const { id, value, error } = message
      if (error === undefined) asked.get(id)?.resolve(value)
      else asked.get(id)?.reject(new TirelessError('usage', error))
      asked.delete(id)
    } else if (host) {
      const { id } = message
      const over = new AbortController()
      running.set(id, over)
      const tools = { clock, signal: over.signal, send, ask: askTireless }
      void runCall(message, findItem(host, message), tools)
        .then(
          (value) => send({ type: 'result', id, ...(value !== undefined && { value }) }),
          (thrown) => send(errorMessage(id, thrown)),
        )
        .finally(() => running.delete(id))
    }
  }
  await host?.stop()
}

function errorMessage(id: number, thrown: unknown): FromPlugin {
  const { code, message, retryAfterMs } = asTirelessError(thrown, 'tool_failed')
  const text = message.slice(0, 10_000).toWellFormed()
  return { type: 'error', id, code, message: text, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

function findItem(host: MiniHost, { kind, name }: Extract<ToPlugin, { type: 'call' }>): unknown {
  return host.items(kind).get(name)
}

async function load(
  message: Extract<ToPlugin, { type: 'load' }>,
  options: ServeOptions,
): Promise<MiniHost | undefined> {
  const { send, clock, ids, modules, unpack } = options
  const { name, entry, digest, options: given, secrets } = message
  try {
    const files = new Map(Object.entries(message.files).map(([path, text]) => [path, Buffer.from(text, 'base64')]))
    const root = unpack(files)
    const { default: exported } = await importPinned({ name, root, files, digest }, entry, modules)
    const plugin = await pluginFrom(exported, { options: given, secrets })
    const host = createMiniHost(plugin, { clock, ids, log: (text) => send({ type: 'log', text }) })
    await host.start()
    send({ type: 'ready', offers: offersOf(host) })
    return host
  } catch (thrown) {
    const { message: text } = asTirelessError(thrown, 'plugin_failed')
    send({
      type: 'failed',
      message: text
        .replace(`${pluginLabel(name)}: `, '')
        .slice(0, 10_000)
        .toWellFormed(),
    })
    return undefined
  }
}

function offersOf(host: MiniHost): Offers {
  const named = (kind: Kind): { name: string }[] => [...host.items(kind).keys()].map((name) => ({ name }))
  return {
    tools: [...host.items('tools').values()].map((tool) => offerTool(tool as AnyTool)),
    ...{ gates: named('gates'), critics: named('critics') },
    channels: [...host.items('channels').values()].map((channel) => offerChannel(channel as Channel)),
    sources: [...host.items('sources')].map(([name, source]) => {
      return { name, type: String((source as { readonly type?: unknown }).type ?? 'plugin') }
    }),
    modelProviders: [...host.items('modelProviders')].map(([name, provider]) => ({
      name,
      models: offerModels(provider as ModelProvider),
    })),
  }
}

/** It sends no files: its process does not see the workspaces. */
const offerChannel = ({ name, maxText, replaces }: Channel): Offers['channels'][number] => ({
  ...{ name, ...(maxText !== undefined && { maxText }), ...(replaces !== undefined && { replaces }) },
})

/** A model whose price is not offered is not called while a money limit is set. */
function offerModels(provider: ModelProvider): Offers['modelProviders'][number]['models'] {
  return (provider.models ?? []).map((name) => {
    const { price } = provider.open(name)
    return { name, ...(price !== undefined && { price: JSON.parse(JSON.stringify(price)) }) }
  })
}

function offerTool({ name, description, args, parameters, timeoutMs }: AnyTool): Offers['tools'][number] {
  const schema = parameters ?? z.toJSONSchema(args, { io: 'input' })
  return {
    ...{ name, description, timeoutMs: timeoutMs ?? null },
    parameters: JSON.parse(JSON.stringify(schema)) as Record<string, never>,
  }
}
