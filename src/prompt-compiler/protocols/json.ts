/**
 * JSON protocol: one object that is the whole answer, or the content of a code fence that is the whole answer. An
 * object with text around it may be a quotation, so it is a fault. An incomplete object is a fault too: nothing is
 * repaired. Also accepts `{"thought", "action": {"type", "payload"}}`.
 */

import type { Json } from '../../domain/json.ts'
import type { Parser } from '../../ports/parser.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { FIELD_NAMES, type FieldNames, normaliseFieldName, partFinder } from './field-names.ts'
import { findBracketEnd, isObject, type JsonObject, jsonToText, readCallObject, readJson } from './json-scanner.ts'
import { splitThinking, unwrapFence } from './outside-text.ts'
import { createParser, emptyParts, type ParsedParts, refuseAnswer } from './parser-base.ts'
import { toolList } from './tools.ts'

export function jsonParser(words: FieldNames = FIELD_NAMES): Parser {
  const partOf = partFinder(words)
  return createParser(
    'json',
    (tools) => loadPrompt('protocols/json.md', { tools: toolList(tools) }),
    (text) => {
      const { thinking, rest } = splitThinking(text)
      const found = readDecision(onlyObject(unwrapFence(rest, 'json')), partOf)
      return { ...found, thought: [thinking, ...found.thought] }
    },
  )
}

function onlyObject(text: string): JsonObject {
  if (!text.includes('{')) refuseAnswer('retries/unreadable-json.md#no_object')
  if (text.startsWith('[')) refuseAnswer('retries/unreadable-json.md#list')
  if (!text.startsWith('{')) refuseAnswer('retries/unreadable-json.md#text_before')
  const end = findBracketEnd(text, 0)
  const after = text.slice(end).trim()
  if (after.startsWith('{')) refuseAnswer('retries/unreadable-json.md#several_objects')
  if (after !== '') refuseAnswer('retries/unreadable-json.md#text_after')
  const value = readJson(text.slice(0, end))
  return isObject(value) ? value : refuseAnswer('retries/unreadable-json.md#not_object')
}

function readDecision(object: JsonObject, partOf: ReturnType<typeof partFinder>): ParsedParts {
  const found = emptyParts()
  let mode: Json | undefined
  let actionKey: string | undefined
  for (const [key, value] of Object.entries(object)) {
    if (value === null) continue
    const part = partOf(key)
    if (part === 'thought' || part === 'reflection') found[part].push(jsonToText(value))
    else if (part === 'final') found.finals.push(jsonToText(value))
    else if (part === 'action') {
      if (actionKey !== undefined)
        refuseAnswer('retries/unreadable-json.md#actions_repeated', { first: actionKey, second: key })
      actionKey = key
      found.calls.push(...(isList(value) ? value : [value]).map(readCallObject))
    } else if (normaliseFieldName(key) === 'mode') mode = value
  }
  checkMode(mode, found)
  return found
}

/**
 * A `mode` in the answer is binding: mode `act` without actions is a fault and does not become a final answer (case
 * 23).
 */
function checkMode(mode: Json | undefined, { calls, finals }: ParsedParts): void {
  if (mode === undefined) return
  if (mode !== 'act' && mode !== 'final')
    refuseAnswer('retries/unreadable-json.md#mode_unknown', { mode: JSON.stringify(mode) })
  if (mode === 'act' && calls.length === 0) refuseAnswer('retries/unreadable-json.md#act_without_actions')
  if (mode === 'final' && finals.length === 0) refuseAnswer('retries/unreadable-json.md#final_without_answer')
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)
