/** The parts of a parsed answer. */

import assert from 'node:assert/strict'
import type { ParsedAnswer, Parser } from '../../src/ports/parser.ts'
import { reactParser } from '../../src/prompt-compiler/protocols/react.ts'
import { xmlParser } from '../../src/prompt-compiler/protocols/xml.ts'

export const react = reactParser()

export const xml = xmlParser()

/** Calls without their ids, arguments as values. */
export function calls(parsed: ParsedAnswer): unknown[] {
  assert.equal(parsed.kind, 'said', JSON.stringify(parsed))
  return parsed.kind === 'said' ? parsed.calls.map(({ tool, args }) => [tool, JSON.parse(args)]) : []
}

export function answer(parsed: ParsedAnswer): string {
  assert.deepEqual(calls(parsed), [])
  return parsed.kind === 'said' ? parsed.text : ''
}

export function assertFault(parser: Parser, text: string, reason: RegExp): void {
  const parsed = parser.parse(text)
  assert.equal(parsed.kind, 'fault', `${text}\n→ ${JSON.stringify(parsed)}`)
  assert.match(parsed.kind === 'fault' ? parsed.reason : '', reason)
}

export function notes(parsed: ParsedAnswer): unknown {
  return parsed.kind === 'said' ? parsed.notes : undefined
}
