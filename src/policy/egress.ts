/**
 * Egress rules: which network addresses the program may contact on behalf of an agent. Pure functions.
 * Must not know: how an address is resolved and contacted, which call asks. policy-rule.ts decides whether calls run.
 * Invariants: only public addresses, unless the owner lists that exact host with its port; a pattern opens public
 * addresses only.
 */

import { bracketed, covers, isIp, isWebPort, type Listed, listedOf, type Place } from '../domain/address.ts'
import type { EgressRules } from '../ports/egress.ts'
import { classOf } from './ip-classes.ts'

/** Lower ports belong to other services than the web: mail, SSH, DNS. */
const LEAST_FREE_PORT = 1024

/** Names of this machine or its local network, whatever DNS answers for them. */
const LOCAL_NAMES = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|home\.arpa|localdomain)$/

/** `listed` returns the current `policy.allow_hosts`. Invalid entries are ignored. */
export function egressRules(listed: () => readonly string[]): EgressRules {
  const entries = (): readonly Listed[] => listed().flatMap((entry) => listedOf(entry) ?? [])
  const isNamed = ({ host, port }: Place): boolean =>
    entries().some((entry) => !entry.below && entry.host === host && entry.port === port)
  const refusalOf = (place: Place, ip: string): string | undefined => {
    const { kind, why } = classOf(ip)
    if (kind === 'public') return undefined
    // A listed name may resolve to a private or loopback address. For other classes, the address must be listed.
    const mayBeListed = kind === 'private' || kind === 'loopback' || place.host === ip
    if (mayBeListed && isNamed(place)) return undefined
    return `${place.host === ip ? ip : `${place.host} resolves to ${ip}, which`} is ${why}${unlessListed(place)}`
  }
  return {
    isListed: (place) => entries().some((entry) => covers(entry, place)),
    refusalOf,
    refusal(place) {
      const { host, port } = place
      if (isNamed(place)) return undefined
      if (!isWebPort(port) && port < LEAST_FREE_PORT) return `port ${port} is not a web port${unlessListed(place)}`
      if (isIp(host)) return refusalOf(place, host)
      return isLocalName(host) ? `${host} is a name of this machine or its network${unlessListed(place)}` : undefined
    },
  }
}

/**
 * Rules for an address that the owner configured outside `policy.allow_hosts`, such as an MCP server. Any port is
 * allowed, and so are literal IP addresses and local names. A public name must still not resolve to a private address.
 */
export function ownersRules(rules: EgressRules): EgressRules {
  return {
    isListed: rules.isListed,
    refusal: () => undefined,
    refusalOf(place, ip) {
      const { kind } = classOf(ip)
      const isLocalClass = kind === 'private' || kind === 'loopback'
      return place.host === ip || (isLocalClass && isLocalName(place.host)) ? undefined : rules.refusalOf(place, ip)
    },
  }
}

const isLocalName = (host: string): boolean => !host.includes('.') || LOCAL_NAMES.test(host)

const unlessListed = ({ host, port }: Place): string =>
  `; expected a public address, or ${bracketed(host)}:${port} in policy.allow_hosts`
