/** From our request to the SDK's prompt. Pure. */

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { assertNever } from '../../../domain/error.ts'
import type { Json } from '../../../domain/json.ts'
import type { Image, Message, ModelRequest } from '../../../ports/model.ts'
import { readReasoning, type Trail } from './reasoning.ts'

type AssistantMessage = Extract<Message, { role: 'assistant' }>
type ToolMessage = Extract<Message, { role: 'tool' }>

/** In what the protocols differ. */
export interface Manners {
  /** Set where what stands up to there will come again: the system prompt, the tools, and the conversation so far. */
  readonly cacheMark?: SharedV4ProviderOptions | undefined
  /** Results hold text alone: their images come after them. */
  readonly textResults?: boolean | undefined
}

export function promptOf(
  request: ModelRequest,
  provider: string,
  { cacheMark, textResults = false }: Manners,
): Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'> {
  const prompt: LanguageModelV4Message[] = request.system === '' ? [] : [{ role: 'system', content: request.system }]
  for (const message of textResults ? withoutResultImages(request.messages) : request.messages) {
    const last = prompt.at(-1)
    // The protocol wants the results of one answer together.
    if (message.role === 'tool' && last?.role === 'tool') last.content.push(resultPart(message))
    // Templates of many models refuse two messages of the user in a row.
    else if (message.role === 'user' && last?.role === 'user') last.content = joinedParts(last.content, message)
    else prompt.push(messageOf(message, provider))
  }
  const tools = request.tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    name,
    description,
    inputSchema: parameters,
  }))
  if (cacheMark)
    for (const spot of [prompt[0], prompt.at(-1), tools.at(-1)])
      if (spot) Object.assign(spot, { providerOptions: cacheMark })
  return tools.length === 0 ? { prompt } : { prompt, tools }
}

function* withoutResultImages(messages: readonly Message[]): Generator<Message> {
  let images: readonly Image[] = []
  const shown = (): Message[] =>
    images.length > 0 ? [{ role: 'user', text: '[images of the results above]', images }] : []
  for (const message of messages) {
    if (message.role !== 'tool') {
      yield* shown()
      images = []
      yield message
      continue
    }
    const { images: own = [], ...result } = message
    images = [...images, ...own]
    yield result
  }
  yield* shown()
}

function messageOf(message: Message, provider: string): LanguageModelV4Message {
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

type UserMessage = Extract<Message, { role: 'user' }>
type UserParts = Extract<LanguageModelV4Message, { role: 'user' }>['content']

function joinedParts(before: UserParts, { text, images = [] }: UserMessage): UserParts {
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

/** In the order in which the provider said it, with its own notes, where it was the one; what its trail does not tell of comes after. */
function assistantParts({ text, calls }: AssistantMessage, trail: readonly Trail[]): AssistantParts {
  let at = 0
  const left = calls.map(callPart)
  const take = (length: number): AssistantPart[] => {
    const piece = text.slice(at, at + length)
    at += length
    return piece === '' ? [] : [{ type: 'text', text: piece }]
  }
  const said = trail.flatMap((spot): AssistantPart[] => {
    const parts =
      spot.kind === 'reasoning'
        ? [{ type: 'reasoning' as const, text: spot.text }]
        : spot.kind === 'text'
          ? take(spot.length)
          : left.splice(0, 1)
    return spot.notes ? parts.map((part) => ({ ...part, providerOptions: spot.notes }) as AssistantPart) : parts
  })
  return [...said, ...take(text.length), ...left]
}

const callPart = ({ id, tool, args }: AssistantMessage['calls'][number]): AssistantPart => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: tool,
  input: inputOf(args),
})

/** What is no object goes as JSON text: the SDK sends that unchanged. */
const inputOf = (args: Json): unknown => (typeof args === 'object' && args !== null ? args : JSON.stringify(args))

function resultPart({ call_id, tool, text, ok, images = [] }: ToolMessage): LanguageModelV4ToolResultPart {
  const output: LanguageModelV4ToolResultPart['output'] =
    images.length > 0
      ? { type: 'content', value: [{ type: 'text', text }, ...images.map(imagePart)] }
      : { type: ok ? 'text' : 'error-text', value: text }
  return { type: 'tool-result', toolCallId: call_id, toolName: tool, output }
}
