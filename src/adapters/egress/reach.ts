/** From a place to an IP address that may be connected to: judged by its name, resolved once, each answer judged. Whoever connects uses that address. */

import { lookup } from 'node:dns/promises'
import { isIp, type Place, placeText } from '../../domain/address.ts'
import { TirelessError } from '../../domain/error.ts'
import type { EgressRules, Resolver } from '../../ports/egress.ts'

/** As this machine resolves names for everybody. */
export const systemResolver: Resolver = async (name) =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address)

/** Contract: where to connect to, best first, at least one; `egress_refused` where none may be. */
export type Reach = (place: Place) => Promise<readonly string[]>

export function reachOf(rules: EgressRules, resolve: Resolver): Reach {
  return async (place) => {
    const why = rules.refusal(place)
    if (why !== undefined) throw egressRefused(why)
    const ips = isIp(place.host) ? [place.host] : await resolved(resolve, place)
    const judged = ips.map((ip) => ({ ip, why: rules.refusalOf(place, ip) }))
    const open = judged.filter((one) => one.why === undefined).map(({ ip }) => ip)
    if (open.length > 0) return open
    throw egressRefused(judged[0]?.why ?? `${place.host} leads nowhere`)
  }
}

async function resolved(resolve: Resolver, place: Place): Promise<readonly string[]> {
  try {
    return await resolve(place.host)
  } catch (cause) {
    throw unreachable(place, `its name leads nowhere (${codeOf(cause)})`, cause)
  }
}

export function egressRefused(what: string): TirelessError {
  return new TirelessError('egress_refused', what)
}

export function unreachable(place: Place, what: string, cause?: unknown): TirelessError {
  return new TirelessError('tool_failed', { where: placeText(place), what }, { cause })
}

export function codeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  return 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : thrown.message
}
