/** What the model sees of a turn: records in, messages out. Pure; the same records always give the same bytes. */

import type { CallResult } from '../domain/decision.ts'
import type { Json } from '../domain/json.ts'
import type { Observation } from '../domain/observation.ts'
import type { Answer, Cut } from '../domain/record.ts'
import type { Message } from '../ports/model.ts'
import { quarantined } from './data-fence.ts'

/** Raised whenever the same records, or the same run, would give other bytes. Recorded with every request. */
export const COMPILER_VERSION = 5

export function inputMessages(input: readonly Observation[], feedback?: string): Message[] {
  const lines = input.map(observationText)
  if (feedback !== undefined) lines.push(`[feedback] ${feedback}`)
  return lines.length > 0 ? [{ role: 'user', text: lines.join('\n\n') }] : []
}

/** What is left of the turns before a cut that was recorded by compiler 4 or before; see openingMessage for those since. */
export function pastMessages({ summary, recalled }: Cut): Message[] {
  const parts = [
    ...(summary === '' ? [] : [`[what happened before, in short]\n${summary}`]),
    ...(recalled.length === 0 ? [] : [`[from earlier, as it may matter now]\n${recalled.join('\n---\n')}`]),
  ]
  return parts.length > 0 ? [{ role: 'user', text: parts.join('\n\n') }] : []
}

/** `inText`: the model writes its calls as text, and so they stay. */
export function answerMessage(answer: Answer, inText: boolean): Message {
  if (inText) return { role: 'assistant', text: answer.text, calls: [] }
  return {
    role: 'assistant',
    text: answer.text,
    calls: answer.calls.map((call, index) => ({
      id: callId(answer, index),
      tool: call.tool,
      args: argsShown(call.args),
    })),
    ...(answer.reasoning === undefined ? {} : { reasoning: answer.reasoning }),
  }
}

/** A call's result as it stands in the journal. `nonce`: others wrote it. */
export interface Shown {
  readonly result: CallResult
  readonly nonce?: string | undefined
}

export function resultMessage(answer: Answer, index: number, shown: Shown, inText: boolean): Message {
  const ok = shown.result.status === 'ok'
  const tool = answer.calls[index]?.tool ?? ''
  const text = resultText(tool, shown)
  if (inText) return { role: 'user', text: `[result of ${tool}] ${text}` }
  return { role: 'tool', call_id: callId(answer, index), tool, text, ok }
}

/** Of a call that a person has allowed: no answer of the model holds it, so it comes as news. */
export function approvedMessage(tool: string, shown: Shown): Message {
  return { role: 'user', text: `[approved: ${tool}] ${resultText(tool, shown)}` }
}

function resultText(tool: string, { result: { status, content }, nonce }: Shown): string {
  const text = nonce === undefined ? content : quarantined(tool, content, nonce)
  return status === 'ok' ? text : `[${status}] ${text}`
}

/** What was called natively, for a model that writes its calls as text. */
export function asText(message: Message): Message {
  if (message.role === 'tool') return { role: 'user', text: `[result of ${message.tool}] ${message.text}` }
  if (message.role !== 'assistant' || message.calls.length === 0) return message
  const called = message.calls.map(({ tool, args }) => `[called ${tool} ${JSON.stringify(args)}]`)
  return { role: 'assistant', text: [message.text, ...called].filter((line) => line !== '').join('\n'), calls: [] }
}

/** The provider's id, made distinct where a model used one twice: a history with doubled ids would be refused. */
function callId(answer: Answer, index: number): string {
  const id = answer.calls[index]?.id ?? ''
  return answer.calls.some((other, i) => i !== index && other.id === id) || id === '' ? `${id}_${index}` : id
}

export function observationText(observation: Observation): string {
  if (observation.type === 'user_message') return observation.text
  const payload = observation.payload === undefined ? '' : ` ${JSON.stringify(observation.payload)}`
  return `[event ${observation.name}]${payload}`
}

/** Providers refuse a history whose arguments are not JSON, so what could not be read is shown as such. */
function argsShown(text: string): Json {
  try {
    const parsed: unknown = JSON.parse(text === '' ? '{}' : text)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Json
  } catch {}
  return { unreadable_arguments: text }
}
