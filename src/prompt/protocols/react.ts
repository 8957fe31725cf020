/**
 * ReAct protocol: labelled blocks, each label at the very start of a line and outside of code fences. An action is the last block: only a
 * thought or a reflection may stand before it, only another action behind it, and it is none where a quotation is still open. What stands
 * before the first label of a final answer is a thought. A final answer goes on to the end of the text, so a label in it is part of it,
 * except an action, which contradicts it. Text without any label is a final answer, unless a line of it looks like an attempt at an
 * action; calls in prose are prose (case 22).
 */

import { assertNever } from '../../domain/error.ts'
import type { Parser } from '../../ports/parser.ts'
import { readArguments } from './arguments.ts'
import { BOTH, type Found, nothingFound, parserOf, refuse } from './reading.ts'
import { endsInQuotation, splitThinking } from './surroundings.ts'
import { toolList } from './tools.ts'
import { behindSpace, bracketEnd, callOf, matchAt, readJson } from './values.ts'
import { type Part, partsBy, squashed, WORDS, type Words } from './words.ts'

const INSTRUCTIONS = `Answer in labelled blocks and nothing else, each label at the very start of a line.
To use a tool, with every value written as JSON:
Thought: why
Action: <tool>(<argument>="text", <argument>=[1, 2])
or
Action: <tool>
Action Input: {"<argument>": "text"}
Several Action blocks are several calls, in this order. Write nothing behind them: the results come with the next message.
To give the final answer, once there is nothing left to do:
Thought: why
Final Answer: …
Never send an Action and a Final Answer together. "Reflection:" may say, before either, what you learnt from the last results.`

/** A code fence, or a label as it must be; a line that looks like an attempt at a label (`**Action:**`, `- Action 1:`). */
const LABEL = /^(?: {0,3}(?<fence>`{3,}|~{3,})|(\p{L}[\p{L} \t_-]{0,30}?)[ \t]{0,8}[:：])/gmu
const ATTEMPT = /^[^\p{L}\r\n\u2028\u2029]*(\p{L}[\p{L} \t_-]{0,30}?)[^\p{L}\r\n:：]{0,8}[:：]/gmu

interface Label {
  readonly part: Part | 'input' | 'observation'
  readonly start: number
  readonly end: number
}

type NextLabel = (text: string, from: number) => Label | undefined

export function reactParser(words: Words = WORDS): Parser {
  const nextLabel = labels(words, LABEL)
  const nextAttempt = labels(words, ATTEMPT)
  return parserOf(
    'react',
    (tools) => `${INSTRUCTIONS}\n\n${toolList(tools)}`,
    (text) => {
      const { thinking, rest } = splitThinking(text)
      const found = readAll(rest, nextLabel, nextAttempt)
      return { ...found, thought: [thinking, ...found.thought] }
    },
  )
}

function readAll(text: string, nextLabel: NextLabel, nextAttempt: NextLabel): Found {
  if (nextLabel(text, 0)) return readBlocks(text, nextLabel)
  if (holdsAction(text, 0, nextAttempt))
    refuse(
      'it looks like an action, but no line begins with "Action:"; write the label plain, outside of quotes and fences',
    )
  return { ...nothingFound(), finals: [text] }
}

function labels(words: Words, source: RegExp): NextLabel {
  const partOf = partsBy(words)
  const others: Record<string, Label['part']> = { actioninput: 'input', observation: 'observation' }
  return (text, from) => {
    const pattern = new RegExp(source)
    pattern.lastIndex = from
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      const { fence } = match.groups ?? {}
      if (fence !== undefined) {
        pattern.lastIndex = behindFence(text, pattern.lastIndex, fence)
        continue
      }
      const word = match.at(-1) ?? ''
      const part = partOf(word) ?? others[squashed(word)]
      if (part) return { part, start: match.index, end: pattern.lastIndex }
    }
    return undefined
  }
}

/** A fence that is not closed goes on to the end. */
function behindFence(text: string, from: number, fence: string): number {
  const closing = new RegExp(`^ {0,3}${fence}${fence[0]}*[ \\t]*$`, 'gm')
  closing.lastIndex = from
  return closing.exec(text) ? closing.lastIndex : text.length
}

function holdsAction(text: string, from: number, nextLabel: NextLabel): boolean {
  let label = nextLabel(text, from)
  while (label && label.part !== 'action') label = nextLabel(text, label.end)
  return label !== undefined
}

function readBlocks(text: string, nextLabel: NextLabel): Found {
  const found = nothingFound()
  let label = nextLabel(text, 0)
  const unlabelled = text.slice(0, label?.start).trim()
  found.thought.push(unlabelled)
  while (label) {
    const { part, start, end } = label
    switch (part) {
      case 'thought':
      case 'reflection':
        if (found.calls.length > 0)
          refuse(`there is a ${part} behind an Action; write nothing there but another Action`)
        label = nextLabel(text, end)
        found[part].push(text.slice(end, label?.start).trim())
        break
      case 'action': {
        if (unlabelled !== '') refuse('there is text before the first label; put it behind "Thought:"')
        if (found.calls.length === 0 && endsInQuotation(text.slice(0, start)))
          refuse('the Action stands in a quotation that is not closed; close it, or write the Action alone')
        const call = readCall(text, end, nextLabel)
        found.calls.push({ tool: call.tool, args: call.args })
        label = nextLabel(text, call.end)
        if (text.slice(call.end, label?.start).trim() !== '')
          refuse(`there is text behind the call of ${call.tool}; write nothing there`)
        break
      }
      case 'final':
        if (holdsAction(text, end, nextLabel)) refuse(BOTH)
        found.finals.push(text.slice(end).trim())
        return found
      case 'input':
        return refuse('there is an Action Input that no Action needs')
      case 'observation':
        return refuse(
          'it holds an Observation; results come from the tools, never from you. Send your next Action alone',
        )
      default:
        assertNever(part)
    }
  }
  return found
}

function readCall(text: string, from: number, nextLabel: NextLabel): { tool: string; args: string; end: number } {
  const at = behindSpace(text, from)
  if (text[at] === '{') {
    const end = bracketEnd(text, at)
    return { ...callOf(readJson(text.slice(at, end))), end }
  }
  const tool =
    matchAt(/[\p{L}_][\p{L}\p{N}_.:/-]*/uy, text, at) ?? refuse('behind "Action:" there must be the name of a tool')
  const behind = behindSpace(text, at + tool.length)
  if (text[behind] === '(') return { tool, ...readArguments(text, behind, tool) }
  return { tool, ...readInput(text, at + tool.length, tool, nextLabel) }
}

/** Without its Action Input a call may have been cut, so it is never taken for one without arguments. */
function readInput(text: string, from: number, tool: string, nextLabel: NextLabel): { args: string; end: number } {
  const label = nextLabel(text, from)
  if (label?.part !== 'input' || text.slice(from, label.start).trim() !== '')
    return refuse(`the call of ${tool} has no arguments; write ${tool}(…), or an Action Input behind it`)
  const start = behindSpace(text, label.end)
  if (text[start] !== '{') refuse(`the Action Input of ${tool} must be a JSON object`)
  const end = bracketEnd(text, start)
  return { args: JSON.stringify(readJson(text.slice(start, end))), end }
}
