/** From our request to the SDK's prompt, and the reasoning that travels with it. Pure. */

import type { LanguageModelV4CallOptions, LanguageModelV4Message, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { assertNever } from '../../../domain/error.ts'
import type { Json } from '../../../domain/json.ts'
import type { Message, ModelRequest } from '../../../ports/model.ts'

/**
 * What a provider wants back verbatim: its reasoning text (sent as `reasoning_content`) and the signatures of its calls. Marked
 * with the provider's name: another one's reasoning is left out.
 */
export interface Reasoning {
  readonly by: string
  readonly text: string
  readonly signatures: Readonly<Record<string, SharedV4ProviderMetadata>>
}

type AssistantMessage = Extract<Message, { role: 'assistant' }>
type ToolMessage = Extract<Message, { role: 'tool' }>

export function promptOf(
  request: ModelRequest,
  provider: string,
): Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'> {
  const prompt: LanguageModelV4Message[] = request.system === '' ? [] : [{ role: 'system', content: request.system }]
  for (const message of request.messages) {
    const last = prompt.at(-1)
    // The protocol wants the results of one answer together.
    if (message.role === 'tool' && last?.role === 'tool') last.content.push(resultPart(message))
    else prompt.push(messageOf(message, provider))
  }
  if (request.tools.length === 0) return { prompt }
  const tools = request.tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    name,
    description,
    inputSchema: parameters,
  }))
  return { prompt, tools }
}

function messageOf(message: Message, provider: string): LanguageModelV4Message {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.text }] }
    case 'assistant':
      return { role: 'assistant', content: assistantParts(message, provider) }
    case 'tool':
      return { role: 'tool', content: [resultPart(message)] }
    default:
      return assertNever(message)
  }
}

type AssistantParts = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']

function assistantParts({ text, calls, reasoning }: AssistantMessage, provider: string): AssistantParts {
  const ours = readReasoning(reasoning, provider)
  const parts: AssistantParts = []
  if (ours?.text) parts.push({ type: 'reasoning', text: ours.text })
  if (text !== '') parts.push({ type: 'text', text })
  for (const { id, tool, args } of calls) {
    const signature = ours?.signatures[id]
    // As JSON text: the SDK sends text that is JSON unchanged, whatever the arguments are.
    const call = { type: 'tool-call' as const, toolCallId: id, toolName: tool, input: JSON.stringify(args) }
    parts.push(signature ? { ...call, providerOptions: signature } : call)
  }
  return parts
}

const resultPart = ({ call_id, tool, text, ok }: ToolMessage) => ({
  type: 'tool-result' as const,
  toolCallId: call_id,
  toolName: tool,
  output: { type: ok ? ('text' as const) : ('error-text' as const), value: text },
})

/** Contract: undefined where there is nothing to keep. */
export function writeReasoning(reasoning: Reasoning): Json | undefined {
  const { text, signatures } = reasoning
  // Both are JSON by the SDK's own types; the cast only says so.
  return text === '' && Object.keys(signatures).length === 0 ? undefined : (reasoning as unknown as Json)
}

function readReasoning(json: Json | undefined, provider: string): Reasoning | undefined {
  const reasoning = json as unknown as Partial<Reasoning> | null | undefined
  if (typeof reasoning !== 'object' || reasoning?.by !== provider) return undefined
  return { by: provider, text: reasoning.text ?? '', signatures: reasoning.signatures ?? {} }
}
