/** Chooses the next tool call of a step from the results of its earlier calls. Pure. */

import { assertNever } from '../../../domain/error.ts'
import type { Json } from '../../../domain/json.ts'
import type { OfflineStep, ReportStep } from './offline-step.ts'
import { buildIndex, buildReport, parseFileNames } from './report-content.ts'

export interface ToolResult {
  readonly ok: boolean
  readonly text: string
}

export interface Attempt {
  readonly tool: string
  readonly args: Readonly<Record<string, Json>>
  /** Undefined until the conversation contains the result. */
  result?: ToolResult
}

export type StepAction =
  | { readonly kind: 'call'; readonly tool: string; readonly args: Readonly<Record<string, Json>> }
  | { readonly kind: 'over' }
  | { readonly kind: 'unable'; readonly tool: string }
  | { readonly kind: 'not_understood' }

export function nextStepAction(step: OfflineStep, tried: readonly Attempt[], tools: ReadonlySet<string>): StepAction {
  const move = nextAction(step, tried, tools)
  return move.kind === 'call' && !tools.has(move.tool) ? { kind: 'unable', tool: move.tool } : move
}

const finished: StepAction = { kind: 'over' }
const call = (tool: string, args: Readonly<Record<string, Json>>): StepAction => ({ kind: 'call', tool, args })

function nextAction(step: OfflineStep, tried: readonly Attempt[], tools: ReadonlySet<string>): StepAction {
  const callOnce = (tool: string, args: Readonly<Record<string, Json>>) =>
    tried.length === 0 ? call(tool, args) : finished
  switch (step.kind) {
    case 'create':
      return create(step, tried)
    case 'append':
      return tools.has('bash')
        ? callOnce('bash', { command: appendCommand(step.path, step.line) })
        : append(step, tried)
    case 'view':
      return callOnce('view_file', { path: step.path })
    case 'list':
      return callOnce('list_files', { path: step.path })
    case 'run':
      return callOnce('bash', { command: step.command })
    case 'wait':
      return callOnce('wait', { for: step.for, ...(step.until === undefined ? {} : { until: step.until }) })
    case 'report':
      return report(step, tried, tools)
    case 'index':
      return index(step, tried, tools)
    case 'tool':
      return callOnce(step.tool, step.args)
    case 'unknown':
      return { kind: 'not_understood' }
    default:
      return assertNever(step)
  }
}

/** Creates a report, or appends to an existing one instead of replacing it. */
function report(step: ReportStep, tried: readonly Attempt[], tools: ReadonlySet<string>): StepAction {
  const listingCalls = tools.has('list_files') ? 1 : 0
  const [listed] = tried
  if (listingCalls === 1 && !listed) return call('list_files', LISTING)
  const [created, ...later] = tried.slice(listingCalls)
  const content = buildReport(step, listingCalls === 1 ? listed?.result : undefined)
  if (!created) return call('create_file', { path: step.path, content })
  return created.result?.ok
    ? finished
    : append({ kind: 'append', path: step.path, line: `\n${content.trimEnd()}` }, later)
}

/** Most files whose first line an index shows. */
const MAX_FILES = 12
const LISTING = { path: '.', depth: 3 }
const FIRST_LINES = { from: 1, to: 3 }

/** Creates an index, or replaces an existing one. */
function index(step: ReportStep, [listed, ...later]: readonly Attempt[], tools: ReadonlySet<string>): StepAction {
  if (!listed) return call('list_files', LISTING)
  if (!listed.result?.ok) return finished
  const names = parseFileNames(listed.result.text).filter((name) => name !== step.path)
  const readNames = tools.has('view_file') ? names.slice(0, MAX_FILES) : []
  const next = readNames[later.length]
  if (next !== undefined) return call('view_file', { path: next, ...FIRST_LINES })
  const firstLines = new Map(readNames.map((name, position) => [name, later[position]?.result] as const))
  const content = buildIndex(step, listed.result.text, firstLines)
  return create({ kind: 'create', path: step.path, content, replace: true }, later.slice(readNames.length))
}

/**
 * The tool refuses to replace a file that was not viewed. If the step may replace the file, it views the file and tries
 * again; otherwise it gives up.
 */
function create(
  step: Extract<OfflineStep, { kind: 'create' }>,
  [first, viewed, second]: readonly Attempt[],
): StepAction {
  const write = call('create_file', { path: step.path, content: step.content })
  if (!first) return write
  if (first.result?.ok || !step.replace || second) return finished
  if (!viewed) return call('view_file', { path: step.path })
  return viewed.result?.ok ? write : finished
}

function append(step: Extract<OfflineStep, { kind: 'append' }>, [viewed, changed]: readonly Attempt[]): StepAction {
  const { path, line } = step
  if (changed) return finished
  if (!viewed) return call('view_file', { path })
  const text = viewed.result?.ok ? viewed.result.text : ''
  if (text === '' || text === '[the file is empty]') return call('create_file', { path, content: `${line}\n` })
  const old = uniqueEnd(text)
  return call('edit_file', { path, old, new: `${old}${old.endsWith('\n') ? '' : '\n'}${line}\n` })
}

/** The fewest last lines of the text that occur only once in it. */
function uniqueEnd(text: string): string {
  let start = text.length
  do start = start <= 1 ? 0 : text.lastIndexOf('\n', start - 2) + 1
  while (start > 0 && text.indexOf(text.slice(start)) !== start)
  return text.slice(start)
}

/** A shell command that appends a line. If the file's last line is incomplete, it is ended first. */
function appendCommand(path: string, line: string): string {
  const file = shellQuote(path.startsWith('-') ? `./${path}` : path)
  return `[ -z "$(tail -c 1 ${file} 2>/dev/null)" ] || echo >> ${file}; printf '%s\\n' ${shellQuote(line)} >> ${file}`
}

const shellQuote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
