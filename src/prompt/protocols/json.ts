/**
 * JSON protocol: one object that is the whole answer, or the whole of the one code fence that is. An object with text around it may be a
 * quotation, so it is a fault, and so is one that was cut: nothing is repaired. The seed's `{"thought", "action": {"type", "payload"}}`
 * is read as it stands.
 */

import type { Json } from '../../domain/json.ts'
import type { Parser } from '../../ports/parser.ts'
import { type Found, nothingFound, parserOf, refuse } from './reading.ts'
import { splitThinking, unwrapFence } from './surroundings.ts'
import { toolList } from './tools.ts'
import { bracketEnd, callOf, isObject, type JsonObject, plain, readJson } from './values.ts'
import { partsBy, squashed, WORDS, type Words } from './words.ts'

const INSTRUCTIONS = `Answer with one JSON object and nothing else.
To use tools, here one or several, in this order:
{"thought": "why", "actions": [{"name": "<tool>", "args": {…}}]}
To give the final answer, once there is nothing left to do:
{"thought": "why", "answer": "…"}
Never send actions and an answer together. The results come with the next message; "reflection" may say what you learnt from the last ones.`

export function jsonParser(words: Words = WORDS): Parser {
  const partOf = partsBy(words)
  return parserOf(
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
  if (!text.includes('{')) refuse(`there is no JSON object in it; ${ALONE}`)
  if (text.startsWith('[')) refuse(`it is a list; ${ALONE}`)
  if (!text.startsWith('{')) refuse(`there is text before the JSON object; ${ALONE}`)
  const end = bracketEnd(text, 0)
  const behind = text.slice(end).trim()
  if (behind.startsWith('{')) refuse('there is more than one JSON object in it; put all actions into one')
  if (behind !== '') refuse(`there is text behind the JSON object; ${ALONE}`)
  const value = readJson(text.slice(0, end))
  return isObject(value) ? value : refuse('it is not a JSON object')
}

const ALONE = 'answer with one JSON object and nothing else'

function readDecision(object: JsonObject, partOf: ReturnType<typeof partsBy>): Found {
  const found = nothingFound()
  let mode: Json | undefined
  let acted: string | undefined
  for (const [key, value] of Object.entries(object)) {
    if (value === null) continue
    const part = partOf(key)
    if (part === 'thought' || part === 'reflection') found[part].push(plain(value))
    else if (part === 'final') found.finals.push(plain(value))
    else if (part === 'action') {
      if (acted !== undefined) refuse(`it says "${acted}" and "${key}"; put all actions under "actions"`)
      acted = key
      found.calls.push(...(isList(value) ? value : [value]).map(callOf))
    } else if (squashed(key) === 'mode') mode = value
  }
  checkMode(mode, found)
  return found
}

/** A mode that is declared is kept to: an act without actions does not become an answer (case 23). */
function checkMode(mode: Json | undefined, { calls, finals }: Found): void {
  if (mode === undefined) return
  if (mode !== 'act' && mode !== 'final')
    refuse(`mode is ${JSON.stringify(mode)}; expected "act" or "final", or no mode at all`)
  if (mode === 'act' && calls.length === 0)
    refuse('mode is "act" and there are no actions; send actions, or mode "final"')
  if (mode === 'final' && finals.length === 0)
    refuse('mode is "final" and there is no answer; send an answer, or mode "act"')
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)
