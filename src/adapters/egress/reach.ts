/**
 * Turns a host into IP addresses that may be connected to: checks the name, resolves it once, checks each address.
 * Callers connect to the returned address and do not resolve again.
 */

import { lookup } from 'node:dns/promises'
import { isIp, type Place, placeText } from '../../domain/address.ts'
import { TirelessError } from '../../domain/error.ts'
import type { EgressRules, Resolver } from '../../ports/egress.ts'

/** The resolver of the operating system. */
export const systemResolver: Resolver = async (name) =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address)

/** Contract: at least one allowed address, best first; throws `egress_refused` if none is allowed. */
export type Reach = (place: Place) => Promise<readonly string[]>

export function reachOf(rules: EgressRules, resolve: Resolver): Reach {
  return async (place) => {
    const why = rules.refusal(place)
    if (why !== undefined) throw egressRefused(why)
    const ips = isIp(place.host) ? [place.host] : await resolveName(resolve, place)
    const checked = ips.map((ip) => ({ ip, why: rules.refusalOf(place, ip) }))
    const allowed = checked.filter((one) => one.why === undefined).map(({ ip }) => ip)
    if (allowed.length > 0) return allowed
    throw egressRefused(checked[0]?.why ?? `${place.host} has no address`)
  }
}

async function resolveName(resolve: Resolver, place: Place): Promise<readonly string[]> {
  try {
    return await resolve(place.host)
  } catch (cause) {
    throw unreachable(place, `the name cannot be resolved (${codeOf(cause)})`, cause)
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
