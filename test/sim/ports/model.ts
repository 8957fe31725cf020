/** The provider: answers by the seed, troubles by the plan, and a good memory of what it was asked. */

import { TirelessError } from '../../../src/domain/error.ts'
import type { ModelAnswer, RequestedCall } from '../../../src/domain/journal-record.ts'
import { costOf, isFreeOfCharge, type Price } from '../../../src/domain/money.ts'
import type { Model, ModelRequest } from '../../../src/ports/model.ts'
import { checkBooks } from '../invariants/money.ts'
import type { SessionState, TurnState } from '../invariants/session.ts'
import { TOOL_NAMES, type Trouble } from '../plan.ts'
import type { Life } from '../process.ts'
import { oneOf, whole } from '../random.ts'
import type { World } from '../world.ts'
import { orGarbage } from './garbage.ts'
import { isGated } from './gate.ts'

/** From this turn on every answer is a final one: no session goes on for ever. */
const LAST_TURN = 7
const USAGE = { input_tokens: 1, output_tokens: 1, cached_tokens: 0 }
const PRICE: Price = { input: 1, output: 2, cached: 0.5, max_output: 500 }
/** No request has less room than this: a provider adds to what it is sent. */
const MOST_INPUT = 2_000
const UNTIL = [undefined, '30s', '10m', '2h', '2026-01-01T06:00:00Z', '2025-06-01T00:00:00Z'] as const

export function simModel(world: World, life: Life): Model {
  return {
    id: 'sim/model',
    ...(world.plan.cap === undefined ? {} : { price: PRICE }),
    async call(request, { signal, onText }) {
      const session = addressee(world, life, request)
      if (life.superseded) world.counters.add('stale request')
      else if (session) world.conversations.check(world, life, session, request)
      const open = session?.open
      const key = `${session?.session_id} ${open?.turn}.${open?.requests}`
      const cut = (): never => {
        throw new TirelessError('aborted', 'the request was interrupted')
      }
      const reply = await world.io(life, 'model', key, () => replyTo(world, session, open), { signal, cut })
      onText?.('…')
      return world.io(life, 'paid', key, () => orGarbage(world, life, 'model', spoken(reply)), { signal, cut })
    },
  }
}

/** Every task and message carries the tag of its session; what a kernel asks for carries a mark that only its dispatch has. */
function addressee(world: World, life: Life, { messages }: ModelRequest): SessionState | undefined {
  const first = messages.find(({ role }) => role === 'user')
  const text = first?.role === 'user' ? first.text : ''
  const [mark] = /<data \w+ /.exec(text) ?? []
  const [tag] = /\bt\d+\b/.exec(text) ?? []
  const marked = mark === undefined ? undefined : world.sessionMarked(mark)
  // Where a past was cut, what is left of it has a mark as well.
  const session = marked ?? (tag === undefined ? undefined : world.sessionOf(tag))
  // A process that was taken over from may ask for a session that is no more.
  if (!session && !life.superseded)
    world.fail('conversation', `nobody knows whose request this is: ${JSON.stringify(messages[0])}`)
  return session
}

type Reply = ModelAnswer | TirelessError

function replyTo(world: World, session: SessionState | undefined, open: TurnState | undefined): Reply {
  world.truth.paid += 1
  const turn = open?.turn ?? 0
  const keys = [session?.session_id ?? '', turn, open?.requests ?? 0]
  const trouble = world.faults.of('provider')?.trouble
  const plans = session?.session_id.startsWith('kernel-planner-') ?? false
  const reply = trouble ? troubled(world, trouble, keys) : plans ? planOf(world, keys) : usual(world, turn, keys)
  return world.plan.cap === undefined ? reply : charged(world, reply, keys)
}

/** Whoever is left to hear it. What is refused costs nothing; what is cut off in the middle costs what it did until then. */
function charged(world: World, reply: Reply, keys: readonly (string | number)[]): Reply {
  const tokens = (most: number, what: string): number => whole(world.plan.seed, most + 1, what, ...keys)
  const input_tokens = tokens(MOST_INPUT, 'input')
  const usage = {
    input_tokens,
    output_tokens: tokens(PRICE.max_output, 'output'),
    cached_tokens: Math.min(input_tokens, tokens(MOST_INPUT, 'cached')),
  }
  if (!(reply instanceof TirelessError) || !isFreeOfCharge(reply.code)) world.truth.charged += costOf(PRICE, usage)
  checkBooks(world)
  return reply instanceof TirelessError ? reply : { ...reply, usage }
}

function spoken(reply: Reply): ModelAnswer {
  if (reply instanceof TirelessError) throw reply
  return reply
}

function usual(world: World, turn: number, keys: readonly (string | number)[]): ModelAnswer {
  const { seed } = world.plan
  const mood = turn >= LAST_TURN ? 1 : world.chance('mood', ...keys)
  if (mood < 0.55) {
    const n = 1 + Math.floor(world.chance('calls', ...keys) ** 2 * 3)
    return answer(Array.from({ length: n }, (_, i) => toolCall(world, i, keys)))
  }
  if (mood < 0.72) {
    const until = oneOf(seed, UNTIL, 'until', ...keys)
    const what = oneOf(seed, ['user_message', 'anything at all', 'event:deploy'], 'for', ...keys)
    return answer([asked(world, 'wait', { for: what, ...(until === undefined ? {} : { until }) }, 0, keys)])
  }
  if (mood < 0.85) return answer([asked(world, 'finish', { answer: `done in ${turn}` }, 0, keys)])
  return { text: `it is done in turn ${turn}`, calls: [], finish: 'stop', usage: USAGE }
}

/** Everybody, somebody, nobody, a stranger, or no list at all. */
function planOf(world: World, keys: readonly (string | number)[]): ModelAnswer {
  world.counters.add('planner asked')
  const names = [...(world.plan.kernel?.agents.map(({ agent_id }) => agent_id) ?? []), 'stranger']
  const chosen = names.filter((name) => world.chance('chosen', name, ...keys) < 0.5)
  const babbles = world.chance('babbles', ...keys) < 0.15
  if (babbles) world.counters.add('planner answered no list')
  const list = JSON.stringify(chosen.map((agent_id) => ({ agent_id, reason: 'by the seed' })))
  return { text: babbles ? 'all of them' : list, calls: [], finish: 'stop', usage: USAGE }
}

function troubled(world: World, trouble: Trouble, keys: readonly (string | number)[]): Reply {
  const error = (code: Extract<Trouble, `model_${string}`>, retryAfterMs?: number): TirelessError =>
    new TirelessError(code, 'the provider is in trouble', { retryAfterMs })
  const one = toolCall(world, 0, keys)
  switch (trouble) {
    case 'model_limited':
      return error(trouble, whole(world.plan.seed, 120_000, 'after', ...keys))
    case 'model_unavailable':
    case 'model_cut':
    case 'model_empty':
    case 'model_auth':
      return error(trouble)
    case 'unknown_tool':
      return answer([one, asked(world, 'teleport', {}, 1, keys)])
    case 'bad_args':
      return answer([asked(world, 'post', { m: 'no' }, 0, keys), toolCall(world, 1, keys)])
    case 'not_json':
      return answer([{ ...one, args: '{"n": ' }])
    case 'doubled_ids':
      return answer([
        one,
        { ...toolCall(world, 1, keys), id: one.id },
        { ...toolCall(world, 2, keys), id: `${one.id}_1` },
      ])
    case 'length':
      return { ...answer([one]), text: 'and so', finish: 'length' }
    case 'two_voices':
      return answer([one, asked(world, 'finish', { answer: 'done' }, 1, keys)])
  }
}

const answer = (calls: readonly RequestedCall[]): ModelAnswer => ({ text: '', calls, finish: 'calls', usage: USAGE })

function toolCall(world: World, i: number, keys: readonly (string | number)[]): RequestedCall {
  const tool = oneOf(world.plan.seed, TOOL_NAMES, 'tool', i, ...keys)
  // Where there is a gate, the same is asked for more than once.
  const most = isGated(world) ? 2 : 100
  return asked(world, tool, { n: whole(world.plan.seed, most, 'n', i, ...keys) }, i, keys)
}

/** Some providers count from nought in every answer, and some give no id at all. */
function asked(world: World, tool: string, args: object, i: number, keys: readonly (string | number)[]): RequestedCall {
  const style = world.chance('ids')
  const id = style < 0.6 ? `c${keys[1]}-${keys[2]}-${i}` : style < 0.8 ? `call_${i}` : ''
  return { id, tool, args: JSON.stringify(args) }
}
