/** How a step is done with the tools there are: the next call, given what came of the calls before it. Pure. */

import { assertNever } from '../../../domain/error.ts'
import type { Json } from '../../../domain/json.ts'
import { indexText, namesIn, reportText } from './gather.ts'
import type { Gathering, Step } from './rules.ts'

export interface Result {
  readonly ok: boolean
  readonly text: string
}

export interface Attempt {
  readonly tool: string
  readonly args: Readonly<Record<string, Json>>
  /** Missing as long as the conversation does not hold it. */
  result?: Result
}

export type Move =
  | { readonly kind: 'call'; readonly tool: string; readonly args: Readonly<Record<string, Json>> }
  | { readonly kind: 'over' }
  | { readonly kind: 'unable'; readonly tool: string }
  | { readonly kind: 'not_understood' }

export function moveOf(step: Step, tried: readonly Attempt[], tools: ReadonlySet<string>): Move {
  const move = wanted(step, tried, tools)
  return move.kind === 'call' && !tools.has(move.tool) ? { kind: 'unable', tool: move.tool } : move
}

const over: Move = { kind: 'over' }
const call = (tool: string, args: Readonly<Record<string, Json>>): Move => ({ kind: 'call', tool, args })

function wanted(step: Step, tried: readonly Attempt[], tools: ReadonlySet<string>): Move {
  const once = (tool: string, args: Readonly<Record<string, Json>>) => (tried.length === 0 ? call(tool, args) : over)
  switch (step.kind) {
    case 'create':
      return create(step, tried)
    case 'append':
      return tools.has('bash') ? once('bash', { command: appendCommand(step.path, step.line) }) : append(step, tried)
    case 'view':
      return once('view_file', { path: step.path })
    case 'list':
      return once('list_files', { path: step.path })
    case 'run':
      return once('bash', { command: step.command })
    case 'wait':
      return once('wait', { for: step.for, ...(step.until === undefined ? {} : { until: step.until }) })
    case 'report':
      return report(step, tried, tools)
    case 'index':
      return index(step, tried, tools)
    case 'unknown':
      return { kind: 'not_understood' }
    default:
      return assertNever(step)
  }
}

/** Nothing that was reported before is lost: a report that is there already is added to. */
function report(step: Gathering, tried: readonly Attempt[], tools: ReadonlySet<string>): Move {
  const looks = tools.has('list_files') ? 1 : 0
  const [listed] = tried
  if (looks === 1 && !listed) return call('list_files', LISTING)
  const [made, ...later] = tried.slice(looks)
  const content = reportText(step, looks === 1 ? listed?.result : undefined)
  if (!made) return call('create_file', { path: step.path, content })
  return made.result?.ok ? over : append({ kind: 'append', path: step.path, line: `\n${content.trimEnd()}` }, later)
}

/** Looked into, beyond their names and sizes. */
const MOST_FILES = 12
const LISTING = { path: '.', depth: 3 }
const BEGINNING = { from: 1, to: 3 }

/** Made anew each time: what is in it is nowhere else. */
function index(step: Gathering, [listed, ...later]: readonly Attempt[], tools: ReadonlySet<string>): Move {
  if (!listed) return call('list_files', LISTING)
  if (!listed.result?.ok) return over
  const names = namesIn(listed.result.text).filter((name) => name !== step.path)
  const read = tools.has('view_file') ? names.slice(0, MOST_FILES) : []
  const next = read[later.length]
  if (next !== undefined) return call('view_file', { path: next, ...BEGINNING })
  const begins = new Map(read.map((name, at) => [name, later[at]?.result] as const))
  const content = indexText(step, listed.result.text, begins)
  return create({ kind: 'create', path: step.path, content, replace: true }, later.slice(read.length))
}

/** A file that was never seen is not replaced, so `write` looks at it and writes again; `create` leaves it as it is. */
function create(step: Extract<Step, { kind: 'create' }>, [first, seen, second]: readonly Attempt[]): Move {
  const write = call('create_file', { path: step.path, content: step.content })
  if (!first) return write
  if (first.result?.ok || !step.replace || second) return over
  if (!seen) return call('view_file', { path: step.path })
  return seen.result?.ok ? write : over
}

function append(step: Extract<Step, { kind: 'append' }>, [seen, changed]: readonly Attempt[]): Move {
  const { path, line } = step
  if (changed) return over
  if (!seen) return call('view_file', { path })
  const text = seen.result?.ok ? seen.result.text : ''
  if (text === '' || text === '[the file is empty]') return call('create_file', { path, content: `${line}\n` })
  const old = uniqueEnd(text)
  return call('edit_file', { path, old, new: `${old}${old.endsWith('\n') ? '' : '\n'}${line}\n` })
}

/** The fewest last lines that occur once in the text. */
function uniqueEnd(text: string): string {
  let at = text.length
  do at = at <= 1 ? 0 : text.lastIndexOf('\n', at - 2) + 1
  while (at > 0 && text.indexOf(text.slice(at)) !== at)
  return text.slice(at)
}

/** A last line without a line break gets one first, so that the new line stays a line. */
function appendCommand(path: string, line: string): string {
  const file = quoted(path.startsWith('-') ? `./${path}` : path)
  return `[ -z "$(tail -c 1 ${file} 2>/dev/null)" ] || echo >> ${file}; printf '%s\\n' ${quoted(line)} >> ${file}`
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
