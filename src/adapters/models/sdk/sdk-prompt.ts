/** Converts our request to the SDK's prompt. Pure. */

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { assertNever } from '../../../domain/error.ts'
import type { Json } from '../../../domain/json.ts'
import type { Image, ModelMessage, ModelRequest } from '../../../ports/model.ts'
import { readReasoning, type TrailEntry } from './reasoning-trail.ts'

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>
type ToolMessage = Extract<ModelMessage, { role: 'tool' }>

/** Differences between the protocols. */
export interface PromptFormat {
  /** Marks the ends of cacheable prefixes: system prompt, tools, conversation so far. */
  readonly cacheMark?: SharedV4ProviderOptions | undefined
  /** True if tool results are text only, and their images follow in a user message. */
  readonly textResults?: boolean | undefined
}

export function buildSdkPrompt(
  request: ModelRequest,
  provider: string,
  { cacheMark, textResults = false }: PromptFormat,
): Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'> {
  const prompt: LanguageModelV4Message[] = request.system === '' ? [] : [{ role: 'system', content: request.system }]
  for (const message of textResults ? withoutResultImages(request.messages) : request.messages) {
    const last = prompt.at(-1)
    // The protocol requires the results of one answer in one message.
    if (message.role === 'tool' && last?.role === 'tool') last.content.push(resultPart(message))
    // Many model templates refuse consecutive user messages.
    else if (message.role === 'user' && last?.role === 'user') last.content = joinParts(last.content, message)
    else prompt.push(convertMessage(message, provider))
  }
  const tools = request.tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    name,
    description,
    inputSchema: parameters,
  }))
  if (cacheMark)
    for (const target of [prompt[0], prompt.at(-1), tools.at(-1)])
      if (target) Object.assign(target, { providerOptions: cacheMark })
  return tools.length === 0 ? { prompt } : { prompt, tools }
}

function* withoutResultImages(messages: readonly ModelMessage[]): Generator<ModelMessage> {
  let images: readonly Image[] = []
  const imageMessage = (): ModelMessage[] =>
    images.length > 0 ? [{ role: 'user', text: '[images of the results above]', images }] : []
  for (const message of messages) {
    if (message.role !== 'tool') {
      yield* imageMessage()
      images = []
      yield message
      continue
    }
    const { images: own = [], ...result } = message
    images = [...images, ...own]
    yield result
  }
  yield* imageMessage()
}

function convertMessage(message: ModelMessage, provider: string): LanguageModelV4Message {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.text }, ...(message.images ?? []).map(imagePart)] }
    case 'assistant':
      return { role: 'assistant', content: assistantParts(message, readReasoning(message.reasoning, provider)) }
    case 'tool':
      return { role: 'tool', content: [resultPart(message)] }
    default:
      return assertNever(message)
  }
}

type UserMessage = Extract<ModelMessage, { role: 'user' }>
type UserParts = Extract<LanguageModelV4Message, { role: 'user' }>['content']

function joinParts(before: UserParts, { text, images = [] }: UserMessage): UserParts {
  const last = before.at(-1)
  const joined: UserParts =
    last?.type === 'text'
      ? [...before.slice(0, -1), { ...last, text: `${last.text}\n\n${text}` }]
      : [...before, { type: 'text', text }]
  return [...joined, ...images.map(imagePart)]
}

const imagePart = ({ media_type, data }: Image): LanguageModelV4FilePart => ({
  type: 'file',
  mediaType: media_type,
  data: { type: 'data', data },
})

type AssistantParts = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']
type AssistantPart = AssistantParts[number]

/**
 * The parts of an answer in the provider's order, with its metadata; then text and calls that the trail does not
 * mention.
 */
function assistantParts({ text, calls }: AssistantMessage, trail: readonly TrailEntry[]): AssistantParts {
  let offset = 0
  const remainingCalls = calls.map(callPart)
  const takeText = (length: number): AssistantPart[] => {
    const piece = text.slice(offset, offset + length)
    offset += length
    return piece === '' ? [] : [{ type: 'text', text: piece }]
  }
  const ordered = trail.flatMap((entry): AssistantPart[] => {
    const parts =
      entry.kind === 'reasoning'
        ? [{ type: 'reasoning' as const, text: entry.text }]
        : entry.kind === 'text'
          ? takeText(entry.length)
          : remainingCalls.splice(0, 1)
    return entry.notes ? parts.map((part) => ({ ...part, providerOptions: entry.notes }) as AssistantPart) : parts
  })
  return [...ordered, ...takeText(text.length), ...remainingCalls]
}

const callPart = ({ id, tool, args }: AssistantMessage['calls'][number]): AssistantPart => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: tool,
  input: callInput(args),
})

/** Arguments that are no object become JSON text, which the SDK sends unchanged. */
const callInput = (args: Json): unknown => (typeof args === 'object' && args !== null ? args : JSON.stringify(args))

function resultPart({ call_id, tool, text, ok, images = [] }: ToolMessage): LanguageModelV4ToolResultPart {
  const output: LanguageModelV4ToolResultPart['output'] =
    images.length > 0
      ? { type: 'content', value: [{ type: 'text', text }, ...images.map(imagePart)] }
      : { type: ok ? 'text' : 'error-text', value: text }
  return { type: 'tool-result', toolCallId: call_id, toolName: tool, output }
}
