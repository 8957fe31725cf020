/**
 * Egress rules: which network addresses the program may contact on behalf of an agent. Pure functions.
 * Must not know: how an address is resolved and contacted, and which call wants to connect. policy-rule.ts decides
 * whether calls run.
 * Invariants: only public addresses, unless the owner lists that exact host with its port; a pattern opens public
 * addresses only.
 */

import {
  type AllowedHost,
  allowsHost,
  bracketIpv6,
  type HostPort,
  isIp,
  isWebPort,
  parseAllowedHost,
} from '../domain/address.ts'
import type { EgressRules } from '../ports/egress.ts'
import { classifyIp } from './ip-classes.ts'

/** Ports below this number belong to services other than the web: mail, SSH, DNS. */
const LEAST_FREE_PORT = 1024

/** Names of this machine or its local network, whatever DNS answers for them. */
const LOCAL_NAMES = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|home\.arpa|localdomain)$/

/** `listed` returns the current `policy.allow_hosts`. Invalid entries are ignored. */
export function createEgressRules(listed: () => readonly string[]): EgressRules {
  const entries = (): readonly AllowedHost[] => listed().flatMap((entry) => parseAllowedHost(entry) ?? [])
  const isNamed = ({ host, port }: HostPort): boolean =>
    entries().some((entry) => !entry.subdomainsOnly && entry.host === host && entry.port === port)
  const refusalOf = (place: HostPort, ip: string): string | undefined => {
    const { kind, why } = classifyIp(ip)
    if (kind === 'public') return undefined
    // A listed name may resolve to a private or loopback address. For other classes, the IP address itself must be
    // listed.
    const mayBeListed = kind === 'private' || kind === 'loopback' || place.host === ip
    if (mayBeListed && isNamed(place)) return undefined
    return `${place.host === ip ? ip : `${place.host} resolves to ${ip}, which`} is ${why}${unlessListed(place)}`
  }
  return {
    isListed: (place) => entries().some((entry) => allowsHost(entry, place)),
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
export function ownerAddressRules(rules: EgressRules): EgressRules {
  return {
    isListed: rules.isListed,
    refusal: () => undefined,
    refusalOf(place, ip) {
      const { kind } = classifyIp(ip)
      const isLocalClass = kind === 'private' || kind === 'loopback'
      return place.host === ip || (isLocalClass && isLocalName(place.host)) ? undefined : rules.refusalOf(place, ip)
    },
  }
}

const isLocalName = (host: string): boolean => !host.includes('.') || LOCAL_NAMES.test(host)

const unlessListed = ({ host, port }: HostPort): string =>
  `; expected a public address, or ${bracketIpv6(host)}:${port} in policy.allow_hosts`
