/** One request and the redirects that may be followed: every hop is judged and connected to by itself, within one limit of time. */

import { type Address, addressOf, isSameSite } from '../../domain/address.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Answered, Egress, EgressRules, Outgoing, SentOn } from '../../ports/egress.ts'
import { exchange } from './exchange.ts'
import { type Reach, unreachable } from './reach.ts'

const WITHIN_MS = 30_000
const MOST_HOPS = 5
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]

interface Parts {
  readonly rules: EgressRules
  readonly reach: Reach
  readonly clock: Clock
}

export function asking({ rules, reach, clock }: Parts): Egress['ask'] {
  return async (outgoing, signal) => {
    const [late, over] = [new AbortController(), new AbortController()]
    void clock.sleep(WITHIN_MS, over.signal).then(() => over.signal.aborted || late.abort())
    const either = AbortSignal.any([signal, late.signal])
    try {
      return await orAbort(hops(rules, reach, outgoing, either), either)
    } catch (thrown) {
      if (signal.aborted) throw new TirelessError('aborted', 'it was called off', { cause: thrown })
      if (late.signal.aborted)
        throw unreachable(outgoing.to, `there was no whole answer within ${WITHIN_MS / 1000} s`, thrown)
      throw thrown
    } finally {
      over.abort('over')
      // What is still under way belongs to nobody any more.
      late.abort()
    }
  }
}

async function hops(
  rules: EgressRules,
  reach: Reach,
  outgoing: Outgoing,
  signal: AbortSignal,
): Promise<Answered | SentOn> {
  let { to } = outgoing
  for (let hop = 0; ; hop += 1) {
    // What was said to the one that was asked is nobody else's business, least of all a key.
    const headers = isSamePlace(to, outgoing.to) ? outgoing.headers : undefined
    const answered = await exchange(
      headers ? { ...outgoing, to, headers } : withoutHeaders(outgoing, to),
      await reach(to),
      signal,
    )
    const location = REDIRECTS.includes(answered.status) ? answered.headers.location : undefined
    if (location === undefined) return answered
    const next = nextAfter(to, location)
    const follow = next && hop < MOST_HOPS && isSafe(outgoing.method) && mayFollow(rules, outgoing.to, to, next)
    if (!follow) return { kind: 'sent_on', from: to, status: answered.status, to: next?.url ?? location }
    to = next
  }
}

const isSamePlace = (a: Address, b: Address): boolean => a.scheme === b.scheme && a.host === b.host && a.port === b.port

function withoutHeaders({ headers: _, ...rest }: Outgoing, to: Address): Outgoing {
  return { ...rest, to }
}

const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD'

function nextAfter({ url }: Address, location: string): Address | undefined {
  const full = URL.canParse(location, url) ? new URL(location, url).href : location
  const read = addressOf(full)
  return read.kind === 'read' ? read.value : undefined
}

/** `first`: what was asked for. Everything else nobody has judged. */
function mayFollow(rules: EgressRules, first: Address, from: Address, next: Address): boolean {
  if (from.scheme === 'https' && next.scheme === 'http') return false
  if (rules.isListed(next)) return true
  return isSameSite(next, first)
}

function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const leave = (): void => reject(new TirelessError('aborted', 'it was called off'))
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })
  aborted.catch(() => {})
  work.catch(() => {})
  return Promise.race([work, aborted])
}
