/**
 * Classifies an IP address. Only an address that is known to be reachable over the internet is `public`.
 * Must not know: which call wants to connect.
 */

import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** `private`: a local network. `odd`: reserved ranges in which no server should be. */
export type IpClass = 'public' | 'private' | 'loopback' | 'link_local' | 'odd'

type Range = readonly [prefix: string, bits: number, kind: IpClass, why: string]

/** The IANA registries of special-purpose addresses, and the metadata services of clouds. The first match counts. */
const IPV4: readonly Range[] = [
  ['10.0.0.0', 8, 'private', 'a private network'],
  ['172.16.0.0', 12, 'private', 'a private network'],
  ['192.168.0.0', 16, 'private', 'a private network'],
  ['100.100.100.200', 32, 'link_local', 'the metadata service of a cloud'],
  ['100.64.0.0', 10, 'private', "a carrier's network"],
  ['127.0.0.0', 8, 'loopback', 'this machine'],
  ['169.254.0.0', 16, 'link_local', 'a link-local address, where clouds keep their metadata services'],
  ['168.63.129.16', 32, 'link_local', 'the metadata service of a cloud'],
  ['0.0.0.0', 8, 'odd', 'the unspecified network, which some systems treat as this machine'],
  ['192.0.0.0', 24, 'odd', 'reserved for protocols'],
  ['192.0.2.0', 24, 'odd', 'reserved for documentation'],
  ['192.88.99.0', 24, 'odd', 'a 6to4 relay'],
  ['198.18.0.0', 15, 'odd', 'reserved for benchmarks'],
  ['198.51.100.0', 24, 'odd', 'reserved for documentation'],
  ['203.0.113.0', 24, 'odd', 'reserved for documentation'],
  ['224.0.0.0', 4, 'odd', 'multicast'],
  ['240.0.0.0', 4, 'odd', 'reserved'],
]

const IPV6: readonly Range[] = [
  ['::1', 128, 'loopback', 'this machine'],
  ['::', 128, 'odd', 'the unspecified address'],
  ['::ffff:0:0', 96, 'odd', 'an IPv4 address written as IPv6'],
  ['::', 96, 'odd', 'an IPv4 address written as IPv6'],
  ['64:ff9b::', 96, 'odd', 'an IPv4 address behind NAT64'],
  ['64:ff9b:1::', 48, 'odd', 'an IPv4 address behind NAT64'],
  ['fc00::', 7, 'private', 'a private network'],
  ['fe80::', 10, 'link_local', 'a link-local address'],
  ['fec0::', 10, 'private', 'a private network'],
  ['ff00::', 8, 'odd', 'multicast'],
  ['2001::', 23, 'odd', 'reserved for protocols, Teredo among them'],
  ['2001:db8::', 32, 'odd', 'reserved for documentation'],
  ['2002::', 16, 'odd', 'an IPv4 address behind 6to4'],
  ['3fff::', 20, 'odd', 'reserved for documentation'],
  ['2000::', 3, 'public', 'public'],
]

interface IpClassification {
  readonly kind: IpClass
  readonly why: string
}

export function classifyIp(ip: string): IpClassification {
  if (isIPv4(ip)) return findRange(ip, 'ipv4', IPV4) ?? { kind: 'public', why: 'public' }
  // An address with a zone (`fe80::1%eth0`) names an interface of this machine: no server should have it.
  if (!isIPv6(ip) || ip.includes('%')) return { kind: 'odd', why: 'not an IP address' }
  return findRange(ip, 'ipv6', IPV6) ?? { kind: 'odd', why: 'not assigned' }
}

type IpFamily = 'ipv4' | 'ipv6'

function findRange(ip: string, family: IpFamily, ranges: readonly Range[]): IpClassification | undefined {
  const found = ranges.find((range) => blockListOf(range, family).check(ip, family))
  return found && { kind: found[2], why: found[3] }
}

const blockLists = new Map<Range, BlockList>()

function blockListOf(range: Range, family: IpFamily): BlockList {
  const known = blockLists.get(range)
  if (known) return known
  const list = new BlockList()
  list.addSubnet(range[0], range[1], family)
  blockLists.set(range, list)
  return list
}
