/** Arguments in brackets, `(key="text", other=[1, 2])`, scanned with their quotes and brackets balanced. */

import type { Json } from '../../domain/json.ts'
import { refuse } from './reading.ts'
import { behindSpace, bracketEnd, matchAt, readJson } from './values.ts'

interface Scanned<T> {
  readonly value: T
  readonly end: number
}

/** `from` is where the bracket opens. */
export function readArguments(text: string, from: number, tool: string): { args: string; end: number } {
  const args = new Map<string, Json>()
  let at = behindSpace(text, from + 1)
  while (text[at] !== ')') {
    const key = readKey(text, at, tool)
    if (args.has(key.value)) refuse(`the call of ${tool} has the argument ${key.value} twice`)
    const value = readValue(text, behindSpace(text, key.end), `${tool}(${key.value}=…)`)
    args.set(key.value, value.value)
    at = behindSpace(text, value.end)
    if (text[at] === ',') at = behindSpace(text, at + 1)
    else if (text[at] !== ')') refuse(endless(text, at, tool))
  }
  return { args: JSON.stringify(Object.fromEntries(args)), end: at + 1 }
}

function readKey(text: string, at: number, tool: string): Scanned<string> {
  const key = text[at] === '"' ? readQuoted(text, at) : readBareKey(text, at)
  const equals = key ? behindSpace(text, key.end) : at
  if (!key || text[equals] !== '=') return refuse(endless(text, equals, tool))
  return { value: key.value, end: equals + 1 }
}

function readBareKey(text: string, at: number): Scanned<string> | undefined {
  const value = matchAt(/[\p{L}_][\p{L}\p{N}_-]*/uy, text, at)
  return value === undefined ? undefined : { value, end: at + value.length }
}

function readValue(text: string, at: number, where: string): Scanned<Json> {
  const char = text[at]
  if (char === '"' || char === "'") return readQuoted(text, at)
  if (char === '{' || char === '[') {
    const end = bracketEnd(text, at)
    return { value: readJson(text.slice(at, end)), end }
  }
  const bare = matchAt(/[^\s,()[\]{}"'=]+/y, text, at) ?? ''
  const literal = LITERALS.get(bare)
  if (literal === undefined && !/^-?\d/.test(bare))
    refuse(`${where}: text must be in quotes, other values must be JSON`)
  return { value: literal === undefined ? readJson(bare) : literal, end: at + bare.length }
}

/** As JSON writes them, and as Python does. */
const LITERALS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['True', true],
  ['False', false],
  ['None', null],
])

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' }

/** In double or single quotes, with the escapes of JSON; line breaks may stand as they are. */
function readQuoted(text: string, from: number): Scanned<string> {
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
    else value += ESCAPES[escaped] ?? refuse(`\\${escaped} is not an escape; write \\\\ for a backslash`)
  }
  return refuse('it was cut: a quoted text does not end; send it again, whole')
}

function endless(text: string, at: number, tool: string): string {
  return at >= text.length
    ? `it was cut: the call of ${tool} does not end; send it again, whole`
    : `the arguments of ${tool} must be written ${tool}(<argument>=<value>, …), with quotes inside a text escaped`
}
