/**
 * Sends a request and follows allowed redirects. Each hop is checked and connected separately; one timeout covers all.
 */

import { type Address, isSameSite, parseHttpAddress } from '../../domain/address.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Clock } from '../../ports/clock.ts'
import { withDeadline } from '../../ports/deadline.ts'
import type { Egress, EgressRequest, EgressResponse, EgressRules, UnfollowedRedirect } from '../../ports/egress.ts'
import { requestWhole } from './http-request.ts'
import { type ResolveHost, unreachableError } from './resolve-host.ts'

const TIMEOUT_MS = 30_000
const MAX_HOPS = 5
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]

interface Deps {
  readonly rules: EgressRules
  readonly reach: ResolveHost
  readonly clock: Clock
}

export function createRequester({ rules, reach, clock }: Deps): Egress['ask'] {
  return async (outgoing, signal) => {
    try {
      // The signal also ends connections that are still open after the response.
      return await withDeadline(
        { clock, ms: TIMEOUT_MS, stop: signal },
        (over) => followHops(rules, reach, outgoing, over),
        () => {
          throw unreachableError(outgoing.to, `no complete response within ${TIMEOUT_MS / 1000} s`)
        },
      )
    } catch (thrown) {
      if (signal.aborted) throw new TirelessError('aborted', 'the request was cancelled', { cause: thrown })
      throw thrown
    }
  }
}

async function followHops(
  rules: EgressRules,
  reach: ResolveHost,
  outgoing: EgressRequest,
  signal: AbortSignal,
): Promise<EgressResponse | UnfollowedRedirect> {
  let { to } = outgoing
  for (let hop = 0; ; hop += 1) {
    // Headers may contain keys, so only the requested host receives them.
    const headers = isSameOrigin(to, outgoing.to) ? outgoing.headers : undefined
    const answered = await requestWhole(
      headers ? { ...outgoing, to, headers } : withoutHeaders(outgoing, to),
      await reach(to),
      signal,
    )
    const location = REDIRECTS.includes(answered.status) ? answered.headers.location : undefined
    if (location === undefined) return answered
    const next = redirectTarget(to, location)
    const follow = next && hop < MAX_HOPS && isSafe(outgoing.method) && mayFollow(rules, outgoing.to, to, next)
    if (!follow) return { kind: 'sent_on', from: to, status: answered.status, to: next?.url ?? location }
    to = next
  }
}

const isSameOrigin = (a: Address, b: Address): boolean =>
  a.scheme === b.scheme && a.host === b.host && a.port === b.port

function withoutHeaders({ headers: _, ...rest }: EgressRequest, to: Address): EgressRequest {
  return { ...rest, to }
}

const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD'

function redirectTarget({ url }: Address, location: string): Address | undefined {
  const full = URL.canParse(location, url) ? new URL(location, url).href : location
  const parsed = parseHttpAddress(full)
  return parsed.kind === 'read' ? parsed.value : undefined
}

/** `first`: the requested address. A redirect to another site is followed only if the rules list that site. */
function mayFollow(rules: EgressRules, first: Address, from: Address, next: Address): boolean {
  if (from.scheme === 'https' && next.scheme === 'http') return false
  if (rules.isListed(next)) return true
  return isSameSite(next, first)
}
