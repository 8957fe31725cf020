/** The script of the provider server, and the choice of a turn for a request. Pure. */

import { z } from 'zod'
import { TirelessError } from '../../domain/error.ts'

/** The rows of the provider fault matrix; `replies.ts` defines their effect on the answer. */
export const FAULTS = [
  '429',
  '500',
  '503',
  '401',
  '400',
  '403',
  '404',
  '529',
  'too_long',
  'no_credit',
  'hang',
  'stall',
  'reset',
  'cut',
  'cut_clean',
  'unfinished',
  'truncated_json',
  'empty',
  'html',
  'error_chunk',
  'filtered',
  'length',
  'unknown_tool',
  'bad_args',
  'misfit_args',
  'duplicate_ids',
  'huge',
] as const
export type FaultName = (typeof FAULTS)[number]

const faultName = z.union([
  z.enum(FAULTS),
  z.literal([429, 500, 503, 529, 401, 400, 403, 404]).transform((status) => `${status}` as const),
])
const faultFields = z.strictObject({
  fault: faultName,
  /** Seconds, or an HTTP date. */
  retry_after: z.union([z.number(), z.string()]).optional(),
  retry_after_ms: z.number().optional(),
})
const fault = z.union([faultName.transform((name): z.output<typeof faultFields> => ({ fault: name })), faultFields])

const turn = z.strictObject({
  text: z.string().optional(),
  reasoning: z.string().optional(),
  /** `args`: an object is sent as JSON, a string is sent raw. */
  calls: z.array(z.strictObject({ tool: z.string(), args: z.json().optional(), id: z.string().optional() })).optional(),
  /** The finish_reason that is sent; by default `tool_calls` with calls, else `stop`. */
  finish: z.string().optional(),
  usage: z
    .strictObject({
      input_tokens: z.number().default(0),
      output_tokens: z.number().default(0),
      cached_tokens: z.number().default(0),
    })
    .optional(),
  delay_ms: z.number().optional(),
  /**
   * The k-th request for this turn of the same conversation gets faults[k]; if that is null or missing, it gets the
   * answer.
   */
  faults: z.array(fault.nullable()).optional(),
})

const conversation = z.strictObject({
  match: z.string(),
  /** A part of the system prompt; by default any prompt fits. */
  system: z.string().optional(),
  turns: z.array(turn),
})
const script = z.union([
  z.array(turn).transform((turns) => ({ conversations: [], turns })),
  z.strictObject({ conversations: z.array(conversation).default([]), turns: z.array(turn).default([]) }),
])

/**
 * A list of turns, or `{ conversations: [{ match: 'substring of the first user message', turns }], turns }`. The first
 * conversation that fits is used.
 */
export type ProviderScript = z.input<typeof script>
type ParsedScript = z.output<typeof script>
export type Turn = z.output<typeof turn>
export type Fault = z.output<typeof fault>

export function parseScript(input: unknown, where = 'script'): ParsedScript {
  const parsed = script.safeParse(input)
  if (parsed.success) return parsed.data
  throw new TirelessError('usage', { what: 'invalid script', where, got: z.prettifyError(parsed.error) })
}

/** The parts of a request that the server uses; other parts are ignored. */
const chatRequest = z.looseObject({
  model: z.string(),
  /** Anthropic's system prompt. OpenAI's is a message. */
  system: z.unknown().optional(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  messages: z.array(
    z.looseObject({
      role: z.string(),
      content: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).nullish(),
    }),
  ),
})
export type ChatRequest = z.output<typeof chatRequest>

export function parseRequest(body: unknown): ChatRequest | undefined {
  return chatRequest.safeParse(body).data
}

interface ScriptPosition {
  /** The first user message, which identifies a conversation. */
  readonly conversation: string
  /** The number of assistant messages so far. */
  readonly turn: number
}

/** Uses only the request, so that a resumed client gets the right next answer, also from a restarted server. */
export function findPosition(request: ChatRequest): ScriptPosition {
  const first = request.messages.find((message) => message.role === 'user')?.content ?? ''
  return {
    conversation: typeof first === 'string' ? first : first.map((part) => part.text ?? '').join(''),
    turn: request.messages.filter((message) => message.role === 'assistant').length,
  }
}

const systemOf = ({ system, messages }: ChatRequest): string =>
  JSON.stringify([system, ...messages.filter(({ role }) => role === 'system').map(({ content }) => content)])

/** Contract: whether the text is a part of the request's system prompt. */
const hasSystemText = (request: ChatRequest, text: string): boolean =>
  systemOf(request).includes(JSON.stringify(text).slice(1, -1))

const FINAL_TURN: Turn = { text: 'Done.' }

/**
 * After the end of the script: the last turn without its faults, or a final answer if that turn has calls, which would
 * never end.
 */
export function chooseTurn(script: ParsedScript, position: ScriptPosition, request: ChatRequest): Turn {
  const matched = script.conversations.find(
    ({ match, system }) =>
      position.conversation.includes(match) && (system === undefined || hasSystemText(request, system)),
  )
  const turns = matched?.turns ?? script.turns
  const last = turns.at(-1)
  return turns[position.turn] ?? (last && !last.calls?.length ? { ...last, faults: [] } : FINAL_TURN)
}
