/** Reads the actions of a resident from text: `{"thought", "action": {"type", "payload"}}`. Nothing is repaired. */

import type { RequestedCall } from '../../domain/journal-record.ts'
import type { Json } from '../../domain/json.ts'
import { RESIDENT_ACTIONS } from '../../domain/resident.ts'
import type { ParsedAnswer } from '../../ports/parser.ts'
import { jsonParser } from '../../prompt-compiler/protocols/json.ts'

const parser = jsonParser()

/** Contract: pure. A text that does not start like JSON is said as it is. */
export function residentActionReader(text: string): ParsedAnswer {
  if (!/^\s*(?:```(?:json)?\s*)?\{/.test(text)) return { kind: 'said', text, calls: [] }
  const parsed = parser.parse(text)
  return parsed.kind === 'fault' ? parsed : { ...parsed, calls: [...knownCalls(text), ...parsed.calls.map(asAction)] }
}

/** `{"type": "say", "payload": "…"}` has the text as its payload. */
function asAction(call: RequestedCall): RequestedCall {
  if (!(RESIDENT_ACTIONS as readonly string[]).includes(call.tool)) return call
  const args = JSON.parse(call.args) as Readonly<Record<string, Json>>
  const text = TEXT_KEYS.map((key) => args[key]).find((value) => value !== undefined && value !== null)
  const plain = typeof text === 'string' ? text : text === undefined ? '' : JSON.stringify(text)
  return { ...call, args: JSON.stringify(call.tool === 'noop' ? { reason: plain } : { text: plain }) }
}

const TEXT_KEYS = ['text', 'payload', 'question', 'message', 'content', 'reason']

/** Slots that the answer names beside its action: `"known": {"city": "Paris"}`. */
function knownCalls(text: string): readonly RequestedCall[] {
  const object = JSON.parse(text.replace(/^\s*```(?:json)?\s*|\s*```\s*$/g, '')) as Readonly<Record<string, Json>>
  const { known, slots } = object
  const values = known ?? slots
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return []
  const entries = Object.entries(values).filter(([, value]) => value !== null && value !== '')
  if (entries.length === 0) return []
  const texts = entries.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])
  return [{ id: 'call_known', tool: 'learn', args: JSON.stringify({ known: Object.fromEntries(texts) }) }]
}
