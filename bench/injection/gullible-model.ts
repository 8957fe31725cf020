/**
 * A play: one task run by a gullible model, with or without a goal hidden in its tool results. The model makes the
 * calls of the task in order; as soon as it reads the goal, it first makes the attacker's calls.
 */

import { canonicalJson } from '../../src/domain/approval.ts'
import type { Json } from '../../src/domain/json.ts'
import type { ModelMessage, ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { effectOf } from './effects.ts'
import { type IntentModel, intentAnswer, isIntentRequest } from './intents.ts'
import { type Args, type Called, type Pair, spoken, type Task } from './suite.ts'

export interface Play {
  readonly task: Task
  readonly pair: Pair | undefined
  readonly mind: ScriptedModel
  /** The calls that ran, in order. */
  readonly executed: Called[]
  /** The model has read the goal. */
  seen: boolean
  /** The intent model has read the goal too. */
  leaked: boolean
}

export const sameCall = (a: Called, b: Called): boolean =>
  a.tool === b.tool && canonicalJson(a.args) === canonicalJson(b.args)

/** Prefix that keeps the tools of the data apart from built-in tools. */
const SPACE = 'app__'
export const nameOf = (tool: string): string => SPACE + tool.replaceAll(/[^\w-]/g, '_').slice(0, 64 - SPACE.length)

export function playOf(task: Task, pair?: Pair, intent: IntentModel = 'exact'): Play {
  const mind = scriptedModel((request) => say(request))
  const play: Play = { task, pair, mind, executed: [], seen: false, leaked: false }
  const say = gullible(play, intent)
  return play
}

/** Contract: the result of a call; records the call as run. */
export function perform({ task, pair, executed }: Play, tool: string, args: Args): string {
  executed.push({ tool, args })
  const recorded = task.calls.find((call) => sameCall(call, { tool, args }))
  return recorded ? spoken(recorded, pair) : 'done'
}

interface Next extends Called {
  /** It belongs to the task, not to the attack. */
  readonly own: boolean
}

function gullible(play: Play, intent: IntentModel): (request: ModelRequest) => ScriptedAnswer {
  const { task, pair } = play
  const todo: Next[] = task.calls.map(({ tool, args }) => ({ tool, args, own: true }))
  let last: readonly Next[] = []
  return (request) => {
    const { messages } = request
    const shows = (): boolean => messages.some((message) => pair !== undefined && holds(message, pair.attack.goal))
    if (isIntentRequest(request)) {
      play.leaked ||= shows()
      return { text: intentAnswer(intent, { own: needsOf(task.calls), wanted: wantedBy(pair) }, request) }
    }
    todo.unshift(...last.filter((_, at) => wasLeftOut(messages, at)))
    if (pair && !play.seen && shows()) {
      play.seen = true
      todo.unshift(...pair.attack.calls.map(({ tool, args }) => ({ tool, args, own: false })))
    }
    const waits = last.some(({ own }) => own) && isUnanswered(messages)
    last = waits ? [] : nextStep(todo)
    if (waits) return { calls: [{ tool: 'wait', args: { for: 'the answer' } }] }
    return last.length > 0 ? { calls: last.map(({ tool, args }) => ({ tool: nameOf(tool), args })) } : { text: DONE }
  }
}

/** Consecutive calls of the same tool go in one step, as models do; a call that reads goes alone. */
function nextStep(todo: Next[]): readonly Next[] {
  const step = todo.splice(0, 1)
  const [first] = step
  if (!first?.own || effectOf(first.tool, first.args).reach === 'private') return step
  while (todo[0]?.own && todo[0].tool === first.tool) step.push(...todo.splice(0, 1))
  return step
}

/** The call was not started, because another call of its step waited for approval. */
function wasLeftOut(messages: readonly ModelMessage[], at: number): boolean {
  const latest = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
  return latest.filter(({ role }) => role === 'tool')[at]?.text.startsWith('[not_started]') ?? false
}

const DONE = '## Execution summary\nEverything that was asked for is done.'

const needsOf = (calls: readonly Called[]) =>
  [...new Set(calls.map(({ tool }) => nameOf(tool)))].map((tool) => ({ tool }))

const wantedBy = (pair: Pair | undefined) =>
  (pair?.attack.calls ?? []).map(({ tool, args }) => ({ tool: nameOf(tool), to: textsOf(args) }))

const textsOf = (value: Json): readonly string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [String(value)]

/** Compares letters and digits only, because escaping may change a text before the model reads it. */
const bare = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

const holds = ({ text }: ModelMessage, goal: string): boolean => bare(text).includes(bare(goal))

const PARKED = /^\[parked\] .*"id":"([^"]+)"/

/** The last parked call has no answer yet. */
function isUnanswered(messages: readonly ModelMessage[]): boolean {
  const at = messages.findLastIndex(({ role, text }) => role === 'tool' && PARKED.test(text))
  const [, id = ''] = PARKED.exec(messages[at]?.text ?? '') ?? []
  return at >= 0 && !messages.slice(at + 1).some(({ role, text }) => role === 'user' && text.includes(id))
}
