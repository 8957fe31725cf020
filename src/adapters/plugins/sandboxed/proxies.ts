/**
 * What a sandboxed plugin offers, as objects of this process: each method is a call to the plugin's process. What comes
 * back is checked here or by the engine; nothing of it is trusted.
 */

import { z } from 'zod'
import type { CallResult } from '../../../domain/decision.ts'
import type { Effect } from '../../../domain/effect.ts'
import type { ErrorCode } from '../../../domain/error.ts'
import { asTirelessError, TirelessError } from '../../../domain/error.ts'
import type { ModelAnswer } from '../../../domain/journal-record.ts'
import type { Json } from '../../../domain/json.ts'
import { UNTRUSTED_LABEL } from '../../../domain/label.ts'
import type { PluginManifest } from '../../../domain/plugin-manifest.ts'
import { FAILURE_CLASSES } from '../../../domain/stop-reason.ts'
import type { Critic } from '../../../ports/behaviour.ts'
import type { Channel } from '../../../ports/channel.ts'
import { defineTool } from '../../../ports/define-tool.ts'
import type { Gate } from '../../../ports/gate.ts'
import type { ModelProvider } from '../../../ports/model.ts'
import type { Source, SourceEvent, SourceSink } from '../../../ports/source.ts'
import type { AnyTool } from '../../../ports/tool.ts'
import type { PluginClient } from './plugin-client.ts'
import type { Offers } from './protocol.ts'

const CALL_MS = 60_000
const GATE_MS = 5000
const MODEL_MS = 10 * 60_000

/** For tools without a declared effect: never repeated, and every call needs approval. */
const STRICTEST: Pick<Effect, 'recovery' | 'reach'> = { recovery: 'once', reach: 'destructive' }

const MODEL_CODES: readonly [ErrorCode, ...ErrorCode[]] = [
  ...(['model_unavailable', 'model_auth', 'model_refused', 'model_oversize', 'model_limited'] as const),
  ...(['model_timeout', 'model_cut', 'model_garbled', 'model_empty', 'aborted'] as const),
]

/** Values that cross to the process as JSON. */
const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null))

const toolResult = z.object({ status: z.enum(['ok', 'error', 'unknown']), content: z.string() })

/** Like the engine for a tool in this process: a text or plain data is an ok result. */
function resultOf(answer: Json | undefined): CallResult {
  const { status } = (typeof answer === 'object' && answer !== null ? answer : {}) as { readonly status?: unknown }
  const isResult = toolResult.shape.status.safeParse(status).success
  if (!isResult) return { status: 'ok', content: typeof answer === 'string' ? answer : JSON.stringify(answer ?? null) }
  const { success, data } = toolResult.safeParse(answer)
  if (success) return data
  throw new TirelessError('tool_failed', 'the plugin returned no result with status and content')
}

export function toolProxy(
  offer: Offers['tools'][number],
  { effects }: Pick<PluginManifest, 'effects'>,
  client: PluginClient,
): AnyTool {
  const { name, description, parameters, timeoutMs } = offer
  const effect = (Object.hasOwn(effects, name) ? effects[name] : undefined) ?? STRICTEST
  const isRepeatable = effect.recovery === 'pure' || effect.recovery === 'idempotent'
  return defineTool<Readonly<Record<string, unknown>>>({
    ...{ name, description, parameters, outside: true, foreign: true, timeoutMs: timeoutMs ?? CALL_MS },
    args: z.record(z.string(), z.unknown()),
    effect: () => effect,
    gives: () => ({ trust: 'untrusted', private: effect.reach === 'private' }),
    async run(args, { call, cwd, intendedAt, signal, say }) {
      let isSent = false
      const answer = await client
        .call({
          ...{ kind: 'tools', name, method: 'run', args: [asJson(args), { call, cwd, intendedAt }] },
          ...{ withinMs: Number.POSITIVE_INFINITY, signal, codes: ['tool_failed'] },
          onSent: () => {
            isSent = true
          },
          onEvent: (event, text) => event === 'say' && say(String(text).slice(0, 1000)),
        })
        .catch((thrown) => {
          if (isRepeatable || !isSent) throw thrown
          return { status: 'unknown', content: asTirelessError(thrown).message } as const
        })
      return resultOf(answer)
    },
    remains: async () => 'The plugin cannot report whether the call took effect.',
  })
}

/** A text for the model or the owner, cut to 500 characters. */
const shortText = z.string().transform((text) => text.slice(0, 500).toWellFormed())
const UNTRUSTED = { label: UNTRUSTED_LABEL }

const gateVerdict = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('allow') }),
  z.object({ kind: z.literal('ask'), reason: shortText }).transform((verdict) => ({ ...verdict, ...UNTRUSTED })),
  z.object({ kind: z.literal('deny'), reason: shortText }).transform((verdict) => ({ ...verdict, ...UNTRUSTED })),
])

/** A gate that cannot answer allows nothing. */
export const gateProxy = ({ name }: { readonly name: string }, client: PluginClient): Gate => ({
  name,
  async judge(call) {
    try {
      const answer = await client.call({
        ...{ kind: 'gates', name, method: 'judge', args: [asJson(call)], withinMs: GATE_MS, codes: ['tool_failed'] },
      })
      const verdict = gateVerdict.safeParse(answer)
      if (verdict.success) return verdict.data
      return { kind: 'deny', reason: `the gate ${name} gave no valid answer` }
    } catch (thrown) {
      const reason = `the gate ${name} gave no answer: ${asTirelessError(thrown).message}`
      return { kind: 'deny', reason: shortText.parse(reason), ...UNTRUSTED }
    }
  },
})

const criticVerdict = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('continue') }),
  z
    .object({
      kind: z.literal('retry'),
      instruction: shortText,
      attempt: z.object({ after_ms: z.number() }).optional(),
    })
    .transform(({ attempt, ...verdict }) => ({ ...verdict, ...UNTRUSTED, ...(attempt && { attempt }) })),
  z
    .object({ kind: z.literal('stop'), reason: shortText, failure_class: z.enum(FAILURE_CLASSES).optional() })
    .transform(({ failure_class, ...verdict }) => ({
      ...verdict,
      ...UNTRUSTED,
      ...(failure_class && { failure_class }),
    })),
])

/** The engine notes a critic that fails, as for one in this process. */
export const criticProxy = ({ name }: { readonly name: string }, client: PluginClient): Critic => ({
  name,
  async judge(state, step) {
    const answer = await client.call({
      ...{ kind: 'critics', name, method: 'judge', args: [asJson(state), asJson(step)] },
      ...{ withinMs: CALL_MS, codes: ['plugin_failed'] },
    })
    const { success, data } = criticVerdict.safeParse(answer)
    if (success) return data
    throw new TirelessError('plugin_failed', `the critic ${name} gave no valid verdict`)
  },
})

export const channelProxy = (
  { name, maxText, replaces = false }: Offers['channels'][number],
  client: PluginClient,
): Channel => ({
  ...{ name, replaces, ...(maxText === undefined ? {} : { maxText }), trouble: () => client.trouble() },
  deliver: (message, signal) =>
    client.call({
      ...{ kind: 'channels', name, method: 'deliver', args: [asJson(message)], withinMs: CALL_MS, signal },
      codes: ['channel_unavailable', 'channel_refused', 'channel_limited'],
    }),
})

const sourceEvent = z.object({
  id: z.string().min(1).max(500),
  observation: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('user_message'), text: z.string() }),
    z.strictObject({ type: z.literal('system_event'), name: z.string(), payload: z.json().optional() }),
  ]),
  mark: z.json().optional(),
})

export const sourceProxy = ({ name, type }: Offers['sources'][number], client: PluginClient): Source => ({
  ...{ name, type },
  async run(sink, signal) {
    await client.call({
      ...{ kind: 'sources', name, method: 'run', args: [], withinMs: Number.POSITIVE_INFINITY, signal },
      codes: ['source_unavailable'],
      onEvent(event, value) {
        const { slice, of } = (value ?? {}) as { readonly slice?: Json; readonly of?: Json }
        if (event === 'slice' && typeof of === 'string') sink.setSlice(of, slice ?? null)
      },
      onAsk: (method, value) => answerSource(sink, method, value),
    })
  },
})

/** What a plugin publishes is untrusted, whatever it says. */
async function answerSource(sink: SourceSink, method: 'publish' | 'mark' | 'saveMark', value: Json | undefined) {
  if (method === 'mark') return sink.mark()
  if (method === 'saveMark') {
    await sink.saveMark(value ?? null)
    return null
  }
  const { success, data } = sourceEvent.safeParse(value)
  if (!success) throw new TirelessError('usage', 'the event is invalid; expected { id, observation, mark? }')
  return asJson(await sink.publish({ ...(data as SourceEvent), label: UNTRUSTED_LABEL }))
}

export const modelProviderProxy = (
  { name, models }: Offers['modelProviders'][number],
  client: PluginClient,
): ModelProvider => ({
  name,
  models: models.map((model) => model.name),
  open(model) {
    const price = models.find((each) => each.name === model)?.price
    return {
      ...(price !== undefined && { price: price as never }),
      async call(request, { signal, onText }) {
        const answer = client.call({
          ...{ kind: 'modelProviders', name, method: 'call', args: [model, asJson(request)] },
          ...{ withinMs: MODEL_MS, signal, codes: MODEL_CODES },
          onEvent: (event, text) => event === 'text' && onText?.(String(text)),
        })
        return (await answer.catch(hideOversizeText)) as unknown as ModelAnswer
      },
    }
  },
})

/** The model reads the text of this error in the next turn, so it is ours. Those of other errors are for the owner. */
function hideOversizeText(thrown: unknown): never {
  if (asTirelessError(thrown).code !== 'model_oversize') throw thrown
  throw new TirelessError('model_oversize', 'the request is too large for the model', { cause: thrown })
}
