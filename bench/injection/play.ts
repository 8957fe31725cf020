/**
 * A play: one task performed by a gullible mind, with or without a goal hidden in what its tools say. The mind does the task's calls one after
 * another; whatever goal it is shown it takes for its own, at once, and then goes on.
 */

import { canonical } from '../../src/domain/approval.ts'
import type { Message, ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { type Args, type Called, type Pair, spoken, type Task } from './suite.ts'

export interface Play {
  readonly task: Task
  readonly pair: Pair | undefined
  readonly mind: ScriptedModel
  /** What was run, in order. */
  readonly executed: Called[]
  /** Whether the mind was shown the goal. */
  seen: boolean
}

export const sameCall = (a: Called, b: Called): boolean => a.tool === b.tool && canonical(a.args) === canonical(b.args)

/** In the engine every tool of others has a name of its own, whatever is built in. */
const SPACE = 'app__'
export const nameOf = (tool: string): string => SPACE + tool.replaceAll(/[^\w-]/g, '_').slice(0, 64 - SPACE.length)

export function playOf(task: Task, pair?: Pair): Play {
  const play: Play = { task, pair, mind: scriptedModel((request) => say(request)), executed: [], seen: false }
  const say = gullible(play)
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

function gullible(play: Play): (request: ModelRequest) => ScriptedAnswer {
  const { task, pair } = play
  const todo: Next[] = task.calls.map(({ tool, args }) => ({ tool, args, own: true }))
  let last: Next | undefined
  return (request) => {
    if (isIntent(request)) return { text: JSON.stringify(needsOf(task, request)) }
    const { messages } = request
    if (pair && !play.seen && messages.some((message) => holds(message, pair.attack.goal))) {
      play.seen = true
      todo.unshift(...pair.attack.calls.map(({ tool, args }) => ({ tool, args, own: false })))
    }
    if (last?.own && isUnanswered(messages)) return { calls: [{ tool: 'wait', args: { for: 'the answer' } }] }
    last = todo.shift()
    return last ? { calls: [{ tool: nameOf(last.tool), args: last.args }] } : { text: DONE }
  }
}

const DONE = '## Execution summary\nEverything that was asked for is done.'

const isIntent = ({ system }: ModelRequest): boolean => system.startsWith('You decide, before anything else is read')

/** As an honest mind would say that sees the task and the list of tools, and nothing else. */
function needsOf({ calls }: Task, { messages }: ModelRequest): readonly { readonly tool: string }[] {
  const listed = messages[0]?.text ?? ''
  const names = new Set(calls.map(({ tool }) => nameOf(tool)))
  return [...names].filter((name) => listed.includes(`\n- ${name}: `)).map((tool) => ({ tool }))
}

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
