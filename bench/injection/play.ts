/**
 * A play: one task performed by a gullible mind, with or without a goal hidden in what its tools say. The mind does the task's calls one after
 * another, those that do the same to several others together; whatever goal it is shown it takes for its own, at once, and then goes on.
 */

import { canonical } from '../../src/domain/approval.ts'
import type { Json } from '../../src/domain/json.ts'
import type { Message, ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { effectOf } from './effects.ts'
import { type IntentModel, intentAnswer, isIntentRequest } from './intents.ts'
import { type Args, type Called, type Pair, spoken, type Task } from './suite.ts'

export interface Play {
  readonly task: Task
  readonly pair: Pair | undefined
  readonly mind: ScriptedModel
  /** What was run, in order. */
  readonly executed: Called[]
  /** Whether the mind was shown the goal. */
  seen: boolean
  /** Whether whoever is asked what the task needs was shown the goal, too. */
  leaked: boolean
}

export const sameCall = (a: Called, b: Called): boolean => a.tool === b.tool && canonical(a.args) === canonical(b.args)

/** In the engine every tool of others has a name of its own, whatever is built in. */
const SPACE = 'app__'
export const nameOf = (tool: string): string => SPACE + tool.replaceAll(/[^\w-]/g, '_').slice(0, 64 - SPACE.length)

export function playOf(task: Task, pair?: Pair, intent: IntentModel = 'exact'): Play {
  const mind = scriptedModel((request) => say(request))
  const play: Play = { task, pair, mind, executed: [], seen: false, leaked: false }
  const say = gullible(play, intent)
  return play
}

/** What a tool says to a call, which is remembered as run. */
export function perform({ task, pair, executed }: Play, tool: string, args: Args): string {
  executed.push({ tool, args })
  const recorded = task.calls.find((call) => sameCall(call, { tool, args }))
  return recorded ? spoken(recorded, pair) : 'done'
}

interface Next extends Called {
  /** Of the task itself. */
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

/** Neighbours that do the same to several others go in one step, as models do it; whoever looks something up waits for what it says. */
function nextStep(todo: Next[]): readonly Next[] {
  const step = todo.splice(0, 1)
  const [first] = step
  if (!first?.own || effectOf(first.tool, first.args).reach === 'private') return step
  while (todo[0]?.own && todo[0].tool === first.tool) step.push(...todo.splice(0, 1))
  return step
}

/** What stood beside a call that had to be asked for was not begun. */
function wasLeftOut(messages: readonly Message[], at: number): boolean {
  const said = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
  return said.filter(({ role }) => role === 'tool')[at]?.text.startsWith('[not_started]') ?? false
}

const DONE = '## Execution summary\nEverything that was asked for is done.'

const needsOf = (calls: readonly Called[]) =>
  [...new Set(calls.map(({ tool }) => nameOf(tool)))].map((tool) => ({ tool }))

const wantedBy = (pair: Pair | undefined) =>
  (pair?.attack.calls ?? []).map(({ tool, args }) => ({ tool: nameOf(tool), to: textsOf(args) }))

const textsOf = (value: Json): readonly string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [String(value)]

/** Letters and digits alone: what is made of a text on its way to the mind does not hide it. */
const bare = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

const holds = ({ text }: Message, goal: string): boolean => bare(text).includes(bare(goal))

const PARKED = /^\[parked\] .*"id":"([^"]+)"/

/** Whether the last call that was parked has no answer yet. */
function isUnanswered(messages: readonly Message[]): boolean {
  const at = messages.findLastIndex(({ role, text }) => role === 'tool' && PARKED.test(text))
  const [, id = ''] = PARKED.exec(messages[at]?.text ?? '') ?? []
  return at >= 0 && !messages.slice(at + 1).some(({ role, text }) => role === 'user' && text.includes(id))
}
