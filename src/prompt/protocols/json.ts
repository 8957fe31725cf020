/**
 * JSON protocol: one object that is the whole answer, or the content of a code fence that is the whole answer. An
 * object with text around it may be a quotation, so it is a fault, and so is an incomplete one: nothing is repaired.
 * Also accepts `{"thought", "action": {"type", "payload"}}`.
 */

import type { Json } from '../../domain/json.ts'
import type { Parser } from '../../ports/parser.ts'
import { FIELD_NAMES, type FieldNames, normaliseFieldName, partFinder } from './field-names.ts'
import { findBracketEnd, isObject, type JsonObject, jsonToText, readCallObject, readJson } from './json-scanner.ts'
import { splitThinking, unwrapFence } from './outside-text.ts'
import { createParser, emptyParts, type ParsedParts, refuseAnswer } from './parser-base.ts'
import { toolList } from './tools.ts'

const INSTRUCTIONS = `Answer with one JSON object and nothing else.
To use one or more tools, which run in this order:
{"thought": "why", "actions": [{"name": "<tool>", "args": {…}}]}
To give the final answer, when the task is done:
{"thought": "why", "answer": "…"}
Never send actions and an answer together. The results come in the next message.
You may note in "reflection" what you learnt from the last ones.`

export function jsonParser(words: FieldNames = FIELD_NAMES): Parser {
  const partOf = partFinder(words)
  return createParser(
    'json',
    (tools) => `${INSTRUCTIONS}\n\n${toolList(tools)}`,
    (text) => {
      const { thinking, rest } = splitThinking(text)
      const found = readDecision(onlyObject(unwrapFence(rest, 'json')), partOf)
      return { ...found, thought: [thinking, ...found.thought] }
    },
  )
}

function onlyObject(text: string): JsonObject {
  if (!text.includes('{')) refuseAnswer(`there is no JSON object in it; ${ONE_OBJECT_ONLY}`)
  if (text.startsWith('[')) refuseAnswer(`it is a list; ${ONE_OBJECT_ONLY}`)
  if (!text.startsWith('{')) refuseAnswer(`there is text before the JSON object; ${ONE_OBJECT_ONLY}`)
  const end = findBracketEnd(text, 0)
  const after = text.slice(end).trim()
  if (after.startsWith('{')) refuseAnswer('there is more than one JSON object in it; put all actions into one')
  if (after !== '') refuseAnswer(`there is text after the JSON object; ${ONE_OBJECT_ONLY}`)
  const value = readJson(text.slice(0, end))
  return isObject(value) ? value : refuseAnswer('it is not a JSON object')
}

const ONE_OBJECT_ONLY = 'answer with one JSON object and nothing else'

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
      if (actionKey !== undefined) refuseAnswer(`it has "${actionKey}" and "${key}"; put all actions under "actions"`)
      actionKey = key
      found.calls.push(...(isList(value) ? value : [value]).map(readCallObject))
    } else if (normaliseFieldName(key) === 'mode') mode = value
  }
  checkMode(mode, found)
  return found
}

/** A declared mode is binding: an act without actions does not become an answer (case 23). */
function checkMode(mode: Json | undefined, { calls, finals }: ParsedParts): void {
  if (mode === undefined) return
  if (mode !== 'act' && mode !== 'final')
    refuseAnswer(`mode is ${JSON.stringify(mode)}; expected "act" or "final", or no mode at all`)
  if (mode === 'act' && calls.length === 0)
    refuseAnswer('mode is "act", but there are no actions; send actions, or mode "final"')
  if (mode === 'final' && finals.length === 0)
    refuseAnswer('mode is "final", but there is no answer; send an answer, or mode "act"')
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)
