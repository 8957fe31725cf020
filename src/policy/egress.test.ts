/** Egress rules: spellings of addresses, classes of IP addresses, the owner's list of allowed hosts. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { DISGUISED } from '../../test/support/disguised-addresses.ts'
import { parseAllowedHost, parseHost, parseHostPort, parseHttpAddress } from '../domain/address.ts'
import { createEgressRules } from './egress.ts'
import { classifyIp } from './ip-classes.ts'

/** Contract: the reason why the address is refused, by its spelling or its IP address; undefined: it is allowed. */
function refusalFor(url: string, listed: readonly string[] = [], ip?: string): string | undefined {
  const read = parseHttpAddress(url)
  if (read.kind === 'refused') return read.why
  const rules = createEgressRules(() => listed)
  return rules.refusal(read.value) ?? (ip === undefined ? undefined : rules.refusalOf(read.value, ip))
}

describe('the spelling of an address', () => {
  test('case 37: in the network, disguised, private and non-web addresses are refused', () => {
    assert.ok(DISGUISED.length >= 110)
    for (const url of DISGUISED) assert.notEqual(refusalFor(url), undefined, JSON.stringify(url))
  })

  test('a plain address is accepted and normalised to one spelling', () => {
    const plain: readonly (readonly [string, string, string, number])[] = [
      ['http://example.com', 'http://example.com/', 'example.com', 80],
      ['HTTPS://Example.COM:443/a?b=c#d', 'https://example.com/a?b=c', 'example.com', 443],
      ['https://example.com:8443/', 'https://example.com:8443/', 'example.com', 8443],
      ['http://93.184.216.34/', 'http://93.184.216.34/', '93.184.216.34', 80],
      ['http://[2606:2800:0220:0001::]/', 'http://[2606:2800:220:1::]/', '2606:2800:220:1::', 80],
      ['http://[2606:0:0:1:0:0:0:1]/', 'http://[2606:0:0:1::1]/', '2606:0:0:1::1', 80],
      ['http://xn--bcher-kva.example/', 'http://xn--bcher-kva.example/', 'xn--bcher-kva.example', 80],
      ['http://example.com/bücher?q=ü', 'http://example.com/b%C3%BCcher?q=%C3%BC', 'example.com', 80],
      ['http://1.2.3.4.example.com/', 'http://1.2.3.4.example.com/', '1.2.3.4.example.com', 80],
    ]
    for (const [text, url, host, port] of plain) {
      const read = parseHttpAddress(text)
      assert.ok(read.kind === 'read', `${text}: ${read.kind === 'refused' && read.why}`)
      assert.deepEqual({ url: read.value.url, host: read.value.host, port: read.value.port }, { url, host, port })
      assert.equal(refusalFor(text), undefined, text)
    }
  })

  test('an accepted address has the same host and port for the URL parser', () => {
    const piece = fc.constantFrom(
      ...'az09.-:@/\\[]%#?',
      '127',
      '0x7f',
      '::',
      'xn--',
      '.com',
      'localhost',
      '①',
      '\u3002',
      ' ',
    )
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => `http://${pieces.join('')}`)
    fc.assert(
      fc.property(text, (url) => {
        const read = parseHttpAddress(url)
        if (read.kind === 'refused') return
        const other = new URL(url)
        assert.equal(other.hostname.replaceAll(/[[\]]/g, ''), read.value.host)
        assert.equal(Number(other.port || 80), read.value.port)
        assert.deepEqual({ username: other.username, password: other.password }, { username: '', password: '' })
      }),
      { numRuns: 3000 },
    )
  })

  test('an IPv6 address is normalised as the URL parser does', () => {
    const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 65_535 }))
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const text = `[${groups.map((one) => one.toString(16).padStart(4, '0')).join(':')}]`
        const read = parseHost(text)
        assert.ok(read.kind === 'read')
        assert.equal(`[${read.value}]`, new URL(`http://${text}/`).hostname)
      }),
    )
  })

  test('a host and port is refused without a port', () => {
    assert.equal(parseHostPort('example.com').kind, 'refused')
    assert.deepEqual(parseHostPort('example.com:443'), { kind: 'read', value: { host: 'example.com', port: 443 } })
    assert.deepEqual(parseHostPort('[::1]:8080'), { kind: 'read', value: { host: '::1', port: 8080 } })
    for (const text of ['::1:8080', '[::1]8080', 'a:b:1', 'example.com:', ':80', 'a@b:80'])
      assert.equal(parseHostPort(text).kind, 'refused', text)
  })
})

describe('classes of IP addresses', () => {
  test('only addresses reachable over the internet are public', () => {
    const publicIps = [
      '1.1.1.1',
      '8.8.8.8',
      '93.184.216.34',
      '172.15.0.1',
      '172.32.0.1',
      '100.63.0.1',
      '100.128.0.1',
      '2606:4700::1',
      '2a00:1450::1',
    ]
    for (const ip of publicIps) assert.equal(classifyIp(ip).kind, 'public', ip)
    const otherIps = [
      ...[
        '127.0.0.1',
        '127.255.255.254',
        '10.1.2.3',
        '192.168.0.1',
        '169.254.1.1',
        '100.64.0.0',
        '0.1.2.3',
        '192.0.2.1',
        '203.0.113.9',
      ],
      ...[
        '192.88.99.1',
        '239.1.1.1',
        '255.255.255.255',
        '::',
        '::1',
        '::ffff:8.8.8.8',
        '::8.8.8.8',
        '64:ff9b::808:808',
        '64:ff9b:1::1',
      ],
      ...[
        '2002:808:808::1',
        '2001::1',
        '2001:db8::1',
        '3fff::1',
        'fe80::1',
        'fc00::1',
        'fdff::1',
        'fec0::1',
        'ff02::1',
        '4000::1',
        '100::1',
      ],
      ...['fe80::1%eth0', '127.1', 'localhost', '', '1.2.3.4.5', '01.2.3.4'],
    ]
    for (const ip of otherIps) assert.notEqual(classifyIp(ip).kind, 'public', ip)
  })
})

describe("the owner's list", () => {
  test('a host allows its web ports, a pattern its subdomains, a host with a port that port alone', () => {
    const { isListed } = createEgressRules(() => ['api.example.com', '*.example.org', 'b.test:8443', '[::1]:3000'])
    const yes = [
      'api.example.com:443',
      'api.example.com:80',
      'a.example.org:443',
      'a.b.example.org:443',
      'b.test:8443',
      '[::1]:3000',
    ]
    const no = [
      'example.com:443',
      'api.example.com:8443',
      'x.api.example.com:443',
      'example.org:443',
      'evilexample.org:443',
      'b.test:443',
      '[::1]:80',
    ]
    const listed = (text: string): boolean => {
      const place = parseHostPort(text)
      assert.ok(place.kind === 'read')
      return isListed(place.value)
    }
    assert.deepEqual(
      yes.filter((text) => !listed(text)),
      [],
    )
    assert.deepEqual(no.filter(listed), [])
  })

  test('a non-public address is allowed by its exact host and port, never by a pattern or a bare name', () => {
    const local = 'http://127.0.0.1:8080/'
    assert.equal(refusalFor(local, ['127.0.0.1:8080']), undefined)
    for (const list of [[], ['127.0.0.1'], ['127.0.0.1:8081'], ['localhost:8080']])
      assert.notEqual(refusalFor(local, list), undefined)
    assert.equal(refusalFor('http://nas.local:5000/', ['nas.local:5000'], '192.168.1.5'), undefined)
    assert.match(
      refusalFor('http://nas.example.com/', ['nas.example.com', '*.example.com'], '192.168.1.5') ?? '',
      /private network.*nas\.example\.com:80 in policy/,
    )
    assert.match(refusalFor('http://nas.local:5000/', ['nas.local:5000'], '169.254.169.254') ?? '', /metadata/)
    assert.equal(refusalFor('http://169.254.169.254/', ['169.254.169.254:80']), undefined)
    assert.match(
      refusalFor('https://example.com/', [], '127.0.0.1') ?? '',
      /resolves to 127\.0\.0\.1, which is this machine/,
    )
    assert.equal(refusalFor('http://mail.example.com:25/', ['mail.example.com:25'], '1.1.1.1'), undefined)
  })

  test('an invalid entry allows nothing', () => {
    for (const entry of [
      '*',
      '*.com',
      '*.127.0.0.1',
      'https://a.com',
      'a.com/x',
      'a@b.com',
      '',
      '*.',
      'a.com:0',
      '::1',
      '0x7f.1',
      'a.*.com',
    ])
      assert.equal(parseAllowedHost(entry), undefined, entry)
  })
})
