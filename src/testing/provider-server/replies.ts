/** From a turn and a fault to what goes over the wire. Pure: the server only sends it. */

import { assertNever } from '../../domain/error.ts'
import type { ChatRequest, Fault, FaultName, Turn } from './script.ts'
import { type Said, saidOf, type Wire } from './wire.ts'

export type Reply =
  /** Nothing, until the server is closed. */
  | { readonly kind: 'silence' }
  /** The socket is reset before any byte. */
  | { readonly kind: 'reset' }
  | {
      readonly kind: 'bytes'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly pieces: readonly string[]
      /** `whole` ends as HTTP wants it; `destroy` kills the socket; `stall` keeps it open and says no more. */
      readonly ends: 'whole' | 'destroy' | 'stall'
    }

export interface Asked {
  readonly wire: Wire
  readonly request: ChatRequest
  readonly turn: number
  readonly id: string
}

const HUGE = 5_000_000
/** A fault in a call needs a call, also where the turn has none. It must never run. */
const NEVER_RUN = { id: 'call_never', tool: 'bash', args: '{"command":"echo never > never.txt"}' }

export function replyTo(asked: Asked, turn: Turn, fault: Fault | undefined): Reply {
  const said = saidOf(turn, asked.request, asked.turn)
  if (!fault) return answer(asked, said)
  switch (fault.fault) {
    case '429':
    case '500':
    case '503':
    case '401':
    case '400':
    case '403':
    case '404':
    case '529':
      return refusal(asked, fault, Number(fault.fault), `scripted_${fault.fault}`)
    case 'too_long':
      return refusal(asked, fault, 400, 'context_length_exceeded', 'prompt is too long: 9 tokens > 8 maximum')
    case 'no_credit':
      return refusal(asked, fault, 429, 'insufficient_quota')
    case 'hang':
      return { kind: 'silence' }
    case 'reset':
      return { kind: 'reset' }
    case 'stall':
      return broken(asked, withCall(said), 'stall')
    case 'cut':
      return broken(asked, withCall(said), 'destroy')
    case 'cut_clean':
      return cutClean(asked, withCall(said))
    case 'truncated_json':
      return truncated(asked, said)
    case 'html':
      return page('text/html; charset=utf-8', '<!doctype html>\n<html><body>502: upstream: sorry</body></html>\n')
    case 'error_chunk':
      return errorChunk(asked, withCall(said))
    case 'unfinished':
    case 'empty':
    case 'filtered':
    case 'length':
    case 'unknown_tool':
    case 'bad_args':
    case 'misfit_args':
    case 'duplicate_ids':
    case 'huge':
      return answer(asked, distorted(said, fault.fault))
    default:
      return assertNever(fault.fault)
  }
}

type Distortion = Extract<
  FaultName,
  | 'unfinished'
  | 'empty'
  | 'filtered'
  | 'length'
  | 'unknown_tool'
  | 'bad_args'
  | 'misfit_args'
  | 'duplicate_ids'
  | 'huge'
>

/** Answers that are whole on the wire and wrong in themselves. */
function distorted(said: Said, fault: Distortion): Said {
  const called = withCall(said)
  const first = called.calls[0] ?? NEVER_RUN
  const calls = (call: Said['calls'][number], finish = 'tool_calls') => ({ ...called, calls: [call], finish })
  switch (fault) {
    case 'unfinished':
      return { ...called, finish: null }
    case 'empty':
      return { ...said, text: '', calls: [], finish: 'stop' }
    case 'filtered':
      return { ...called, finish: 'content_filter' }
    case 'length':
      return { ...called, finish: 'length' }
    case 'unknown_tool':
      return calls({ ...first, tool: 'no_such_tool' })
    case 'bad_args':
      return calls({ ...first, args: first.args.slice(0, -1) })
    case 'misfit_args':
      return calls({ ...first, args: '{"no_such_argument":[]}' })
    case 'duplicate_ids':
      return { ...called, calls: [first, { ...(called.calls[1] ?? first), id: first.id }], finish: 'tool_calls' }
    case 'huge':
      return { ...said, text: 'All work and no play. '.repeat(HUGE / 20).slice(0, HUGE), calls: [], finish: 'stop' }
    default:
      return assertNever(fault)
  }
}

const withCall = (said: Said): Said =>
  said.calls.length > 0 ? said : { ...said, calls: [NEVER_RUN], finish: 'tool_calls' }

const bodyOf = ({ wire, request, id }: Asked, said: Said) => wire.jsonBody(said, request, id)
const eventsOf = ({ wire, request, id }: Asked, said: Said) => wire.sseEvents(said, request, id)

function answer(asked: Asked, said: Said): Reply {
  return asked.request.stream ? stream(eventsOf(asked, said)) : page('application/json', bodyOf(asked, said))
}

/** Up to the middle of the last call's arguments (streamed), of the body (not streamed); then the socket dies or goes silent. */
function broken(asked: Asked, said: Said, ends: 'destroy' | 'stall'): Reply {
  if (asked.request.stream) return stream(midCall(asked, said), ends)
  const body = bodyOf(asked, said)
  return { ...page('application/json', body), pieces: [half(body)], ends }
}

/** Without a stream: a body that is JSON, with half a call and no finish reason. */
function cutClean(asked: Asked, said: Said): Reply {
  if (asked.request.stream) return stream(midCall(asked, said))
  const calls = said.calls.map((call) => ({ ...call, args: half(call.args) }))
  return page('application/json', bodyOf(asked, { ...said, calls, finish: null }))
}

function truncated(asked: Asked, said: Said): Reply {
  const body = bodyOf(asked, said)
  if (!asked.request.stream) return page('application/json', half(body))
  return stream([...eventsOf(asked, said).slice(0, 1), `data: ${half(body)}\n\n`])
}

function errorChunk(asked: Asked, said: Said): Reply {
  const error = ['api_error', 'the upstream died'] as const
  if (!asked.request.stream) return page('application/json', JSON.stringify(asked.wire.errorBody(...error)))
  return stream([...midCall(asked, said), asked.wire.errorEvent(...error)])
}

/** Without its last piece of arguments. */
const midCall = (asked: Asked, said: Said): string[] => {
  const events = eventsOf(asked, { ...said, finish: null })
  const end = events.findLastIndex((event) => !event.includes('content_block_stop'))
  return events.slice(0, end)
}

const half = (text: string) => text.slice(0, Math.ceil(text.length / 2))

function refusal({ wire }: Asked, fault: Fault, status: number, type: string, words?: string): Reply {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (fault.retry_after !== undefined) headers['retry-after'] = String(fault.retry_after)
  if (fault.retry_after_ms !== undefined) headers['retry-after-ms'] = String(fault.retry_after_ms)
  const error = wire.errorBody(type, words ?? `scripted ${fault.fault}`)
  return { kind: 'bytes', status, headers, pieces: [JSON.stringify(error)], ends: 'whole' }
}

type Bytes = Extract<Reply, { kind: 'bytes' }>

function page(type: string, body: string): Bytes {
  const headers = { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) }
  return { kind: 'bytes', status: 200, headers, pieces: [body], ends: 'whole' }
}

function stream(events: readonly string[], ends: Bytes['ends'] = 'whole'): Bytes {
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
  return { kind: 'bytes', status: 200, headers, pieces: events, ends }
}
