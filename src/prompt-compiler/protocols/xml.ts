/**
 * XML protocol: `<think>` and `<reflection>`, then `<action>`s or one `<final_answer>`, and nothing around them but
 * comments and CDATA: a tag with text around it may be a quotation. Not general XML: a body is everything up to its
 * closing tag, so HTML inside is kept. Entities are decoded once, except in CDATA, which is taken literally.
 */

import type { Json } from '../../domain/json.ts'
import type { Parser } from '../../ports/parser.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { type AnswerPart, FIELD_NAMES, type FieldNames, partFinder } from './field-names.ts'
import { findBracketEnd, isObject, matchAt, readJson, skipSpace } from './json-scanner.ts'
import { splitThinking, unwrapFence } from './outside-text.ts'
import { createParser, emptyParts, type ParsedParts, refuseAnswer } from './parser-base.ts'
import { toolList } from './tools.ts'
import { readOpeningTag, readTagBody } from './xml-scanner.ts'

export function xmlParser(words: FieldNames = FIELD_NAMES): Parser {
  const partOf = partFinder(words)
  return createParser(
    'xml',
    (tools) => loadPrompt('protocols/xml.md', { tools: toolList(tools) }),
    (text) => {
      if (partOf('think')) return readTags(unwrapFence(text.trim(), 'xml'), partOf)
      const { thinking, rest } = splitThinking(text)
      const found = readTags(unwrapFence(rest, 'xml'), partOf)
      return { ...found, thought: [thinking, ...found.thought] }
    },
  )
}

function readTags(text: string, partOf: (word: string) => AnswerPart | undefined): ParsedParts {
  const found = emptyParts()
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const tag = matchAt(/<!--|<!\[CDATA\[|<\/?\p{L}[\p{L}\p{N}_-]*/uy, text, at) ?? ''
    if (tag.startsWith('<!')) {
      at = skipSection(text, at + tag.length, tag === '<!--' ? '-->' : ']]>')
      continue
    }
    const name = tag.replace(/^<\/?/, '')
    const part = partOf(name)
    if (!part) return refuseAnswer('retries/unreadable-xml.md#text_outside')
    if (tag.startsWith('</')) refuseAnswer('retries/unreadable-xml.md#closes_nothing', { tag: name })
    if (found.calls.length + found.finals.length > 0 && (part === 'thought' || part === 'reflection'))
      refuseAnswer('retries/unreadable-xml.md#thought_too_late', { tag: name })
    at = readPart(text, at + tag.length, name, part, found)
  }
  return found
}

function readPart(text: string, from: number, name: string, part: AnswerPart, found: ParsedParts): number {
  const opening = readOpeningTag(text, from, name)
  if (part === 'action') {
    const tool =
      opening.attributes.get('name') || refuseAnswer('retries/unreadable-xml.md#action_without_name', { tag: name })
    const { args, end } = opening.closed ? { args: {}, end: opening.end } : readActionBody(text, opening.end, name)
    found.calls.push({ tool, args: JSON.stringify(args) })
    return end
  }
  const body = opening.closed ? { text: '', end: opening.end } : readTagBody(text, opening.end, name)
  found[part === 'final' ? 'finals' : part].push(body.text.trim())
  return body.end
}

/**
 * Reads the arguments of an action: `<arg>` tags, or one JSON object, which has its own escapes and needs no entities.
 */
function readActionBody(text: string, from: number, name: string): { args: Json; end: number } {
  const at = skipSpace(text, from)
  if (text[at] === '{') {
    const end = findBracketEnd(text, at)
    return { args: readJson(text.slice(at, end)), end: skipClosingTag(text, end, name) }
  }
  if (text.startsWith('<![CDATA[', at)) {
    const body = readTagBody(text, at, name)
    const args = readJson(body.text)
    return isObject(args)
      ? { args, end: body.end }
      : refuseAnswer('retries/unreadable-xml.md#action_body', { tag: name })
  }
  return readArgs(text, at, name)
}

function readArgs(text: string, from: number, action: string): { args: Json; end: number } {
  const args = new Map<string, Json>()
  let at = from
  for (let tag = matchAt(/<arg(?=[\s>/])/iy, text, at); tag; tag = matchAt(/<arg(?=[\s>/])/iy, text, at)) {
    const opening = readOpeningTag(text, at + tag.length, 'arg')
    const name = opening.attributes.get('name') ?? refuseAnswer('retries/unreadable-xml.md#argument_without_name')
    if (args.has(name)) refuseAnswer('retries/unreadable-xml.md#argument_repeated', { name })
    const body = opening.closed
      ? { text: '', end: opening.end }
      : readTagBody(text, opening.end, 'arg', ['arg', action])
    args.set(name, convertArgument(body.text, opening.attributes.get('type'), name))
    at = skipSpace(text, body.end)
  }
  return { args: Object.fromEntries(args), end: skipClosingTag(text, at, action) }
}

function convertArgument(text: string, type: string | undefined, name: string): Json {
  if (type === 'json') return readJson(text)
  return type === undefined || type === 'string'
    ? text
    : refuseAnswer('retries/unreadable-xml.md#argument_type', { name, type })
}

function skipClosingTag(text: string, from: number, name: string): number {
  const at = skipSpace(text, from)
  const tag = matchAt(new RegExp(`</${name}\\s*>`, 'iy'), text, at)
  return tag === undefined ? refuseAnswer('retries/unreadable-xml.md#action_open', { tag: name }) : at + tag.length
}

/** Skips comments and CDATA outside the tags: an action inside them does not count. */
function skipSection(text: string, from: number, close: string): number {
  const end = text.indexOf(close, from)
  return end < 0 ? refuseAnswer('retries/unreadable-xml.md#section_open', { end: close }) : end + close.length
}
