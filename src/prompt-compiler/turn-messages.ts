/**
 * The messages that the model sees of a turn, made from journal records. Pure: the same records always give the same
 * bytes.
 */

import type { CallResult } from '../domain/decision.ts'
import type { HistoryCut, ModelAnswer } from '../domain/journal-record.ts'
import { isTooDeep, type Json } from '../domain/json.ts'
import type { Observation } from '../domain/observation.ts'
import { hasPlaceholder } from '../domain/placeholder.ts'
import { AGENT_RESULT } from '../domain/sub-agent.ts'
import type { ModelMessage } from '../ports/model.ts'
import { loadPrompt } from '../prompts/load-prompt.ts'
import { fenceUntrusted, nonceOf } from './data-fence.ts'

/**
 * Raise this number whenever the same records would give other bytes, also after a change to the texts in src/prompts.
 * It is recorded with every request.
 */
export const COMPILER_VERSION = 11

/** `nonce`: of the fences around text from outside. */
export function inputMessages(input: readonly Observation[], nonce: string, feedback?: string): ModelMessage[] {
  const lines = input.map((observation) => renderObservation(observation, nonce))
  if (feedback !== undefined) lines.push(`[feedback] ${feedback}`)
  return lines.length > 0 ? [{ role: 'user', text: lines.join('\n\n') }] : []
}

/** What a memory supplies for a turn. `turn`, `ts`: of the record. */
export function memoryMessage(
  messages: readonly { readonly text: string }[],
  { turn, ts }: { readonly turn: number; readonly ts: number },
): ModelMessage {
  const fenced = messages.map(({ text }, i) => fenceUntrusted('memory', text, nonceOf(ts, turn, i, text)))
  return { role: 'user', text: loadPrompt('history/memory.md', { messages: fenced.join('\n') }) }
}

/**
 * For cuts that were recorded with COMPILER_VERSION 4 or lower; later cuts use `openingMessage`. These texts must never
 * change.
 */
export function legacyCutMessages({ summary, recalled }: HistoryCut): ModelMessage[] {
  const parts = [
    ...(summary === '' ? [] : [`[what happened before, in short]\n${summary}`]),
    ...(recalled.length === 0 ? [] : [`[from earlier, as it may matter now]\n${recalled.join('\n---\n')}`]),
  ]
  return parts.length > 0 ? [{ role: 'user', text: parts.join('\n\n') }] : []
}

/** `inText`: the model writes its calls as text, so the calls stay part of the text. */
export function answerMessage(answer: ModelAnswer, inText: boolean): ModelMessage {
  if (inText) return { role: 'assistant', text: answer.text, calls: [] }
  return {
    role: 'assistant',
    text: answer.text,
    calls: answer.calls.map((call, index) => ({
      id: callId(answer, index),
      tool: call.tool,
      args: parseArgs(call.args),
    })),
    ...(answer.reasoning === undefined ? {} : { reasoning: answer.reasoning }),
  }
}

/** A call's result from the journal. `nonce`: set if the content is third-party text. */
export interface JournalledResult {
  readonly result: CallResult
  readonly nonce?: string | undefined
}

export function resultMessage(
  answer: ModelAnswer,
  index: number,
  shown: JournalledResult,
  inText: boolean,
): ModelMessage {
  const ok = shown.result.status === 'ok'
  const tool = answer.calls[index]?.tool ?? ''
  const text = resultText(tool, shown)
  if (inText) return { role: 'user', text: `[result of ${tool}] ${text}` }
  return { role: 'tool', call_id: callId(answer, index), tool, text, ok }
}

/** For a call that a person allowed: it belongs to no answer of the model, so its result comes as a user message. */
export function approvedMessage(tool: string, shown: JournalledResult): ModelMessage {
  return { role: 'user', text: `[approved: ${tool}] ${resultText(tool, shown)}` }
}

function resultText(tool: string, { result: { status, content }, nonce }: JournalledResult): string {
  const text = nonce === undefined ? content : fenceUntrusted(tool, content, nonce)
  if (status !== 'ok') return `[${status}] ${text}`
  return hasPlaceholder(content) ? `${text}\n${loadPrompt('results/placeholders.md#shown')}` : text
}

/** Native calls and results as text, for a model that writes its calls as text. */
export function callsAsText(message: ModelMessage): ModelMessage {
  if (message.role === 'tool') return { role: 'user', text: `[result of ${message.tool}] ${message.text}` }
  if (message.role !== 'assistant' || message.calls.length === 0) return message
  const called = message.calls.map(({ tool, args }) => `[called ${tool} ${JSON.stringify(args)}]`)
  return { role: 'assistant', text: [message.text, ...called].filter((line) => line !== '').join('\n'), calls: [] }
}

/** The provider's id of the call; made unique if the answer repeats an id, because providers refuse duplicate ids. */
function callId(answer: ModelAnswer, index: number): string {
  const id = answer.calls[index]?.id ?? ''
  return answer.calls.some((other, i) => i !== index && other.id === id) || id === '' ? `${id}_${index}` : id
}

export function observationText(observation: Observation): string {
  if (observation.type === 'user_message') return observation.text
  return `[event ${observation.name}]${payloadText(observation)}`
}

/** As the model sees it: what a sub-agent said is fenced, for it is data, whatever it asks for. */
export function renderObservation(observation: Observation, nonce: string): string {
  if (observation.type === 'user_message' || observation.name !== AGENT_RESULT) return observationText(observation)
  return `[event ${observation.name}]\n${fenceUntrusted(observation.name, payloadText(observation).trim(), nonce)}`
}

const payloadText = ({ payload }: Extract<Observation, { type: 'system_event' }>): string =>
  payload === undefined ? '' : ` ${JSON.stringify(payload)}`

/** Providers refuse a history whose arguments are not JSON, so others are wrapped in an object as text. */
function parseArgs(text: string): Json {
  try {
    const parsed: unknown = JSON.parse(text === '' ? '{}' : text)
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    if (isObject && !isTooDeep(parsed)) return parsed as Json
  } catch {}
  return { unreadable_arguments: text }
}
