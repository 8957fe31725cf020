/** Reads arguments in parentheses, `(key="text", other=[1, 2])`, with balanced quotes and brackets. */

import type { Json } from '../../domain/json.ts'
import { findBracketEnd, matchAt, readJson, skipSpace } from './json-scanner.ts'
import { refuseAnswer } from './parser-base.ts'

interface ScanResult<T> {
  readonly value: T
  readonly end: number
}

/** `from`: index of the opening parenthesis. */
export function readArguments(text: string, from: number, tool: string): { args: string; end: number } {
  const args = new Map<string, Json>()
  let at = skipSpace(text, from + 1)
  while (text[at] !== ')') {
    const key = readKey(text, at, tool)
    if (args.has(key.value)) refuseAnswer('retries/unreadable-react.md#argument_repeated', { tool, name: key.value })
    const value = readValue(text, skipSpace(text, key.end), `${tool}(${key.value}=…)`)
    args.set(key.value, value.value)
    at = skipSpace(text, value.end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
    else if (text[at] !== ')') refuseArguments(text, at, tool)
  }
  return { args: JSON.stringify(Object.fromEntries(args)), end: at + 1 }
}

function readKey(text: string, at: number, tool: string): ScanResult<string> {
  const key = text[at] === '"' ? readQuoted(text, at) : readBareKey(text, at)
  const equals = key ? skipSpace(text, key.end) : at
  if (!key || text[equals] !== '=') return refuseArguments(text, equals, tool)
  return { value: key.value, end: equals + 1 }
}

function readBareKey(text: string, at: number): ScanResult<string> | undefined {
  const value = matchAt(/[\p{L}_][\p{L}\p{N}_-]*/uy, text, at)
  return value === undefined ? undefined : { value, end: at + value.length }
}

function readValue(text: string, at: number, where: string): ScanResult<Json> {
  const char = text[at]
  if (char === '"' || char === "'") return readQuoted(text, at)
  if (char === '{' || char === '[') {
    const end = findBracketEnd(text, at)
    return { value: readJson(text.slice(at, end)), end }
  }
  const bare = matchAt(/[^\s,()[\]{}"'=]+/y, text, at) ?? ''
  const literal = LITERALS.get(bare)
  if (literal === undefined && !/^-?\d/.test(bare))
    refuseAnswer('retries/unreadable-react.md#argument_not_json', { where })
  return { value: literal === undefined ? readJson(bare) : literal, end: at + bare.length }
}

/** Literals of JSON and of Python. */
const LITERALS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['True', true],
  ['False', false],
  ['None', null],
])

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' }

/** Reads a text in double or single quotes, with JSON escapes; line breaks need no escape. */
function readQuoted(text: string, from: number): ScanResult<string> {
  const quote = text[from]
  let value = ''
  for (let i = from + 1; i < text.length; i++) {
    const char = text[i] ?? ''
    if (char === quote) return { value, end: i + 1 }
    if (char !== '\\') {
      value += char
      continue
    }
    const escaped = text[++i] ?? ''
    const code = escaped === 'u' ? matchAt(/[0-9a-fA-F]{4}/y, text, i + 1) : undefined
    if (code !== undefined) {
      value += String.fromCharCode(Number.parseInt(code, 16))
      i += 4
    } else if (`"'\\/`.includes(escaped)) value += escaped
    else value += ESCAPES[escaped] ?? refuseAnswer('retries/unreadable-react.md#escape_unknown', { character: escaped })
  }
  return refuseAnswer('retries/unreadable-react.md#quote_open')
}

function refuseArguments(text: string, at: number, tool: string): never {
  return refuseAnswer(
    at >= text.length ? 'retries/unreadable-react.md#call_open' : 'retries/unreadable-react.md#arguments_format',
    { tool },
  )
}
