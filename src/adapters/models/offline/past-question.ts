/**
 * Questions about the past: with the tools that read the records offered, the offline model calls the right one and
 * reports its result. Pure.
 */

import { assertNever } from '../../../domain/error.ts'
import type { Json } from '../../../domain/json.ts'
import { languageOf } from '../../../domain/language.ts'
import type { PastTool } from '../../../domain/past-tools.ts'
import { type QuestionKind, readQuestion } from '../../../past/question.ts'
import type { WallClock } from '../../../past/wall-clock.ts'
import type { Attempt } from './next-call.ts'

interface PastCall {
  readonly tool: PastTool
  readonly args: Readonly<Record<string, Json>>
}

type PastAction = ({ readonly kind: 'call' } & PastCall) | { readonly kind: 'report'; readonly text: string }

/** The model has no clock. Only the kind of the question counts: the tool reads the period, from the same words. */
const LATE = Date.UTC(2100, 0, 1)
const UTC: WallClock = { offsetAt: () => 0, firstInstantShowing: (wall) => wall }
const MAX_WORDS = 200

/** What asks, and does not tell to do something. */
const ASKS = new RegExp(
  '[?？]|^\\s*(?:(?:and|so|please|could you|can you) )*(?:what|why|how|who|which|when|did|do|does|is|are|was|were|have' +
    '|has|any|anything|show|tell|give|summari[sz]e|recap|explain)\\b' +
    '|什么|为何|为啥|多少|吗|呢|哪|谁|啥|怎么|汇报|总结|有没有|说说',
  'i',
)
const FILE_NAME = /(?:[\w.-]*\/)*[\w-][\w.-]*\.[a-z]\w{0,7}\b/i
/** Asks when an agent runs. */
const WHEN = /\bwhen|什么时候|几点|何时|啥时候/i
const FAILED = /fail|失败/i
/** The id of a run, as the tools write it. */
const RUN = /(?:run|任务) ([0-9a-f]{8})\b/

/** Contract: undefined if the task is no question about the past. `tried`: the calls since the question. */
export function nextPastAction(
  task: string,
  tried: readonly Attempt[],
  tools: ReadonlySet<string>,
): PastAction | undefined {
  const text = task.trim()
  const kind = tools.has('past_work') && ASKS.test(text) ? readQuestion(text, LATE, UTC).kind : undefined
  if (kind === undefined) return undefined
  const [first] = tried
  if (!first) return { kind: 'call', ...firstCall(kind, text) }
  const isList = kind === 'why' && tried.length === 1 && first.result?.ok === true
  const run = isList ? RUN.exec(first.result?.text ?? '')?.[1] : undefined
  if (run !== undefined) return { kind: 'call', tool: 'explain_run', args: { run, language: languageOf(text) } }
  return { kind: 'report', text: tried.at(-1)?.result?.text ?? '' }
}

function firstCall(kind: QuestionKind, text: string): PastCall {
  const language = languageOf(text)
  const isTimed = readQuestion(text, LATE, UTC).period.kind !== 'none'
  const when = isTimed ? { when: text.slice(0, MAX_WORDS) } : {}
  const path = FILE_NAME.exec(text)?.[0]
  switch (kind) {
    case 'cost':
      return { tool: 'past_spend', args: { ...when, language } }
    case 'waits':
      return { tool: 'open_matters', args: { language } }
    case 'agents':
    case 'next':
      return { tool: kind === 'agents' || WHEN.test(text) ? 'list_agents' : 'open_matters', args: { language } }
    case 'todos':
      return { tool: 'past_todos', args: { status: FAILED.test(text) ? 'failed' : 'all', language } }
    case 'why':
      return { tool: 'past_work', args: { when: 'ever', text: text.slice(0, MAX_WORDS), limit: 1, language } }
    case 'changed':
      if (path !== undefined) return { tool: 'file_history', args: { path, ...when, language } }
      return { tool: 'past_work', args: { ...when, language } }
    case 'did':
    case 'failed':
      return { tool: 'past_work', args: { ...when, language } }
    default:
      return assertNever(kind)
  }
}
