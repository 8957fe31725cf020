/**
 * Egress: where on the network anything of this program may go for somebody else. Pure: the owner's list in, a refusal or nothing out.
 * Must not know: how an address is resolved and reached, who asks and why. Whether a call may be made at all is the rule's business, not this one's.
 * Invariants: only public addresses, unless the owner has listed that very host with its port; a pattern never opens what is not public.
 */

import { bracketed, covers, isIp, isWebPort, type Listed, listedOf, type Place } from '../domain/address.ts'
import type { EgressRules } from '../ports/egress.ts'
import { classOf } from './ip-classes.ts'

/** Below this, ports belong to services that are not the web: mail, shells, names. */
const LEAST_FREE_PORT = 1024

/** Names that lead to this machine or its neighbours, whatever is answered for them. */
const LOCAL_NAMES = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|home\.arpa|localdomain)$/

/** `listed`: `policy.allow_hosts`, as it is now. An entry that cannot be read lists nothing. */
export function egressRules(listed: () => readonly string[]): EgressRules {
  const entries = (): readonly Listed[] => listed().flatMap((entry) => listedOf(entry) ?? [])
  const isNamed = ({ host, port }: Place): boolean =>
    entries().some((entry) => !entry.below && entry.host === host && entry.port === port)
  const refusalOf = (place: Place, ip: string): string | undefined => {
    const { kind, why } = classOf(ip)
    if (kind === 'public') return undefined
    // A name that is listed may lead into a network of the owner's; where nobody would keep a server, the address itself has to be listed.
    const opened = kind === 'private' || kind === 'loopback' || place.host === ip
    if (opened && isNamed(place)) return undefined
    return `${place.host === ip ? ip : `${place.host} leads to ${ip}, which`} is ${why}${unlessListed(place)}`
  }
  return {
    isListed: (place) => entries().some((entry) => covers(entry, place)),
    refusalOf,
    refusal(place) {
      const { host, port } = place
      if (isNamed(place)) return undefined
      if (!isWebPort(port) && port < LEAST_FREE_PORT) return `port ${port} is not the web's${unlessListed(place)}`
      if (isIp(host)) return refusalOf(place, host)
      return isLocalName(host) ? `${host} is a name of this machine or its network${unlessListed(place)}` : undefined
    },
  }
}

/**
 * For an address that the owner wrote down himself, in another place than the list: its port is his word, and so is the machine it names, where it
 * names one of his own. A name of the internet has no business there, whoever answers for it.
 */
export function ownersRules(rules: EgressRules): EgressRules {
  return {
    isListed: rules.isListed,
    refusal: () => undefined,
    refusalOf(place, ip) {
      const { kind } = classOf(ip)
      const near = kind === 'private' || kind === 'loopback'
      return place.host === ip || (near && isLocalName(place.host)) ? undefined : rules.refusalOf(place, ip)
    },
  }
}

const isLocalName = (host: string): boolean => !host.includes('.') || LOCAL_NAMES.test(host)

const unlessListed = ({ host, port }: Place): string =>
  `; expected a public address, or ${bracketed(host)}:${port} in policy.allow_hosts`
