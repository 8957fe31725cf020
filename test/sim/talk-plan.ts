/** What a seed draws in a world with a conversation: who says what, where, and when. */

import { storePairedChats } from '../../src/kernel/notify/pairing.ts'
import { type Boundary, type Fault, type Item, TYPICAL_VISITS, times, type When } from './plan-types.ts'
import { chance, integerBelow, oneOf } from './random.ts'
import { hasSeveralProcesses } from './several-plan.ts'

/** A person says something in a chat of a channel, in a terminal, or to one session. */
export interface Say extends Item, When {
  readonly kind: 'say'
  readonly text: string
  /** Id of the delivery: the same one again is a duplicate. */
  readonly message_id: string
  readonly chat: string
  /** `session`: to a session of the assistant, if there is one by then; with `route` it is decided anew what to do. */
  readonly via: 'channel' | 'terminal' | 'session'
  readonly route?: true
}

/** The channel of all chats. */
export const CHANNEL = 'sim'
export const CHATS = ['left', 'right'] as const

/** All chats belong to the owner. */
export const PAIRING = storePairedChats(
  CHATS.map((chat_id) => ({ channel: CHANNEL, chat_id, paired_at: '2026-01-01T00:00:00.000Z' })),
)

const HIGHEST_NUMBER_OF_MESSAGES = 6
/** Share of messages that are delivered a second time. */
const REDELIVERED = 0.3

/** By a remainder that no other kind of world uses. */
export const hasTalk = (seed: number): boolean => seed % 8 === 7 && !hasSeveralProcesses(seed)

export function drawTalk(seed: number, faultEvents: number): readonly Say[] {
  const said = times(2 + integerBelow(seed, HIGHEST_NUMBER_OF_MESSAGES - 1, 'said'), (i) =>
    drawSay(seed, i, faultEvents),
  )
  return said.flatMap((one, i) => {
    if (chance(seed, 'say', i, 'again') >= REDELIVERED) return [one]
    return [one, { ...one, ...drawWhen(seed, i, 'redelivery', faultEvents), id: `${one.id}-again` }]
  })
}

function drawSay(seed: number, i: number, faultEvents: number): Say {
  const draw = (name: string): number => chance(seed, 'say', i, name)
  const via = draw('via') < 0.6 ? 'channel' : draw('via') < 0.75 ? 'terminal' : 'session'
  return {
    ...{ id: `c${i}`, kind: 'say', text: `c${i}#m${i} please`, message_id: `u${i}`, via },
    // The first message comes early: all else follows from it.
    ...(i === 0 ? { at: 0 } : drawWhen(seed, i, 'first', faultEvents)),
    chat: oneOf(seed, CHATS, 'say', i, 'chat'),
    ...(via === 'session' && draw('route') < 0.4 ? { route: true } : {}),
  }
}

/** Most messages come while a model is asked, or right after a run changed its behaviour. */
function drawWhen(seed: number, i: number, what: string, faultEvents: number): When {
  const draw = (name: string): number => chance(seed, 'say', i, what, name)
  const at = Math.floor(draw('at') * faultEvents * 0.7)
  if (draw('busy') < 0.4) return { at, duringRequest: 1 + Math.floor(draw('asking') * 16) }
  return draw('busy') < 0.75 ? { at, duringMove: 1 + Math.floor(draw('moving') * 8) } : { at }
}

const CRASH_POINTS: readonly [Boundary, ...Boundary[]] = ['commit', 'ack', 'open', 'copy', 'tool', 'posted', 'posted']

/** Runs of a conversation are longer than others: more faults hit them late. */
export const drawTalkFault = (seed: number, i: number): Fault => {
  // A workspace that cannot be opened, or of which no copy can be made.
  if (i === 0) return { id: `x${i}`, kind: 'env', nth: 4 + integerBelow(seed, 16, 'no copy') }
  const at = oneOf(seed, CRASH_POINTS, 'talk crash', i, 'at')
  const nth = 1 + integerBelow(seed, TYPICAL_VISITS[at] * 3, 'talk crash', i, 'nth')
  return { id: `x${i}`, kind: 'crash', at, nth, repeats: 0 }
}
