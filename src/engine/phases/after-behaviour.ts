/**
 * What follows the end of a behaviour: another behaviour, the same one again, a wait, or the end of the run.
 * Must not know: which behaviours there are. The behaviour itself says what follows it.
 * Invariants: the number of moves is limited, and moving resets no budget.
 */

import { parseBehaviourName } from '../../domain/behaviour-name.ts'
import type { Next } from '../../domain/decision.ts'
import { assertNever, asTirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import type { Wait } from '../../domain/wait.ts'
import type { AfterBehaviour, BehaviourEnd } from '../../ports/behaviour.ts'
import { askPlugin } from '../plugins/ask-plugin.ts'
import { afterBehaviourPort } from '../plugins/return-shapes.ts'
import type { Run } from '../run.ts'
import type { SessionThread } from '../session/session-thread.ts'
import { openResults } from '../session/session-work.ts'
import { copyState } from './reduce.ts'

type End = Extract<Next, { kind: 'end' }>

/** How often a run may change its behaviour, and how often in a row a behaviour may be asked to go on. */
const MAX_MOVES = 60
const MAX_STAYS = 4
/** Default deadline of a wait. */
export const MAX_WAIT_MS = 24 * 3_600_000

/** Contract: depends on the thread and the state alone, so that a replay moves alike. */
export function afterBehaviour(
  { engine, behaviour, thread, dispatch }: Run,
  state: Json,
  ended: Pick<BehaviourEnd, 'why' | 'answer' | 'wanted'>,
): Next {
  if (!behaviour.next) return { kind: 'end', stop_reason: 'final', answer: ended.answer }
  const { todos, stays, moves, entered } = thread.work
  const end: BehaviourEnd = {
    ...ended,
    todos,
    results: openResults(thread),
    asked: thread.userMessages.findLast(({ isOwner }) => isOwner)?.text ?? '',
    stays,
    moves,
    params: entered?.params ?? {},
  }
  const after = askPlugin(afterBehaviourPort(behaviour.name), () => behaviour.next?.(copyState(state), end))
  switch (after.kind) {
    case 'become':
      if (moves >= MAX_MOVES) return TOO_MANY_MOVES
      try {
        const { name, params } = parseBehaviourName(after.behaviour)
        engine.behaviours.get(dispatch.agent_id, name)
        return { ...after, behaviour: name, params: { ...after.params, ...params } }
      } catch (thrown) {
        return stay(asTirelessError(thrown).message, stays)
      }
    case 'stay':
      return stay(after.feedback, stays)
    case 'wait':
      return { kind: 'park', wait: waitForAnything(after.reason, thread) }
    case 'end':
      return endOfChain(after)
    default:
      return assertNever(after)
  }
}

const stay = (feedback: string, stays: number): Next =>
  stays >= MAX_STAYS
    ? { kind: 'end', stop_reason: 'stagnation', error: feedback }
    : { kind: 'continue', feedback, stay: true }

const TOO_MANY_MOVES: End = {
  kind: 'end',
  stop_reason: 'stagnation',
  error: `the run changed its behaviour ${MAX_MOVES} times without coming to an end`,
}

const endOfChain = ({ answer, error }: Extract<AfterBehaviour, { kind: 'end' }>): End =>
  error === undefined
    ? { kind: 'end', stop_reason: 'final', answer }
    : { kind: 'end', stop_reason: 'critic_stop', failure_class: 'invalid_result', error, answer }

const waitForAnything = (reason: string, { open }: SessionThread): Wait => ({
  ...{ kind: 'observation', match: 'any', reason },
  until: (open?.answeredAt ?? 0) + MAX_WAIT_MS,
})
