/** Runs inside the sandbox: executes one call of Tireless on an object that the plugin added. */

import { describeMismatch } from '../../../domain/describe-issues.ts'
import { TirelessError } from '../../../domain/error.ts'
import type { Json } from '../../../domain/json.ts'
import type { Critic } from '../../../ports/behaviour.ts'
import type { Channel } from '../../../ports/channel.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Gate } from '../../../ports/gate.ts'
import type { ModelProvider } from '../../../ports/model.ts'
import type { Source, SourceSink } from '../../../ports/source.ts'
import type { AnyTool, ToolContext } from '../../../ports/tool.ts'
import type { FromPlugin, ToPlugin } from './protocol.ts'

interface CallTools {
  readonly clock: Clock
  readonly signal: AbortSignal
  send(message: FromPlugin): void
  ask(id: number, method: 'publish' | 'mark' | 'saveMark', value?: Json): Promise<Json | undefined>
}

type Call = Extract<ToPlugin, { type: 'call' }>

/** Contract: the result as JSON; throws what the plugin throws. */
export async function runCall(call: Call, item: unknown, tools: CallTools): Promise<Json | undefined> {
  if (item === undefined) throw new TirelessError('tool_failed', `the plugin has no ${call.name} in ${call.kind}`)
  const [first, second] = call.args as unknown as readonly never[]
  switch (call.kind) {
    case 'tools':
      return runTool(item as AnyTool, call, tools)
    case 'gates':
      return asJson(await (item as Gate).judge(first as never))
    case 'critics':
      return asJson(await (item as Critic).judge(first as never, second as never))
    case 'channels':
      return asJson((await (item as Channel).deliver(first as never, tools.signal)) ?? null)
    case 'sources':
      await (item as Source).run(sinkOf(call.id, tools), tools.signal)
      return undefined
    default: {
      const onText = (value: string): void => tools.send({ type: 'event', id: call.id, event: 'text', value })
      const model = (item as ModelProvider).open(String(first))
      return asJson(await model.call(second as never, { signal: tools.signal, onText }))
    }
  }
}

async function runTool(tool: AnyTool, { id, args: [raw, about] }: Call, { clock, signal, send }: CallTools) {
  const parsed = tool.args.safeParse(raw)
  if (!parsed.success)
    return { status: 'error', content: `invalid arguments: ${describeMismatch(parsed.error.issues, raw)}` }
  const context = {
    ...(about as object),
    ...{ clock, signal, label: { trust: 'untrusted', private: false }, seen: new Map() },
    say: (text: string) => send({ type: 'event', id, event: 'say', value: String(text).slice(0, 1000) }),
    ops: (group: string): never => {
      throw new TirelessError('tool_failed', `a sandboxed plugin has no workspace: ${group}`)
    },
  }
  return resultOf(await tool.run(parsed.data as never, context as unknown as ToolContext))
}

/** Of a result, only status and content leave the sandbox; plain data leaves as it is. */
function resultOf(result: unknown): Json {
  if (result === undefined) throw new TirelessError('tool_failed', 'the tool returned nothing')
  const { status, content } = (result ?? {}) as { readonly status?: unknown; readonly content?: unknown }
  if (status === undefined || content === undefined) return asJson(result)
  return { status: asJson(status), content: asJson(content) }
}

const sinkOf = (id: number, { ask, send }: CallTools): SourceSink => ({
  publish: async (event) => (await ask(id, 'publish', asJson(event))) as never,
  setSlice: (of, slice) => send({ type: 'event', id, event: 'slice', value: { of, slice } }),
  mark: async () => (await ask(id, 'mark')) ?? null,
  async saveMark(mark) {
    await ask(id, 'saveMark', mark)
  },
})

const asJson = (value: unknown): Json => (value === undefined ? null : (JSON.parse(JSON.stringify(value)) as Json))
