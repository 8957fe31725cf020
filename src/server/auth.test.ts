/** Host names that the server accepts. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLoopback, isOwnHost, urlHost } from './auth.ts'

const local = (host: string, address: string, port = 7717) => ({ host, address, port })

test('HTTP: accepts loopback names, the configured host and the connected address, with the right port', () => {
  const at = local('tireless.lan', '192.168.1.5')
  for (const name of ['localhost', '127.0.0.1', '[::1]', 'tireless.lan', 'Tireless.LAN', '192.168.1.5'])
    assert.ok(isOwnHost(`${name}:7717`, at), name)
  for (const name of [
    ...['evil.example:7717', 'localhost', 'localhost:7718', 'localhost.evil.example:7717', '192.168.1.6:7717', ''],
    ...['localhost.:7717', 'evil.example', 'localhost:7717@evil.example', undefined],
  ])
    assert.ok(!isOwnHost(name, at), name)
})

test('HTTP: a wildcard address is no host name; addresses are accepted as URLs write them', () => {
  for (const host of ['0.0.0.0', '::', '[::]']) {
    assert.ok(!isOwnHost('0.0.0.0:7717', local(host, '127.0.0.1')))
    assert.ok(!isOwnHost('[::]:7717', local(host, '127.0.0.1')))
    assert.ok(isOwnHost('[fe80::1]:7717', local(host, 'fe80::1')))
    assert.ok(isOwnHost('10.0.0.7:7717', local(host, '::ffff:10.0.0.7')))
  }
  assert.ok(isOwnHost('localhost', local('127.0.0.1', '127.0.0.1', 80)), 'browsers omit port 80')
  assert.equal(urlHost('::1'), '[::1]')
})

test('HTTP: recognizes loopback addresses, and no lookalikes', () => {
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '[::1]', '::ffff:127.0.0.1', 'localhost'])
    assert.ok(isLoopback(address), address)
  for (const address of ['10.0.0.1', 'fe80::1', '0.0.0.0', 'localhost.evil.example', '::', undefined])
    assert.ok(!isLoopback(address), address)
})
