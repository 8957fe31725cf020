/** Which names are ours, seen from the connection. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bracketed, isLoopback, isUs } from './access.ts'

const door = (host: string, address: string, port = 7717) => ({ host, address, port })

test('HTTP: ours are the names of the loopback, the configured one and the address that was connected to, with our port', () => {
  const at = door('tireless.lan', '192.168.1.5')
  for (const name of ['localhost', '127.0.0.1', '[::1]', 'tireless.lan', 'Tireless.LAN', '192.168.1.5'])
    assert.ok(isUs(`${name}:7717`, at), name)
  for (const name of [
    ...['evil.example:7717', 'localhost', 'localhost:7718', 'localhost.evil.example:7717', '192.168.1.6:7717', ''],
    ...['localhost.:7717', 'evil.example', 'localhost:7717@evil.example', undefined],
  ])
    assert.ok(!isUs(name, at), name)
})

test('HTTP: where it listens everywhere, «everywhere» is no name, and an address is one as it stands in a URL', () => {
  for (const host of ['0.0.0.0', '::', '[::]']) {
    assert.ok(!isUs('0.0.0.0:7717', door(host, '127.0.0.1')))
    assert.ok(!isUs('[::]:7717', door(host, '127.0.0.1')))
    assert.ok(isUs('[fe80::1]:7717', door(host, 'fe80::1')))
    assert.ok(isUs('10.0.0.7:7717', door(host, '::ffff:10.0.0.7')))
  }
  assert.ok(isUs('localhost', door('127.0.0.1', '127.0.0.1', 80)), 'browsers leave port 80 out')
  assert.equal(bracketed('::1'), '[::1]')
})

test('HTTP: the loopback and nothing that looks like it', () => {
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '[::1]', '::ffff:127.0.0.1', 'localhost'])
    assert.ok(isLoopback(address), address)
  for (const address of ['10.0.0.1', 'fe80::1', '0.0.0.0', 'localhost.evil.example', '::', undefined])
    assert.ok(!isLoopback(address), address)
})
