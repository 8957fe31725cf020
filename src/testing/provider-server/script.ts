/** What the provider server says: the script, and which of its turns a request gets. Pure. */

import { z } from 'zod'
import { TirelessError } from '../../domain/error.ts'

/** Each is one row of the provider fault matrix; `replies.ts` says what it does to the answer. */
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
  /** The wire's finish_reason; by default `tool_calls` with calls, else `stop`. */
  finish: z.string().optional(),
  usage: z
    .strictObject({
      input_tokens: z.number().default(0),
      output_tokens: z.number().default(0),
      cached_tokens: z.number().default(0),
    })
    .optional(),
  delay_ms: z.number().optional(),
  /** The k-th request for this turn of the same conversation gets faults[k]; null, or none left, gets the answer. */
  faults: z.array(fault.nullable()).optional(),
})

const conversation = z.strictObject({ match: z.string(), turns: z.array(turn) })
const script = z.union([
  z.array(turn).transform((turns) => ({ conversations: [], turns })),
  z.strictObject({ conversations: z.array(conversation).default([]), turns: z.array(turn).default([]) }),
])

/** Either the turns, or `{ conversations: [{ match: 'substring of the first user message', turns }], turns: [the others'] }`. */
export type Script = z.input<typeof script>
export type ParsedScript = z.output<typeof script>
export type Turn = z.output<typeof turn>
export type Fault = z.output<typeof fault>

export function parseScript(input: unknown, where = 'script'): ParsedScript {
  const parsed = script.safeParse(input)
  if (parsed.success) return parsed.data
  throw new TirelessError('usage', { what: 'the script is not valid', where, got: z.prettifyError(parsed.error) })
}

/** What the server reads of a request; everything else passes unread. */
const chatRequest = z.looseObject({
  model: z.string(),
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

export interface Place {
  /** The first user message: a conversation is known by it alone. */
  readonly conversation: string
  /** The number of assistant messages so far. */
  readonly turn: number
}

/** Stateless on purpose: a client that was killed and resumed gets the right next answer, also from a restarted server. */
export function placeOf(request: ChatRequest): Place {
  const first = request.messages.find((message) => message.role === 'user')?.content ?? ''
  return {
    conversation: typeof first === 'string' ? first : first.map((part) => part.text ?? '').join(''),
    turn: request.messages.filter((message) => message.role === 'assistant').length,
  }
}

const LAST_WORD: Turn = { text: 'Done.' }

/** Past the end: the last turn again, without its faults; where that one asks for calls (it would go on for ever), a last word. */
export function turnAt(script: ParsedScript, place: Place): Turn {
  const matched = script.conversations.find(({ match }) => place.conversation.includes(match))
  const turns = matched?.turns ?? script.turns
  const last = turns.at(-1)
  return turns[place.turn] ?? (last && !last.calls?.length ? { ...last, faults: [] } : LAST_WORD)
}
