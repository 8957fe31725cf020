/** Builds the bytes of a reply from a turn and a fault. Pure; the server only sends them. */

import { assertNever } from '../../domain/error.ts'
import type { ChatRequest, Fault, FaultName, Turn } from './script.ts'
import { buildScriptedReply, type ScriptedReply, type WireFormat } from './wire.ts'

export type Reply =
  /** No reply until the server closes. */
  | { readonly kind: 'silence' }
  /** Resets the socket before any byte. */
  | { readonly kind: 'reset' }
  | {
      readonly kind: 'bytes'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly pieces: readonly string[]
      /**
       * `whole` ends the response normally; `destroy` closes the socket; `stall` keeps it open without further data.
       */
      readonly ends: 'whole' | 'destroy' | 'stall'
    }

interface ReplyContext {
  readonly wire: WireFormat
  readonly request: ChatRequest
  readonly turn: number
  readonly id: string
}

const HUGE = 5_000_000
/** Used by faults that need a call when the turn has none. It must never run. */
const NEVER_RUN = { id: 'call_never', tool: 'bash', args: '{"command":"echo never > never.txt"}' }

export function buildReply(context: ReplyContext, turn: Turn, fault: Fault | undefined): Reply {
  const answer = buildScriptedReply(turn, context.request, context.turn)
  if (!fault) return sendAnswer(context, answer)
  switch (fault.fault) {
    case '429':
    case '500':
    case '503':
    case '401':
    case '400':
    case '403':
    case '404':
    case '529':
      return errorReply(context, fault, Number(fault.fault), `scripted_${fault.fault}`)
    case 'too_long':
      return errorReply(context, fault, 400, 'context_length_exceeded', 'prompt is too long: 9 tokens > 8 maximum')
    case 'no_credit':
      return errorReply(context, fault, 429, 'insufficient_quota')
    case 'hang':
      return { kind: 'silence' }
    case 'reset':
      return { kind: 'reset' }
    case 'stall':
      return breakAnswer(context, withCall(answer), 'stall')
    case 'cut':
      return breakAnswer(context, withCall(answer), 'destroy')
    case 'cut_clean':
      return cutClean(context, withCall(answer))
    case 'truncated_json':
      return truncate(context, answer)
    case 'html':
      return wholeReply('text/html; charset=utf-8', '<!doctype html>\n<html><body>502: upstream: sorry</body></html>\n')
    case 'error_chunk':
      return errorChunk(context, withCall(answer))
    case 'unfinished':
    case 'empty':
    case 'filtered':
    case 'length':
    case 'unknown_tool':
    case 'bad_args':
    case 'misfit_args':
    case 'duplicate_ids':
    case 'huge':
      return sendAnswer(context, distort(answer, fault.fault))
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

/** Changes a scripted answer into one that is complete but wrong. */
function distort(answer: ScriptedReply, fault: Distortion): ScriptedReply {
  const withOneCall = withCall(answer)
  const first = withOneCall.calls[0] ?? NEVER_RUN
  const calls = (call: ScriptedReply['calls'][number], finish = 'tool_calls') => ({
    ...withOneCall,
    calls: [call],
    finish,
  })
  switch (fault) {
    case 'unfinished':
      return { ...withOneCall, finish: null }
    case 'empty':
      return { ...answer, text: '', calls: [], finish: 'stop' }
    case 'filtered':
      return { ...withOneCall, finish: 'content_filter' }
    case 'length':
      return { ...withOneCall, finish: 'length' }
    case 'unknown_tool':
      return calls({ ...first, tool: 'no_such_tool' })
    case 'bad_args':
      return calls({ ...first, args: first.args.slice(0, -1) })
    case 'misfit_args':
      return calls({ ...first, args: '{"no_such_argument":[]}' })
    case 'duplicate_ids':
      return {
        ...withOneCall,
        calls: [first, { ...(withOneCall.calls[1] ?? first), id: first.id }],
        finish: 'tool_calls',
      }
    case 'huge':
      return { ...answer, text: 'All work and no play. '.repeat(HUGE / 20).slice(0, HUGE), calls: [], finish: 'stop' }
    default:
      return assertNever(fault)
  }
}

const withCall = (answer: ScriptedReply): ScriptedReply =>
  answer.calls.length > 0 ? answer : { ...answer, calls: [NEVER_RUN], finish: 'tool_calls' }

const renderBody = ({ wire, request, id }: ReplyContext, answer: ScriptedReply) => wire.jsonBody(answer, request, id)
const renderEvents = ({ wire, request, id }: ReplyContext, answer: ScriptedReply) => wire.sseEvents(answer, request, id)

function sendAnswer(context: ReplyContext, answer: ScriptedReply): Reply {
  return context.request.stream
    ? streamReply(renderEvents(context, answer))
    : wholeReply('application/json', renderBody(context, answer))
}

/** Stops in the middle of the last call's arguments (streaming) or of the body; then the socket closes or stalls. */
function breakAnswer(context: ReplyContext, answer: ScriptedReply, ends: 'destroy' | 'stall'): Reply {
  if (context.request.stream) return streamReply(eventsUntilMidCall(context, answer), ends)
  const body = renderBody(context, answer)
  return { ...wholeReply('application/json', body), pieces: [firstHalf(body)], ends }
}

/**
 * Ends the response normally in the middle of a call; without streaming, a JSON body with half a call and no finish
 * reason.
 */
function cutClean(context: ReplyContext, answer: ScriptedReply): Reply {
  if (context.request.stream) return streamReply(eventsUntilMidCall(context, answer))
  const calls = answer.calls.map((call) => ({ ...call, args: firstHalf(call.args) }))
  return wholeReply('application/json', renderBody(context, { ...answer, calls, finish: null }))
}

function truncate(context: ReplyContext, answer: ScriptedReply): Reply {
  const body = renderBody(context, answer)
  if (!context.request.stream) return wholeReply('application/json', firstHalf(body))
  return streamReply([...renderEvents(context, answer).slice(0, 1), `data: ${firstHalf(body)}\n\n`])
}

function errorChunk(context: ReplyContext, answer: ScriptedReply): Reply {
  const error = ['api_error', 'the upstream server failed'] as const
  if (!context.request.stream) return wholeReply('application/json', JSON.stringify(context.wire.errorBody(...error)))
  return streamReply([...eventsUntilMidCall(context, answer), context.wire.errorEvent(...error)])
}

/** The events of the answer up to the last piece of a call's arguments, which is left out. */
const eventsUntilMidCall = (context: ReplyContext, answer: ScriptedReply): string[] => {
  const events = renderEvents(context, { ...answer, finish: null })
  const end = events.findLastIndex((event) => !event.includes('content_block_stop'))
  return events.slice(0, end)
}

const firstHalf = (text: string) => text.slice(0, Math.ceil(text.length / 2))

function errorReply({ wire }: ReplyContext, fault: Fault, status: number, type: string, message?: string): Reply {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (fault.retry_after !== undefined) headers['retry-after'] = String(fault.retry_after)
  if (fault.retry_after_ms !== undefined) headers['retry-after-ms'] = String(fault.retry_after_ms)
  const error = wire.errorBody(type, message ?? `scripted ${fault.fault}`)
  return { kind: 'bytes', status, headers, pieces: [JSON.stringify(error)], ends: 'whole' }
}

type BytesReply = Extract<Reply, { kind: 'bytes' }>

function wholeReply(type: string, body: string): BytesReply {
  const headers = { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) }
  return { kind: 'bytes', status: 200, headers, pieces: [body], ends: 'whole' }
}

function streamReply(events: readonly string[], ends: BytesReply['ends'] = 'whole'): BytesReply {
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
  return { kind: 'bytes', status: 200, headers, pieces: events, ends }
}
