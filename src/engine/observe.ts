/**
 * OBSERVE: binds the input of a turn, and lets the behaviour look. A turn that a crash left open keeps the input it had.
 * Invariants: I8 (no input, no step), O12 (an unread message is bound at the next step, and acknowledged only in its commit).
 */

import { TirelessError } from '../domain/error.ts'
import type { Recalled } from '../domain/fact.ts'
import type { Json } from '../domain/json.ts'
import type { Observation } from '../domain/observation.ts'
import type { EnvView } from '../ports/behaviour.ts'
import { observationText } from '../prompt/conversation.ts'
import { recalledOf } from '../prompt/facts.ts'
import { viewOf } from './past.ts'
import { ownCopy } from './reduce.ts'
import { type Run, record } from './run.ts'
import { type OpenTurn, opened, type Spent } from './thread.ts'

/** More than this no observation may hold: what is not bounded here would be in every prompt. */
const MOST_CHARACTERS = 200_000
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
  const first = !thread.begun
  const unread = await run.engine.store.inbox(dispatch.session_id)
  const observations = first ? [...taskOf(run), ...unread] : unread
  const last = thread.turns > 0 && thread.last?.kind === 'continue' ? thread.last : undefined
  if (observations.length === 0 && !last) return undefined
  const recalled = first ? await recall(run, observations) : undefined
  return {
    observations,
    ...(last?.feedback === undefined ? {} : { feedback: last.feedback }),
    ...(recalled === undefined ? {} : { recalled }),
  }
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
  const seen = behaviour.observe?.(ownCopy(thread.state), surroundings(run, input))
  return openWith(run, input, seen === undefined ? undefined : bounded(seen))
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

/** Plain data, as it will be read from the journal, and not too much of it. */
function bounded(seen: Json): Json {
  const text = JSON.stringify(seen)
  if (text === undefined) throw new TirelessError('state_invalid', 'the observation is not plain data')
  if (text.length > MOST_CHARACTERS)
    throw new TirelessError('state_invalid', {
      what: 'an observation is too large',
      got: `${text.length} characters`,
      expected: `at most ${MOST_CHARACTERS}`,
      fix: 'let observe() leave out or shorten what is long',
    })
  return JSON.parse(text) as Json
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
    memory: viewOf(run, input),
  }
}

/** The dispatch's own prompt is the first thing its run hears. A dispatch that unread messages made has none. */
function taskOf({ dispatch, engine }: Run): Observation[] {
  if (dispatch.prompt === '') return []
  return [{ id: dispatch.dispatch_id, type: 'user_message', text: dispatch.prompt, ts: engine.clock.now() }]
}
