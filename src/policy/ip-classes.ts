/**
 * What kind of machine an IP address leads to. Only what every machine of the internet can be is `public`; whatever is not known to be so is not.
 * Must not know: who wants to go there.
 */

import { ipv4Octets, ipv6Groups } from '../domain/address.ts'

/** `private`: of a network of one's own. `odd`: everything that no server should be at. */
export type IpClass = 'public' | 'private' | 'loopback' | 'link_local' | 'odd'

type Range = readonly [prefix: string, bits: number, kind: IpClass, why: string]

/** The registries of special-purpose addresses, and where clouds tell a machine its own secrets. The first that fits counts. */
const IPV4: readonly Range[] = [
  ['10.0.0.0', 8, 'private', 'a private network'],
  ['172.16.0.0', 12, 'private', 'a private network'],
  ['192.168.0.0', 16, 'private', 'a private network'],
  ['100.100.100.200', 32, 'link_local', 'the metadata service of a cloud'],
  ['100.64.0.0', 10, 'private', "a carrier's network"],
  ['127.0.0.0', 8, 'loopback', 'this machine'],
  ['169.254.0.0', 16, 'link_local', 'a link-local address, where clouds keep their metadata services'],
  ['168.63.129.16', 32, 'link_local', 'the metadata service of a cloud'],
  ['0.0.0.0', 8, 'odd', 'this network, which is this machine to some'],
  ['192.0.0.0', 24, 'odd', 'reserved for protocols'],
  ['192.0.2.0', 24, 'odd', 'reserved for documents'],
  ['192.88.99.0', 24, 'odd', 'a relay of 6to4'],
  ['198.18.0.0', 15, 'odd', 'reserved for measurements'],
  ['198.51.100.0', 24, 'odd', 'reserved for documents'],
  ['203.0.113.0', 24, 'odd', 'reserved for documents'],
  ['224.0.0.0', 4, 'odd', 'multicast'],
  ['240.0.0.0', 4, 'odd', 'reserved'],
]

const IPV6: readonly Range[] = [
  ['::1', 128, 'loopback', 'this machine'],
  ['::', 128, 'odd', 'no address'],
  ['::ffff:0:0', 96, 'odd', 'an IPv4 address in disguise'],
  ['::', 96, 'odd', 'an IPv4 address in disguise'],
  ['64:ff9b::', 96, 'odd', 'an IPv4 address behind NAT64'],
  ['64:ff9b:1::', 48, 'odd', 'an IPv4 address behind NAT64'],
  ['fc00::', 7, 'private', 'a private network'],
  ['fe80::', 10, 'link_local', 'a link-local address'],
  ['fec0::', 10, 'private', 'a private network'],
  ['ff00::', 8, 'odd', 'multicast'],
  ['2001::', 23, 'odd', 'reserved for protocols, Teredo among them'],
  ['2001:db8::', 32, 'odd', 'reserved for documents'],
  ['2002::', 16, 'odd', 'an IPv4 address behind 6to4'],
  ['3fff::', 20, 'odd', 'reserved for documents'],
  ['2000::', 3, 'public', 'public'],
]

export interface Classed {
  readonly kind: IpClass
  readonly why: string
}

export function classOf(ip: string): Classed {
  const v4 = ipv4Octets(ip)
  if (v4) return found(bitsOf(v4, 8), IPV4, ipv4Octets, 8) ?? { kind: 'public', why: 'public' }
  const v6 = ipv6Groups(ip)
  const unknown: Classed = { kind: 'odd', why: v6 ? 'not given to anybody' : 'no IP address' }
  return (v6 && found(bitsOf(v6, 16), IPV6, ipv6Groups, 16)) ?? unknown
}

function found(
  bits: string,
  ranges: readonly Range[],
  parse: (text: string) => readonly number[] | undefined,
  width: number,
): Classed | undefined {
  const range = ranges.find(([prefix, length]) => bits.startsWith(bitsOf(parse(prefix) ?? [], width).slice(0, length)))
  return range && { kind: range[2], why: range[3] }
}

const bitsOf = (parts: readonly number[], width: number): string =>
  parts.map((part) => part.toString(2).padStart(width, '0')).join('')
