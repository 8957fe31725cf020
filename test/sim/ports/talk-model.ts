/** The model of the assistant: it routes, plans, works, checks and adjusts, right or wrong as the seed says. */

import type { ModelAnswer, RequestedCall } from '../../../src/domain/journal-record.ts'
import { openBeforeBench, type Todo } from '../../../src/domain/todo.ts'
import type { SessionState } from '../invariants/session.ts'
import { integerBelow, oneOf } from '../random.ts'
import type { World } from '../world.ts'
import { ASSISTANT } from './talk.ts'
import { lineOf, RESULT_FILE } from './workspace.ts'

/** What a call needs besides its tool and arguments: its place in the answer and the keys of the draw. */
export type MakeCall = (tool: string, args: object, i: number) => RequestedCall

interface Situation {
  readonly world: World
  readonly session: SessionState
  readonly todos: readonly Todo[]
  /** Contract: a number from 0 to 1 that depends on the request and the name. */
  draw(name: string): number
}

type Wish = readonly [tool: string, args: object]

/** From this turn on the work is brought to an end. */
const LAST_TURN = 60
/** A model asked this often in one behaviour does what ends it. */
const PATIENCE = 5
const USAGE = { input_tokens: 1, output_tokens: 1, cached_tokens: 0 }

export function drawTalkReply(
  world: World,
  session: SessionState,
  keys: readonly (string | number)[],
  call: MakeCall,
): ModelAnswer {
  const draw = (name: string): number => world.chance('talk', name, ...keys)
  const situation = { world, session, todos: world.todos.of(session.session_id), draw }
  const calls = wishesOf(situation).map(([tool, args], i) => call(tool, args, i))
  return { text: '', calls, finish: 'calls', usage: USAGE }
}

function wishesOf(situation: Situation): readonly Wish[] {
  switch (situation.session.behaviour) {
    case 'resolve_router':
      return front(situation)
    case 'router':
      return [finish(situation, situation.draw('work') < 0.4 && !isLate(situation) ? 'plan' : 'end')]
    case 'plan':
      return plan(situation)
    case 'do':
      return work(situation)
    case 'check':
      return check(situation)
    default:
      return adjust(situation)
  }
}

const isLate = ({ session }: Situation): boolean => session.turns >= LAST_TURN

const finish = ({ session }: Situation, next?: string): Wish => [
  'finish',
  { answer: `the answer of ${session.behaviour}`, ...(next === undefined ? {} : { next }) },
]

/** Exactly one of an existing session, a new one, an answer at once; sometimes wrong at first. */
function front(situation: Situation): readonly Wish[] {
  const { world, session, draw } = situation
  const kind = session.answers >= PATIENCE ? 1 : draw('route')
  if (kind < 0.06) return [['route', { session: 'assistant-nobody' }]]
  if (kind < 0.12) return [['route', { none: true, new: true, reply: 'both' }]]
  const others = [...world.mirror.byId.keys()].filter((id) => id.startsWith(`${ASSISTANT}-`))
  const known = others[integerBelow(world.plan.seed, Math.max(1, others.length), 'other', session.turns)]
  const passOn: Wish = known === undefined ? ['route', { new: 'a topic' }] : ['route', { session: known }]
  const answer: Wish = ['route', { none: true, reply: 'answered at once' }]
  // Several at once: only the first one counts.
  if (kind < 0.16) return [passOn, answer]
  if (kind < 0.2) return [answer, ['route', { new: true }]]
  if (kind < 0.45) return [passOn]
  if (kind < 0.75) return [['route', { new: true, ...(draw('quick') < 0.5 ? { reply: 'I am on it' } : {}) }]]
  return kind < 0.9 ? [answer] : [finish(situation)]
}

function plan(situation: Situation): readonly Wish[] {
  const { session, todos, draw } = situation
  if (isLate(situation) || todos.some(({ status }) => status !== 'DONE')) return [finish(situation)]
  const kind = session.answers >= PATIENCE ? 1 : draw('plan')
  if (kind < 0.1) return [['look', { n: 1 }]]
  if (kind < 0.2) return [['wait', { for: 'user_message', until: '10m' }]]
  if (kind > 0.85) return [finish(situation)]
  const wanted = 1 + Math.floor(draw('number') * 2)
  const tasks = Array.from({ length: wanted }, (_, i) => newTodo(situation, i, 'Task'))
  return draw('bench') < 0.3 ? [...tasks, newTodo(situation, wanted, 'Bench')] : tasks
}

/** Most todos have a check. The number in the title is what the work has to write. */
function newTodo({ world, session, draw }: Situation, i: number, type: Todo['type']): Wish {
  const n = integerBelow(world.plan.seed, 1000, 'value', session.session_id, session.turns, i)
  const checks = draw(`unchecked ${i}`) < 0.15 ? [] : [{ kind: 'file', path: RESULT_FILE, contains: lineOf(n).trim() }]
  return ['todo_add', { title: `write ${n}`, type, checks }]
}

const numberIn = ({ title }: Todo): number => Number(/\d+/.exec(title)?.[0] ?? 0)

/** Some work is wrong, and claimed to be done all the same. */
function work(situation: Situation): readonly Wish[] {
  const { session, todos, draw } = situation
  const current = todos.find(({ status }) => status === 'IN_PROGRESS')
  if (!current) return [finish(situation)]
  const done: Wish = ['todo_done', { todo: current.code, reason: 'it is written' }]
  const failed: Wish = ['todo_fail', { todo: current.code, reason: 'it did not work' }]
  if (isLate(situation)) return [failed]
  const benches = todos.filter(({ type, status }) => type === 'Bench' && status !== 'DONE')
  const values = [current, ...benches].map(numberIn)
  const edits = values.map((n): Wish => ['edit', { n: draw('wrong') < 0.35 ? n + 1000 : n }])
  if (session.answers === 0) return edits
  const kind = session.answers >= PATIENCE ? 0.5 : draw('work')
  if (kind < 0.15) return edits
  if (kind < 0.4)
    return [[oneOf(situation.world.plan.seed, ['shell', 'post', 'put', 'look'], 'aid', session.turns), { n: 1 }]]
  if (kind < 0.8) return [done]
  if (kind < 0.9) return [failed]
  return kind < 0.95 ? [finish(situation)] : [['wait', { for: 'anything', until: '30s' }]]
}

/** Passes most of what is complete, without looking at it. */
function check(situation: Situation): readonly Wish[] {
  const { session, todos, draw } = situation
  const benchIsDue = openBeforeBench(todos).length === 0
  const undecided = todos.filter(
    ({ type, status }) => status === 'COMPLETE' || (type === 'Bench' && benchIsDue && status === 'WAIT'),
  )
  if (undecided.length === 0 || (session.answers < 2 && draw('early') < 0.1)) return [finish(situation)]
  const isRejected = session.answers >= PATIENCE || draw('reject') < 0.1
  return undecided.map(({ code }) =>
    isRejected ? ['todo_reject', { todo: code, reason: 'it is wrong' }] : ['todo_pass', { todo: code }],
  )
}

function adjust(situation: Situation): readonly Wish[] {
  const { session, todos, draw } = situation
  const failed = todos.find(({ status }) => status === 'FAILED' || status === 'CHECK_FAILED')
  if (isLate(situation)) return [finish(situation, 'end')]
  if (session.answers === 0 && failed) return [['todo_note', { todo: failed.code, reason: 'write the right value' }]]
  return [finish(situation, draw('give up') < 0.15 ? 'end' : undefined)]
}
