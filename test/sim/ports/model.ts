/** The provider: replies drawn from the seed, troubles from the plan. It checks every request that it receives. */

import { hash } from 'node:crypto'
import { TirelessError } from '../../../src/domain/error.ts'
import type { ModelAnswer, RequestedCall } from '../../../src/domain/journal-record.ts'
import { costOf, isFreeOfCharge, type Price } from '../../../src/domain/money.ts'
import { measureConversation, newConversation } from '../../../src/engine/session/message-digest.ts'
import type { Model, ModelRequest } from '../../../src/ports/model.ts'
import { residentOf } from '../invariants/looks.ts'
import { checkSpend } from '../invariants/money.ts'
import type { SessionState, TurnState } from '../invariants/session.ts'
import { type ProviderTrouble, TOOL_NAMES } from '../plan.ts'
import type { SimProcess } from '../process.ts'
import { integerBelow, oneOf } from '../random.ts'
import { hasSubAgents } from '../sub-agent-plan.ts'
import { hasUndo } from '../undo-plan.ts'
import type { World } from '../world.ts'
import { orGarbage } from './garbage.ts'
import { hasGate } from './gate.ts'
import { drawLookReply } from './resident-model.ts'
import { drawDelegation, PART } from './sub-agent-model.ts'
import { ASSISTANT } from './talk.ts'
import { drawTalkReply, type MakeCall } from './talk-model.ts'

/** From this turn on every answer is final, so that each session ends. */
const LAST_TURN = 7
const USAGE = { input_tokens: 1, output_tokens: 1, cached_tokens: 0 }
export const PRICE: Price = { input: 1, output: 2, cached: 0.5, max_output: 500 }
/** Upper limit of billed input tokens. A provider may bill more than the request contains. */
const MAX_INPUT_TOKENS = 2_000
const WAIT_DEADLINES = [undefined, '30s', '10m', '2h', '2026-01-01T06:00:00Z', '2025-06-01T00:00:00Z'] as const

const isMetered = ({ plan }: World): boolean => plan.cap !== undefined || hasSubAgents(plan.seed)

export function simModel(world: World, proc: SimProcess): Model {
  return {
    id: 'sim/model',
    ...(isMetered(world) ? { price: PRICE } : {}),
    async call(request, { signal, onText }) {
      const session = sessionOfRequest(world, proc, request)
      if (proc.superseded) world.counters.add('request of a superseded process')
      else if (session) world.conversations.check(world, proc, session, request)
      const open = session?.open
      const key = `${session?.session_id} ${open?.turn}.${open?.requests}`
      const onAbort = (): never => {
        throw new TirelessError('aborted', 'the request was interrupted')
      }
      const reply = await world.io(proc, 'model', key, () => replyTo(world, session, open), { signal, onAbort })
      onText?.('…')
      return world.io(proc, 'paid', key, () => orGarbage(world, proc, 'model', unwrapReply(reply)), { signal, onAbort })
    },
  }
}

/**
 * Finds the session of a request. Tasks and messages contain the tag of their session; prompts of a kernel contain a
 * mark that is unique to their dispatch; what a behaviour wrote is in the journal.
 */
function sessionOfRequest(world: World, proc: SimProcess, request: ModelRequest): SessionState | undefined {
  const { messages } = request
  const first = messages.find(({ role }) => role === 'user')
  const text = first?.role === 'user' ? first.text : ''
  const written = sessionOfText(world, request) ?? sessionOfPart(world, text)
  if (written) return written
  const [mark] = /<data \w+ /.exec(text) ?? []
  const [tag] = /\bt\d+\b/.exec(text) ?? []
  const marked = mark === undefined ? undefined : world.sessionWithMark(mark)
  // After a cut, the summary of earlier turns contains a mark as well: an unknown mark falls back to the tag.
  const session = marked ?? (tag === undefined ? undefined : world.sessionOfTask(tag))
  // A superseded process may send a request for a session that was deleted.
  if (!session && !proc.superseded)
    world.fail('conversation', `request of an unknown session: ${JSON.stringify(messages[0])}`)
  return session
}

/** The session of the sub-agent whose task this is. Only in the first line: others quote it. */
function sessionOfPart(world: World, text: string): SessionState | undefined {
  const [part] = PART.exec(text.split('\n', 1)[0] ?? '') ?? []
  return part === undefined ? undefined : world.sessionWithMark(part)
}

/** The session whose behaviour wrote the last message for its open request. */
function sessionOfText({ mirror }: World, { system, tools, messages }: ModelRequest): SessionState | undefined {
  const last = messages.at(-1)
  const text = last?.role === 'user' ? last.text : ''
  const asking = [...mirror.sessions.values()].filter(({ open }) => {
    const { prepared = '', awaitsAnswer = false } = open ?? {}
    return awaitsAnswer && prepared !== '' && text.includes(prepared)
  })
  if (asking.length === 0) return undefined
  // The first request of a turn is recorded without its last message.
  const prefix = hash('sha256', JSON.stringify([system, tools]))
  const digests = [messages.slice(0, -1), messages].map((sent) =>
    hash('sha256', prefix + measureConversation(newConversation(sent)).digest),
  )
  const likely = asking.filter(({ open }) => digests.includes(open?.digest ?? ''))
  return likely.toSorted((a, b) => (b.open?.prepared?.length ?? 0) - (a.open?.prepared?.length ?? 0))[0]
}

/** Sessions of the assistant: those in front of chats, and those that they start. */
const isAssistant = ({ session_id }: SessionState): boolean =>
  session_id.startsWith('chat-') || session_id.startsWith(`${ASSISTANT}-`)

type Reply = ModelAnswer | TirelessError

function replyTo(world: World, session: SessionState | undefined, open: TurnState | undefined): Reply {
  world.truth.paid += 1
  const turn = open?.turn ?? 0
  const keys = [session?.session_id ?? '', turn, open?.requests ?? 0]
  const trouble = world.faults.nextFor('provider')?.trouble
  const plans = session?.session_id.startsWith('kernel-planner-') ?? false
  const reply = trouble
    ? troubledReply(world, trouble, keys)
    : plans
      ? drawPlannerReply(world, keys)
      : session && isAssistant(session)
        ? drawTalkReply(world, session, keys, (tool, args, i) => requestedCall(world, tool, args, i, keys))
        : drawOwnReply(world, session, turn, keys)
  return isMetered(world) ? chargeFor(world, session, reply, keys) : reply
}

/**
 * Charges the reply, even if its process has died. A refused request is free; an interrupted one costs its tokens so
 * far.
 */
function chargeFor(
  world: World,
  session: SessionState | undefined,
  reply: Reply,
  keys: readonly (string | number)[],
): Reply {
  const tokens = (most: number, what: string): number => integerBelow(world.plan.seed, most + 1, what, ...keys)
  const input_tokens = tokens(MAX_INPUT_TOKENS, 'input')
  const usage = {
    input_tokens,
    output_tokens: tokens(PRICE.max_output, 'output'),
    cached_tokens: Math.min(input_tokens, tokens(MAX_INPUT_TOKENS, 'cached')),
  }
  const charge = reply instanceof TirelessError && isFreeOfCharge(reply.code) ? 0 : costOf(PRICE, usage)
  world.truth.charged += charge
  checkSpend(world)
  world.subAgents.onCharge(session?.run, charge)
  return reply instanceof TirelessError ? reply : { ...reply, usage }
}

function unwrapReply(reply: Reply): ModelAnswer {
  if (reply instanceof TirelessError) throw reply
  return reply
}

/** A run may hand work on, if it has sub-agents. */
function drawOwnReply(
  world: World,
  session: SessionState | undefined,
  turn: number,
  keys: readonly (string | number)[],
): ModelAnswer {
  const call: MakeCall = (tool, args, i) => requestedCall(world, tool, args, i, keys)
  if (session && residentOf(session) !== undefined)
    return drawLookReply(world, session, keys, call) ?? answerWith([toolCall(world, 0, keys)])
  if (!session || !hasSubAgents(world.plan.seed)) return drawReply(world, turn, keys)
  const calls = drawDelegation(world, session, keys, call)
  return calls ? answerWith(calls) : drawReply(world, turn, keys)
}

function drawReply(world: World, turn: number, keys: readonly (string | number)[]): ModelAnswer {
  const { seed } = world.plan
  const kind = turn >= LAST_TURN ? 1 : world.chance('mood', ...keys)
  if (kind < 0.55) {
    const n = 1 + Math.floor(world.chance('calls', ...keys) ** 2 * 3)
    return answerWith(Array.from({ length: n }, (_, i) => toolCall(world, i, keys)))
  }
  if (kind < 0.72) {
    const until = oneOf(seed, WAIT_DEADLINES, 'until', ...keys)
    const what = oneOf(seed, ['user_message', 'anything at all', 'event:deploy'], 'for', ...keys)
    return answerWith([requestedCall(world, 'wait', { for: what, ...(until === undefined ? {} : { until }) }, 0, keys)])
  }
  if (kind < 0.85) return answerWith([requestedCall(world, 'finish', { answer: `done in ${turn}` }, 0, keys)])
  return { text: `it is done in turn ${turn}`, calls: [], finish: 'stop', usage: USAGE }
}

/** All agents, some, none, an unknown one, or prose instead of a list. */
function drawPlannerReply(world: World, keys: readonly (string | number)[]): ModelAnswer {
  world.counters.add('planner called')
  const names = [...(world.plan.kernel?.agents.map(({ agent_id }) => agent_id) ?? []), 'stranger']
  const chosen = names.filter((name) => world.chance('chosen', name, ...keys) < 0.5)
  const answersProse = world.chance('babbles', ...keys) < 0.15
  if (answersProse) world.counters.add('planner answered without a list')
  const list = JSON.stringify(chosen.map((agent_id) => ({ agent_id, reason: 'by the seed' })))
  return { text: answersProse ? 'all of them' : list, calls: [], finish: 'stop', usage: USAGE }
}

function troubledReply(world: World, trouble: ProviderTrouble, keys: readonly (string | number)[]): Reply {
  const error = (code: Extract<ProviderTrouble, `model_${string}`>, retryAfterMs?: number): TirelessError =>
    new TirelessError(code, 'the provider is in trouble', { retryAfterMs })
  const firstCall = toolCall(world, 0, keys)
  switch (trouble) {
    case 'model_limited':
      return error(trouble, integerBelow(world.plan.seed, 120_000, 'after', ...keys))
    case 'model_unavailable':
    case 'model_cut':
    case 'model_empty':
    case 'model_auth':
      return error(trouble)
    case 'unknown_tool':
      return answerWith([firstCall, requestedCall(world, 'teleport', {}, 1, keys)])
    case 'bad_args':
      return answerWith([requestedCall(world, 'post', { m: 'no' }, 0, keys), toolCall(world, 1, keys)])
    case 'not_json':
      return answerWith([{ ...firstCall, args: '{"n": ' }])
    case 'duplicate_ids':
      return answerWith([
        firstCall,
        { ...toolCall(world, 1, keys), id: firstCall.id },
        { ...toolCall(world, 2, keys), id: `${firstCall.id}_1` },
      ])
    case 'length':
      return { ...answerWith([firstCall]), text: 'and so', finish: 'length' }
    case 'calls_and_finish':
      return answerWith([firstCall, requestedCall(world, 'finish', { answer: 'done' }, 1, keys)])
  }
}

const answerWith = (calls: readonly RequestedCall[]): ModelAnswer => ({
  text: '',
  calls,
  finish: 'calls',
  usage: USAGE,
})

function toolCall(world: World, i: number, keys: readonly (string | number)[]): RequestedCall {
  const isWriter = hasUndo(world.plan.seed) && world.chance('writes', i, ...keys) < 0.6
  const tool = isWriter ? 'edit' : oneOf(world.plan.seed, TOOL_NAMES, 'tool', i, ...keys)
  // With a gate, few different arguments: the same call is requested more than once.
  const most = hasGate(world) ? 2 : 100
  return requestedCall(world, tool, { n: integerBelow(world.plan.seed, most, 'n', i, ...keys) }, i, keys)
}

/** Some providers number the calls of each answer from 0, and some give no ids. */
function requestedCall(
  world: World,
  tool: string,
  args: object,
  i: number,
  keys: readonly (string | number)[],
): RequestedCall {
  const style = world.chance('ids')
  const id = style < 0.6 ? `c${keys[1]}-${keys[2]}-${i}` : style < 0.8 ? `call_${i}` : ''
  return { id, tool, args: JSON.stringify(args) }
}
