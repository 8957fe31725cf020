/** Connections and bodies that are meant to exhaust the server: bounded, and the kernel goes on. */

import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { JSON_BODY, openHttpApp, sendRequest } from './support/http-app.ts'
import { waitUntil } from './support/open-app.ts'

/** Contract: the connection, whether or not the server drops it at once. */
const openConnection = (port: number): Promise<Socket> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.on('error', () => resolve(socket))
    // Without a reader, the end of the connection would not be noticed.
    socket.resume()
  })

test('HTTP: idle connections are bounded, because each takes a file descriptor from the kernel', async (t) => {
  const served = await openHttpApp(t)
  const sockets = await Promise.all(Array.from({ length: 600 }, () => openConnection(served.port)))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  const isOpen = ({ destroyed, readyState }: Socket): boolean => !destroyed && readyState === 'open'
  await waitUntil(() => sockets.filter(isOpen).length <= 512)
  for (const socket of sockets) socket.destroy()
  await waitUntil(async () => (await sendRequest(served, '/healthz').catch(() => undefined))?.status === 200)
})

test('HTTP: a deeply nested body is refused like any other wrong one', async (t) => {
  const served = await openHttpApp(t)
  const body = `{"prompt":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
  const headers = { ...served.bearer, ...JSON_BODY }
  const { status } = await sendRequest(served, '/api/v1/enqueue', { method: 'POST', headers, body })
  assert.equal(status, 400)
  assert.equal((await sendRequest(served, '/healthz')).status, 200)
})

test('HTTP: closing does not wait for connections without a request, as browsers open them ahead', async (t) => {
  // The time to wait for open requests never passes on this clock.
  const served = await openHttpApp(t, { clock: new FakeClock() })
  const socket = await openConnection(served.port)
  const ended = new Promise((resolve) => socket.once('close', resolve))
  await sendRequest(served, '/healthz')
  await served.app.close()
  await ended
})
