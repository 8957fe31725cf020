/**
 * ReAct protocol: blocks with labels such as `Thought:`, `Action:` and `Final Answer:`. A label stands at the start of
 * a line, outside code fences. Before an action only thoughts and reflections are allowed, after it only further
 * actions; an action inside an open quotation is refused. A final answer extends to the end of the text, including any
 * labels, but an action after it is refused. Text before the first label counts as a thought, and is refused before an
 * action. Text without labels is a final answer, unless a line looks like a wrongly written action. A call that is only
 * mentioned in a sentence is not a call (case 22).
 */

import { assertNever } from '../../domain/error.ts'
import type { Parser } from '../../ports/parser.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { readArguments } from './argument-scanner.ts'
import { type AnswerPart, FIELD_NAMES, type FieldNames, normaliseFieldName, partFinder } from './field-names.ts'
import { findBracketEnd, matchAt, readCallObject, readJson, skipSpace } from './json-scanner.ts'
import { endsInQuotation, splitThinking } from './outside-text.ts'
import { ACTION_AND_ANSWER, createParser, emptyParts, type ParsedParts, refuseAnswer } from './parser-base.ts'
import { toolList } from './tools.ts'

/** LABEL: a code fence, or a correct label. ATTEMPT: a line that looks like a label (`**Action:**`, `- Action 1:`). */
const LABEL = /^(?: {0,3}(?<fence>`{3,}|~{3,})|(\p{L}[\p{L} \t_-]{0,30}?)[ \t]{0,8}[:：])/gmu
const ATTEMPT = /^[^\p{L}\r\n\u2028\u2029]*(\p{L}[\p{L} \t_-]{0,30}?)[^\p{L}\r\n:：]{0,8}[:：]/gmu

interface Label {
  readonly part: AnswerPart | 'input' | 'observation'
  readonly start: number
  readonly end: number
}

type FindLabel = (text: string, from: number) => Label | undefined

export function reactParser(words: FieldNames = FIELD_NAMES): Parser {
  const nextLabel = labelFinder(words, LABEL)
  const nextAttempt = labelFinder(words, ATTEMPT)
  return createParser(
    'react',
    (tools) => loadPrompt('protocols/react.md', { tools: toolList(tools) }),
    (text) => {
      const { thinking, rest } = splitThinking(text)
      const found = readAll(rest, nextLabel, nextAttempt)
      return { ...found, thought: [thinking, ...found.thought] }
    },
  )
}

function readAll(text: string, nextLabel: FindLabel, nextAttempt: FindLabel): ParsedParts {
  if (nextLabel(text, 0)) return readBlocks(text, nextLabel)
  if (containsAction(text, 0, nextAttempt)) refuseAnswer('retries/unreadable-react.md#action_formatted')
  return { ...emptyParts(), finals: [text] }
}

function labelFinder(words: FieldNames, source: RegExp): FindLabel {
  const partOf = partFinder(words)
  const others: Record<string, Label['part']> = { actioninput: 'input', observation: 'observation' }
  return (text, from) => {
    const pattern = new RegExp(source)
    pattern.lastIndex = from
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      const { fence } = match.groups ?? {}
      if (fence !== undefined) {
        pattern.lastIndex = skipFence(text, pattern.lastIndex, fence)
        continue
      }
      const word = match.at(-1) ?? ''
      const part = partOf(word) ?? others[normaliseFieldName(word)]
      if (part) return { part, start: match.index, end: pattern.lastIndex }
    }
    return undefined
  }
}

/** The index after the code fence. An unclosed code fence extends to the end of the text. */
function skipFence(text: string, from: number, fence: string): number {
  const closing = new RegExp(`^ {0,3}${fence}${fence[0]}*[ \\t]*$`, 'gm')
  closing.lastIndex = from
  return closing.exec(text) ? closing.lastIndex : text.length
}

function containsAction(text: string, from: number, nextLabel: FindLabel): boolean {
  let label = nextLabel(text, from)
  while (label && label.part !== 'action') label = nextLabel(text, label.end)
  return label !== undefined
}

function readBlocks(text: string, nextLabel: FindLabel): ParsedParts {
  const found = emptyParts()
  let label = nextLabel(text, 0)
  const unlabelled = text.slice(0, label?.start).trim()
  found.thought.push(unlabelled)
  while (label) {
    const { part, start, end } = label
    switch (part) {
      case 'thought':
      case 'reflection':
        if (found.calls.length > 0) refuseAnswer('retries/unreadable-react.md#note_too_late', { part })
        label = nextLabel(text, end)
        found[part].push(text.slice(end, label?.start).trim())
        break
      case 'action': {
        if (unlabelled !== '') refuseAnswer('retries/unreadable-react.md#text_before')
        if (found.calls.length === 0 && endsInQuotation(text.slice(0, start)))
          refuseAnswer('retries/unreadable-react.md#action_in_quotation')
        const call = readCall(text, end, nextLabel)
        found.calls.push({ tool: call.tool, args: call.args })
        label = nextLabel(text, call.end)
        if (text.slice(call.end, label?.start).trim() !== '')
          refuseAnswer('retries/unreadable-react.md#text_after_call', { tool: call.tool })
        break
      }
      case 'final':
        if (containsAction(text, end, nextLabel)) refuseAnswer(ACTION_AND_ANSWER)
        found.finals.push(text.slice(end).trim())
        return found
      case 'input':
        return refuseAnswer('retries/unreadable-react.md#input_without_action')
      case 'observation':
        return refuseAnswer('retries/unreadable-react.md#observation')
      default:
        assertNever(part)
    }
  }
  return found
}

function readCall(text: string, from: number, nextLabel: FindLabel): { tool: string; args: string; end: number } {
  const at = skipSpace(text, from)
  if (text[at] === '{') {
    const end = findBracketEnd(text, at)
    return { ...readCallObject(readJson(text.slice(at, end))), end }
  }
  const tool =
    matchAt(/[\p{L}_][\p{L}\p{N}_.:/-]*/uy, text, at) ?? refuseAnswer('retries/unreadable-react.md#action_without_tool')
  const next = skipSpace(text, at + tool.length)
  if (text[next] === '(') return { tool, ...readArguments(text, next, tool) }
  return { tool, ...readInput(text, at + tool.length, tool, nextLabel) }
}

/** A call without its Action Input may be truncated, so it never counts as a call without arguments. */
function readInput(text: string, from: number, tool: string, nextLabel: FindLabel): { args: string; end: number } {
  const label = nextLabel(text, from)
  if (label?.part !== 'input' || text.slice(from, label.start).trim() !== '')
    return refuseAnswer('retries/unreadable-react.md#call_without_arguments', { tool })
  const start = skipSpace(text, label.end)
  if (text[start] !== '{') refuseAnswer('retries/unreadable-react.md#input_not_object', { tool })
  const end = findBracketEnd(text, start)
  return { args: JSON.stringify(readJson(text.slice(start, end))), end }
}
