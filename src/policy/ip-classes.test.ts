/** The classes of IP addresses, range by range: the first address, the last, and the neighbours outside. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { classifyIp, type IpClass } from './ip-classes.ts'

type Row = readonly [ip: string, kind: IpClass, why: RegExp]

const IPV4: readonly Row[] = [
  ['0.0.0.0', 'odd', /unspecified/],
  ['0.255.255.255', 'odd', /unspecified/],
  ['1.0.0.0', 'public', /public/],
  ['8.8.8.8', 'public', /public/],
  ['9.255.255.255', 'public', /public/],
  ['10.0.0.0', 'private', /private network/],
  ['10.255.255.255', 'private', /private network/],
  ['11.0.0.0', 'public', /public/],
  ['100.63.255.255', 'public', /public/],
  ['100.64.0.0', 'private', /carrier/],
  ['100.100.100.200', 'link_local', /metadata/],
  ['100.127.255.255', 'private', /carrier/],
  ['100.128.0.0', 'public', /public/],
  ['126.255.255.255', 'public', /public/],
  ['127.0.0.0', 'loopback', /this machine/],
  ['127.0.0.1', 'loopback', /this machine/],
  ['127.255.255.255', 'loopback', /this machine/],
  ['128.0.0.0', 'public', /public/],
  ['168.63.129.15', 'public', /public/],
  ['168.63.129.16', 'link_local', /metadata/],
  ['169.253.255.255', 'public', /public/],
  ['169.254.169.254', 'link_local', /metadata/],
  ['169.255.0.0', 'public', /public/],
  ['172.15.255.255', 'public', /public/],
  ['172.16.0.0', 'private', /private network/],
  ['172.31.255.255', 'private', /private network/],
  ['172.32.0.0', 'public', /public/],
  ['192.0.0.192', 'odd', /protocols/],
  ['192.0.2.1', 'odd', /documentation/],
  ['192.88.99.1', 'odd', /6to4 relay/],
  ['192.168.0.0', 'private', /private network/],
  ['192.168.255.255', 'private', /private network/],
  ['192.169.0.0', 'public', /public/],
  ['198.17.255.255', 'public', /public/],
  ['198.18.0.0', 'odd', /benchmarks/],
  ['198.19.255.255', 'odd', /benchmarks/],
  ['198.51.100.1', 'odd', /documentation/],
  ['203.0.113.255', 'odd', /documentation/],
  ['223.255.255.255', 'public', /public/],
  ['224.0.0.1', 'odd', /multicast/],
  ['240.0.0.0', 'odd', /reserved/],
  ['255.255.255.255', 'odd', /reserved/],
]

const IPV6: readonly Row[] = [
  ['::', 'odd', /unspecified/],
  ['::1', 'loopback', /this machine/],
  ['0:0:0:0:0:0:0:1', 'loopback', /this machine/],
  ['::2', 'odd', /IPv4 address written as IPv6/],
  ['::ffff:127.0.0.1', 'odd', /IPv4 address written as IPv6/],
  ['::ffff:8.8.8.8', 'odd', /IPv4 address written as IPv6/],
  ['::FFFF:7F00:1', 'odd', /IPv4 address written as IPv6/],
  ['::127.0.0.1', 'odd', /IPv4 address written as IPv6/],
  ['64:ff9b::7f00:1', 'odd', /NAT64/],
  ['64:ff9b::10.0.0.1', 'odd', /NAT64/],
  ['64:ff9b:1::1', 'odd', /NAT64/],
  ['64:ff9b:2::1', 'odd', /not assigned/],
  ['2002:7f00:1::', 'odd', /6to4/],
  ['2002:808:808::1', 'odd', /6to4/],
  ['2001::1', 'odd', /Teredo/],
  ['2001:1ff:ffff::1', 'odd', /Teredo/],
  ['2001:200::1', 'public', /public/],
  ['2001:db8::1', 'odd', /documentation/],
  ['3fff::1', 'odd', /documentation/],
  ['3fff:1000::1', 'public', /public/],
  ['2606:4700::1111', 'public', /public/],
  ['fc00::1', 'private', /private network/],
  ['fdff:ffff::1', 'private', /private network/],
  ['fe80::1', 'link_local', /link-local/],
  ['febf::1', 'link_local', /link-local/],
  ['fec0::1', 'private', /private network/],
  ['ff02::1', 'odd', /multicast/],
  ['4000::1', 'odd', /not assigned/],
  ['1fff::1', 'odd', /not assigned/],
]

/** What some programs accept as an address, and what no program should connect to. */
const NO_ADDRESSES = [
  ...['', 'localhost', '127.1', '127.0.1', '2130706433', '0x7f000001', '017700000001', '0'],
  ...['0x7f.0.0.1', '0177.0.0.1', '127.0.0.01', '010.0.0.1', '256.0.0.1', '1.2.3', '1.2.3.4.5', '1.2.3.4 ', ' 1.2.3.4'],
  ...['１.2.3.4', '1.2.3.4/8', '[::1]', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '12345::', '::ffff:256.0.0.1'],
  ...['fe80::1%eth0', '::1%lo', '::1%', '2606:4700::1%1', '::1/128', '::ffff:1.2.3.04'],
]

describe('the class of an IP address', () => {
  for (const [ip, kind, why] of [...IPV4, ...IPV6])
    test(`${ip} is ${kind}`, () => {
      const found = classifyIp(ip)
      assert.equal(found.kind, kind)
      assert.match(found.why, why)
    })

  for (const text of NO_ADDRESSES)
    test(`${JSON.stringify(text)} is not an IP address`, () =>
      assert.deepEqual(classifyIp(text), { kind: 'odd', why: 'not an IP address' }))
})
