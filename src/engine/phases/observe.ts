/**
 * OBSERVE: binds the input of a turn and calls the behaviour's observe(). A turn left open by a crash keeps its input.
 * Invariants: I8 (no input, no step), O12 (an unread message is bound at the next step, and acknowledged only in that
 * step's commit).
 */

import type { Dispatch } from '../../domain/dispatch.ts'
import { TirelessError } from '../../domain/error.ts'
import type { RecalledFacts } from '../../domain/fact.ts'
import type { RememberedView } from '../../domain/journal-record.ts'
import type { Json } from '../../domain/json.ts'
import type { Label } from '../../domain/label.ts'
import type { Observation } from '../../domain/observation.ts'
import type { EnvView } from '../../ports/behaviour.ts'
import { memoryMark } from '../../prompt-compiler/placeholders.ts'
import { insertFacts, selectFacts } from '../../prompt-compiler/recalled-facts.ts'
import { estimateTokens } from '../../prompt-compiler/tokens.ts'
import { observationText } from '../../prompt-compiler/turn-messages.ts'
import { askPlugin } from '../plugins/ask-plugin.ts'
import { observationPort } from '../plugins/return-shapes.ts'
import { roomForConversation } from '../request/prompt-prefix.ts'
import { appendRecord, type Run } from '../run.ts'
import { selectFittingInput } from '../session/bind-input.ts'
import { rememberView, viewForBehaviour } from '../session/memory-view.ts'
import { type OpenTurn, requireOpenTurn } from '../session/session-thread.ts'
import { sessionViewOf } from '../session/session-work.ts'
import { withUnfinished } from '../session/unfinished-input.ts'
import { committedUsd, type RunUsage } from '../session/usage.ts'
import { copyState } from './reduce.ts'

/**
 * Maximum size of a behaviour's observation, in characters of JSON. A larger observation would make every prompt too
 * long.
 */
const MAX_CHARACTERS = 200_000
/** The share of a request's tokens that new input may use. */
const INPUT_SHARE = 0.5
/** Input with fewer characters than this share of the token limit fits without a token count. */
const ALWAYS_FITS_SHARE = 0.02
const DEFAULT_INPUT_TOKENS = 200_000
/** Maximum number of facts that a run is shown at its start. */
const MAX_FACTS_SHOWN = 8

export interface TurnInput {
  readonly observations: readonly Observation[]
  readonly feedback?: string
  readonly recalled?: RecalledFacts
}

/** Contract: undefined if there is no input; then nothing was written. */
export async function findInput(run: Run): Promise<TurnInput | undefined> {
  const { thread, dispatch } = run
  if (thread.open) return { observations: thread.open.input }
  const inbox = await run.engine.store.inbox(dispatch.session_id)
  // With a prompt of its own, a retried run has its task again.
  const isRetried = !thread.hasAnsweredInput && dispatch.prompt === ''
  const unread = selectBindable(run, isRetried ? withUnfinished(thread, inbox) : inbox)
  const last = thread.turns > 0 ? thread.last : undefined
  const feedback = last?.kind === 'end' || last?.kind === 'become' ? undefined : last?.feedback
  const bound = thread.hasAnsweredInput ? { observations: unread } : await firstInput(run, unread)
  const goesOn = last?.kind === 'continue' || last?.kind === 'become' || feedback !== undefined
  if (bound.observations.length === 0 && !goesOn) return undefined
  return { ...bound, ...(feedback === undefined ? {} : { feedback }) }
}

/** Selects the messages that fit into this turn; the others stay unread. */
function selectBindable(run: Run, unread: readonly Observation[]): readonly Observation[] {
  const { thread, overrides: wishes, behaviour, dispatch } = run
  // Skip the token count when there is little input, which is the common case.
  const maxTokens = Math.min(wishes.budget.context ?? DEFAULT_INPUT_TOKENS, thread.learntTokenLimit)
  if (sizeOf(unread) < maxTokens * ALWAYS_FITS_SHARE) return unread
  const left = Math.min(roomForConversation(run), DEFAULT_INPUT_TOKENS) - estimateTokens(dispatch.prompt)
  return selectFittingInput(
    unread,
    {
      tokens: left * INPUT_SHARE,
      // What the behaviour makes of the input goes into the journal, so the number of characters is limited too.
      characters: behaviour.observe ? MAX_CHARACTERS * INPUT_SHARE : Number.POSITIVE_INFINITY,
    },
    thread.turn + 1,
  )
}

const sizeOf = (unread: readonly Observation[]): number =>
  unread.reduce((sum, observation) => sum + observationText(observation).length, 0)

/**
 * The first input of a run: its task and recalled facts. The facts replace the task's {MEMORY} mark if there is one.
 */
async function firstInput(run: Run, unread: readonly Observation[]): Promise<TurnInput> {
  const observations = [...taskObservation(run), ...unread]
  const recalled = observations.length === 0 ? undefined : await run.engine.sources.start.recallFacts(run, observations)
  if (!recalled) return { observations }
  if (findMemoryMark(run) === undefined) return { observations, recalled }
  return { observations: [...taskObservation(run, recalled), ...unread], recalled: { ...recalled, placed: true } }
}

/** Facts from any session of the agent that match the input. */
export async function recallFacts(run: Run, input: readonly Observation[]): Promise<RecalledFacts | undefined> {
  const { store, clock } = run.engine
  const text = input.map(observationText).join('\n')
  const query = { agent_id: run.dispatch.agent_id, text, now: clock.now(), limit: MAX_FACTS_SHOWN }
  return selectFacts(await store.recallFacts(query))
}

export async function observe(run: Run, input: TurnInput): Promise<OpenTurn> {
  const { thread, behaviour } = run
  const memory = await rememberView(run, input.observations)
  if (!behaviour.observe) return bindTurn(run, input, { memory })
  const view = await envViewFor(run, input, memory)
  const callObserve = (): unknown => behaviour.observe?.(copyState(thread.state), view)
  const observed = askPlugin(observationPort(behaviour.name), callObserve)
  return bindTurn(run, input, {
    memory,
    observed: observed === undefined ? undefined : checkSize(behaviour.name, observed),
  })
}

interface ObservedTurn {
  readonly memory: RememberedView | undefined
  /** The return value of the behaviour's observe(). */
  readonly observed?: Json | undefined
}

export function bindTurn(
  run: Run,
  { observations, feedback, recalled }: TurnInput,
  { memory, observed }: ObservedTurn = { memory: undefined },
): OpenTurn {
  appendRecord(run, {
    kind: 'input_bound',
    turn: run.thread.turn + 1,
    input: observations,
    ...(feedback === undefined ? {} : { feedback }),
    ...(recalled === undefined ? {} : { recalled }),
    ...(memory === undefined ? {} : { memory }),
    ...(observed === undefined ? {} : { observation: observed }),
    ...(run.behaviour.prepare ? { prepares: true } : {}),
  })
  return requireOpenTurn(run.thread)
}

function checkSize(behaviour: string, observed: Json): Json {
  const { length } = JSON.stringify(observed)
  if (length > MAX_CHARACTERS)
    throw new TirelessError('state_invalid', {
      what: `the observation of behaviour ${behaviour} is too large`,
      got: `${length} characters`,
      expected: `at most ${MAX_CHARACTERS}`,
      fix: 'shorten what observe() returns',
    })
  return observed
}

async function envViewFor(
  run: Run,
  { observations: input, feedback }: TurnInput,
  remembered: RememberedView | undefined,
): Promise<EnvView> {
  const { thread, overrides: wishes, dispatch, env } = run
  const { budget } = wishes
  const used: RunUsage = { ...thread.usage, usd: committedUsd(thread) }
  const left = (limit: number | null, unit: keyof RunUsage): number | null =>
    limit === null ? null : Math.max(0, limit - used[unit])
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
    memory: await viewForBehaviour(run, input, remembered),
    session: sessionViewOf(thread),
  }
}

/** The dispatch's prompt as the first message of its run. A dispatch created for unread messages has no prompt. */
function taskObservation(run: Run, recalled?: RecalledFacts): Observation[] {
  const { dispatch, engine } = run
  if (dispatch.prompt === '') return []
  const mark = findMemoryMark(run)
  const text = mark === undefined ? dispatch.prompt : insertFacts(dispatch.prompt, mark, recalled)
  const label = labelFromMetadata(dispatch.metadata)
  return [
    {
      ...{ id: dispatch.dispatch_id, type: 'user_message', text, ts: engine.clock.now() },
      ...(label === undefined ? {} : { label }),
      ...(dispatch.metadata.words === 'model' ? { words: 'model' } : {}),
    },
  ]
}

/** The label that the creator of the dispatch set, if the prompt is less trusted than the owner's messages. */
function labelFromMetadata({ label }: Dispatch['metadata']): Label | undefined {
  if (label === undefined) return undefined
  const { trust, private: isPrivate } = (label ?? {}) as Partial<Record<string, Json>>
  return { trust: trust === 'trusted' ? 'trusted' : 'untrusted', private: isPrivate !== false }
}

/** The mark in the prompt that recalled facts replace. */
function findMemoryMark({ dispatch: { prompt, metadata } }: Run): string | undefined {
  const { memory_mark: mark } = metadata
  return typeof mark === 'string' && prompt.includes(memoryMark(mark)) ? mark : undefined
}
