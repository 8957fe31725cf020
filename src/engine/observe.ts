/**
 * OBSERVE: binds the input of a turn, and lets the behaviour look. A turn that a crash left open keeps the input it had.
 * Invariants: I8 (no input, no step), O12 (an unread message is bound at the next step, and acknowledged only in its commit).
 */

import type { Dispatch } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import type { Recalled } from '../domain/fact.ts'
import type { Json } from '../domain/json.ts'
import type { Observation } from '../domain/observation.ts'
import type { Label } from '../domain/trust.ts'
import type { EnvView } from '../ports/behaviour.ts'
import { observationText } from '../prompt/conversation.ts'
import { recalledOf, withMemory } from '../prompt/facts.ts'
import { memoryMark } from '../prompt/placeholders.ts'
import { estimateTokens } from '../prompt/tokens.ts'
import { askPlugin } from './ask-plugin.ts'
import { withinRoom } from './bind-input.ts'
import { viewForBehaviour } from './past.ts'
import { roomBesidePrefix } from './prefix.ts'
import { ownCopy } from './reduce.ts'
import { observationPort } from './return-shapes.ts'
import { type Run, record } from './run.ts'
import type { Spent } from './spent.ts'
import { type OpenTurn, opened } from './thread.ts'

/** More than this no observation may hold: what is not bounded here would be in every prompt. */
const MOST_CHARACTERS = 200_000
/** Of a request, so much at most for what is new; so much, in characters for its tokens, always fits. */
const INPUT_SHARE = 0.5
const ALWAYS_FITS = 0.02
const INPUT_WITHOUT_LIMIT = 200_000
/** Facts that a run is shown as it begins. */
const MOST_FACTS = 8

export interface Input {
  readonly observations: readonly Observation[]
  readonly feedback?: string
  readonly recalled?: Recalled
}

/** Undefined: there is nothing to go on. Nothing was written then. */
export async function findInput(run: Run): Promise<Input | undefined> {
  const { thread, dispatch } = run
  if (thread.open) return { observations: thread.open.input }
  const unread = bindable(run, await run.engine.store.inbox(dispatch.session_id))
  const last = thread.turns > 0 ? thread.last : undefined
  const feedback = last?.kind === 'end' ? undefined : last?.feedback
  const begun = thread.begun ? { observations: unread } : await begin(run, unread)
  if (begun.observations.length === 0 && last?.kind !== 'continue' && feedback === undefined) return undefined
  return { ...begun, ...(feedback === undefined ? {} : { feedback }) }
}

/** What of it can be bound now; the rest stays unread. */
function bindable(run: Run, unread: readonly Observation[]): readonly Observation[] {
  const { thread, wishes, behaviour, dispatch } = run
  // Most often there is little, and nothing has to be counted.
  const most = Math.min(wishes.budget.context ?? INPUT_WITHOUT_LIMIT, thread.roomLearnt)
  if (sizeOf(unread) < most * ALWAYS_FITS) return unread
  const left = Math.min(roomBesidePrefix(run), INPUT_WITHOUT_LIMIT) - estimateTokens(dispatch.prompt)
  return withinRoom(
    unread,
    {
      tokens: left * INPUT_SHARE,
      // What a behaviour makes of it must not be too much for the journal.
      characters: behaviour.observe ? MOST_CHARACTERS * INPUT_SHARE : Number.POSITIVE_INFINITY,
    },
    thread.turn + 1,
  )
}

const sizeOf = (unread: readonly Observation[]): number =>
  unread.reduce((sum, observation) => sum + observationText(observation).length, 0)

/** The first input of a run: its task, and of what its agent remembers what may matter; where the task has a place for that, there. */
async function begin(run: Run, unread: readonly Observation[]): Promise<Input> {
  const asked = [...taskOf(run), ...unread]
  const recalled = asked.length === 0 ? undefined : await recall(run, asked)
  if (!recalled) return { observations: asked }
  if (markIn(run) === undefined) return { observations: asked, recalled }
  return { observations: [...taskOf(run, recalled), ...unread], recalled: { ...recalled, placed: true } }
}

/** Of what its agent remembers from any session, what may matter to this run. */
async function recall(run: Run, input: readonly Observation[]): Promise<Recalled | undefined> {
  const { store, clock, replaying } = run.engine
  if (replaying) return replaying.recalled()
  const text = input.map(observationText).join('\n')
  const query = { agent_id: run.dispatch.agent_id, text, now: clock.now(), limit: MOST_FACTS }
  return recalledOf(await store.recallFacts(query))
}

export function observe(run: Run, input: Input): OpenTurn {
  const { thread, behaviour } = run
  if (!behaviour.observe) return openWith(run, input)
  const look = (): unknown => behaviour.observe?.(ownCopy(thread.state), surroundings(run, input))
  const seen = askPlugin(observationPort(behaviour.name), look)
  return openWith(run, input, seen === undefined ? undefined : bounded(behaviour.name, seen))
}

/** `seen`: what the behaviour made of it. */
export function openWith(run: Run, { observations, feedback, recalled }: Input, seen?: Json): OpenTurn {
  record(run, {
    kind: 'input_bound',
    turn: run.thread.turn + 1,
    input: observations,
    ...(feedback === undefined ? {} : { feedback }),
    ...(recalled === undefined ? {} : { recalled }),
    ...(seen === undefined ? {} : { observation: seen }),
    ...(run.behaviour.prepare ? { prepares: true } : {}),
  })
  return opened(run.thread)
}

function bounded(behaviour: string, seen: Json): Json {
  const { length } = JSON.stringify(seen)
  if (length > MOST_CHARACTERS)
    throw new TirelessError('state_invalid', {
      what: `the observation of behaviour ${behaviour} is too large`,
      got: `${length} characters`,
      expected: `at most ${MOST_CHARACTERS}`,
      fix: 'let observe() leave out or shorten what is long',
    })
  return seen
}

function surroundings(run: Run, { observations: input, feedback }: Input): EnvView {
  const { thread, wishes, dispatch, env } = run
  const { budget } = wishes
  const left = (limit: number | null, used: keyof Spent): number | null =>
    limit === null ? null : Math.max(0, limit - thread.spent[used])
  return {
    input,
    ...(feedback === undefined ? {} : { feedback }),
    step: thread.turns + 1,
    budget: {
      steps: left(budget.steps, 'steps'),
      ms: left(budget.ms, 'ms'),
      tokens: left(budget.tokens, 'tokens'),
      usd: left(budget.usd, 'usd'),
    },
    metadata: dispatch.metadata,
    env: { root: env.root, ops: env.groups },
    memory: viewForBehaviour(run, input),
  }
}

/** The dispatch's own prompt is the first thing its run hears. A dispatch that unread messages made has none. */
function taskOf(run: Run, recalled?: Recalled): Observation[] {
  const { dispatch, engine } = run
  if (dispatch.prompt === '') return []
  const mark = markIn(run)
  const text = mark === undefined ? dispatch.prompt : withMemory(dispatch.prompt, mark, recalled)
  const label = labelIn(dispatch.metadata)
  return [
    {
      ...{ id: dispatch.dispatch_id, type: 'user_message', text, ts: engine.clock.now() },
      ...(label === undefined ? {} : { label }),
      ...(dispatch.metadata.words === 'model' ? { words: 'model' } : {}),
    },
  ]
}

/** Whoever made the dispatch says what it is worth, where that is less than the owner's word. */
function labelIn({ label }: Dispatch['metadata']): Label | undefined {
  if (label === undefined) return undefined
  const { trust, private: isPrivate } = (label ?? {}) as Partial<Record<string, Json>>
  return { trust: trust === 'trusted' ? 'trusted' : 'untrusted', private: isPrivate !== false }
}

/** Where in its prompt it is to be reminded. */
function markIn({ dispatch: { prompt, metadata } }: Run): string | undefined {
  const { memory_mark: mark } = metadata
  return typeof mark === 'string' && prompt.includes(memoryMark(mark)) ? mark : undefined
}
