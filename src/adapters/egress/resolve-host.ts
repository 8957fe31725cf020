/**
 * Turns a host into IP addresses that may be connected to: checks the name, resolves it once, checks each address.
 * Callers connect to the returned address and do not resolve again.
 */

import { lookup } from 'node:dns/promises'
import { formatHostPort, type HostPort, isIp } from '../../domain/address.ts'
import { TirelessError } from '../../domain/error.ts'
import type { EgressRules, Resolver } from '../../ports/egress.ts'

/** The resolver of the operating system. */
export const systemResolver: Resolver = async (name) =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address)

/** Contract: at least one allowed address, best first; throws `egress_refused` if none is allowed. */
export type ResolveHost = (place: HostPort) => Promise<readonly string[]>

export function createHostResolver(rules: EgressRules, resolve: Resolver): ResolveHost {
  return async (place) => {
    const why = rules.refusal(place)
    if (why !== undefined) throw egressRefusedError(why)
    const ips = isIp(place.host) ? [place.host] : await resolveName(resolve, place)
    const checked = ips.map((ip) => ({ ip, why: rules.refusalOf(place, ip) }))
    const allowed = checked.filter((one) => one.why === undefined).map(({ ip }) => ip)
    if (allowed.length > 0) return allowed
    throw egressRefusedError(checked[0]?.why ?? `${place.host} has no address`)
  }
}

async function resolveName(resolve: Resolver, place: HostPort): Promise<readonly string[]> {
  try {
    return await resolve(place.host)
  } catch (cause) {
    throw unreachableError(place, `the name cannot be resolved (${networkErrorCode(cause)})`, cause)
  }
}

export function egressRefusedError(what: string): TirelessError {
  return new TirelessError('egress_refused', what)
}

export function unreachableError(place: HostPort, what: string, cause?: unknown): TirelessError {
  return new TirelessError('tool_failed', { where: formatHostPort(place), what }, { cause })
}

export function networkErrorCode(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  return 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : thrown.message
}
