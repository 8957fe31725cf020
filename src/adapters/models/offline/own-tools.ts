/**
 * Calls of the user's own tools: a sentence that names a tool, or has all words of its name, calls it. The arguments
 * are taken from the sentence; if a required one is not there, the tool is not called. Pure.
 */

import type { Json } from '../../../domain/json.ts'
import { PAST_TOOLS } from '../../../domain/past-tools.ts'
import type { ToolSpec } from '../../../ports/model.ts'
import { type Clause, MARK, type ParsedTask } from './clauses.ts'
import type { ToolStep } from './offline-step.ts'

/** Tools of Tireless. Sentences for them have rules of their own, and their names are everyday words. */
export const BUILT_IN_TOOLS: ReadonlySet<string> = new Set([
  ...['ask_user', 'bash', 'browser', 'create_file', 'edit_file', 'edit_state', 'fetch', 'finish', 'forget', 'git'],
  ...[
    'list_files',
    'read_skill',
    'read_state',
    'recall',
    'remember',
    'route',
    'search_files',
    'send_message',
    'tool_call',
  ],
  ...['learn', 'noop', 'query', 'say'],
  ...['coding_agent', 'spawn_agent', 'tool_search', 'view_file', 'wait', 'web_search'],
  ...PAST_TOOLS,
  ...['todo_add', 'todo_done', 'todo_fail', 'todo_list', 'todo_note', 'todo_pass', 'todo_reject', 'todo_start'],
  'todo_verify',
])

export const isOwnTool = ({ name }: ToolSpec): boolean => !BUILT_IN_TOOLS.has(name)

/** Contract: undefined if the clause names none of the tools, or lacks an argument that the tool requires. */
export function matchOwnTool(clause: Clause, task: ParsedTask, tools: readonly ToolSpec[]): ToolStep | undefined {
  if (clause.isBeyondRules) return undefined
  const sentence = clause.rest === undefined ? clause.words : `${clause.words}: ${clause.rest}`
  // Data of the runtime names no tool and is no argument.
  const words = sentence.replace(MARKS, (mark) => (task.literal(mark)?.fence === 'data' ? ' ' : mark))
  for (const tool of tools) {
    const rest = textBesidesName(words, tool.name, task)
    const args = rest === undefined ? undefined : readArguments(tool, rest, task)
    if (args) return { kind: 'tool', tool: tool.name, args }
  }
  return undefined
}

/** Contract: what follows the name in the sentence; undefined if the sentence does not name the tool. */
function textBesidesName(words: string, name: string, task: ParsedTask): string | undefined {
  const quoted = [...words.matchAll(MARKS)].find(([mark]) => task.literal(mark)?.text.trim() === name)
  if (quoted) return words.slice(quoted.index + quoted[0].length)
  const exact = new RegExp(`(?<![\\w-])${RegExp.escape(name)}(?![\\w-])`, 'iu').exec(words)
  if (exact) return words.slice(exact.index + name.length)
  const parts = nameWords(name)
  if (parts.length < 2) return undefined
  // The words may be apart and in the plural: `roll_dice` is named by "roll two dice".
  const found = parts.map((part) => new RegExp(`\\b${RegExp.escape(part)}(?:e?s)?\\b`, 'i').exec(words))
  if (found.some((one) => one === null)) return undefined
  const ends = found.map((one) => (one?.index ?? 0) + (one?.[0].length ?? 0))
  const starts = found.map((one) => one?.index ?? 0)
  const [first, last] = [Math.min(...starts), Math.max(...ends)]
  const between = found.reduce((text, one) => text.replace(one?.[0] ?? '', ' '), words.slice(first, last))
  return `${between} ${words.slice(last)}`
}

/** `roll_dice`, `roll-dice` and `rollDice` have the words roll and dice. */
const nameWords = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())

interface Property {
  readonly type?: unknown
  readonly enum?: unknown
}

function readArguments({ parameters }: ToolSpec, rest: string, task: ParsedTask): ToolStep['args'] | undefined {
  const properties = (parameters.properties ?? {}) as Readonly<Record<string, Property>>
  const whole = readObject(rest, task)
  if (whole) return whole
  const names = Object.keys(properties)
  const required = Array.isArray(parameters.required) ? parameters.required.map(String) : []
  const args: Record<string, Json> = {}
  let left = rest
  // Named arguments first (`city Paris`), because they may stand in any order.
  for (const name of names) {
    const pattern = `(?<![\\w-])${RegExp.escape(name)}\\s*(?:=|:|：|is\\b|为|是)?\\s*(${MARK}|[^\\s,，;；]+)`
    const match = new RegExp(pattern, 'iu').exec(left)
    const value = match?.[1] === undefined ? undefined : readValue(properties[name], match[1], task)
    if (!match || value === undefined) continue
    args[name] = value
    left = left.replace(match[0], ' ')
  }
  const missing = required.filter((name) => !Object.hasOwn(args, name))
  const wanted = missing.length === 0 && names.length === 1 && required.length === 0 ? names : missing
  for (const name of wanted.filter((one) => !Object.hasOwn(args, one))) {
    const found = takeValue(properties[name], left, task, wanted.length === 1)
    if (found) {
      args[name] = found.value
      left = found.left
    } else if (required.includes(name)) return undefined
  }
  return args
}

/** A JSON object in quotes or a code block is the whole set of arguments. */
function readObject(rest: string, task: ParsedTask): Record<string, Json> | undefined {
  for (const [mark] of rest.matchAll(MARKS)) {
    const literal = task.literal(mark)
    if (!literal?.text.trim().startsWith('{')) continue
    try {
      return JSON.parse(literal.text) as Record<string, Json>
    } catch {
      return undefined
    }
  }
  return undefined
}

/** Takes the first value of the property's type; `isOnly`: a text without quotes may be the whole rest. */
function takeValue(
  property: Property | undefined,
  left: string,
  task: ParsedTask,
  isOnly: boolean,
): { readonly value: Json; readonly left: string } | undefined {
  const pieces = [...left.matchAll(PIECES)].map(([piece]) => piece)
  const quoted = pieces.filter((piece) => task.literal(piece) !== undefined)
  for (const piece of property?.type === 'string' && !property.enum ? quoted : pieces) {
    const value = readValue(property, piece, task)
    if (value !== undefined) return { value, left: left.replace(piece, ' ') }
  }
  const text = isOnly && property?.type === 'string' && !property.enum ? task.plain(trimFiller(left)) : ''
  return text === '' ? undefined : { value: text, left: '' }
}

function readValue(property: Property | undefined, piece: string, task: ParsedTask): Json | undefined {
  const literal = task.literal(piece)
  const text = literal?.text ?? task.plain(piece)
  if (Array.isArray(property?.enum))
    return property.enum.find((one) => String(one).toLowerCase() === text.toLowerCase()) as Json | undefined
  switch (property?.type) {
    case 'string':
      return text
    case 'number':
      return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined
    case 'integer':
      return /^-?\d+$/.test(text) ? Number(text) : undefined
    case 'boolean':
      return /^(?:true|yes)$/i.test(text) ? true : /^(?:false|no)$/i.test(text) ? false : undefined
    default:
      return undefined
  }
}

const MARKS = new RegExp(MARK, 'g')
/** A quoted text, a number, or a word. */
const PIECES = new RegExp(`${MARK}|-?\\d+(?:\\.\\d+)?|[\\p{L}\\p{N}_.~@/-]+`, 'gu')

const FILLER = new RegExp(
  String.raw`^(?:[\s:：,，]|(?:the|a|an|tool|command|me|my|and|please)\b` +
    String.raw`|(?:for|of|in|at|on|to|with|about|from|called|using)\b` +
    '|工具|一下|关于|对|给|查询|查看|查)+',
  'iu',
)

/** "the weather tool for Paris" leaves "Paris". */
const trimFiller = (text: string): string => text.replace(FILLER, '').replace(/[\s,，:：]+$/, '')
