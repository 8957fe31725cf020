/** A running kernel that meets its owner in Lark: over the official SDK's long connection, in a real app. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { LarkServerOptions } from '../support/lark-server/state.ts'
import { type LarkServer, startLarkServer } from '../support/lark-server.ts'
import { openApp, waitUntil } from '../support/open-app.ts'

interface LarkKernel {
  readonly app: App
  readonly lark: LarkServer
}

/** An app whose kernel runs and is connected to Lark. */
async function startLarkKernel(t: TestContext, options: LarkServerOptions = {}): Promise<LarkKernel> {
  const lark = await startLarkServer(t, options)
  const keys = `app_id: ${lark.appId}, app_secret: ${lark.appSecret}, domain: "${lark.url}"`
  const app = await openApp(t, { yaml: `server: { port: 0 }\nchannels: { lark: { ${keys} } }\n` })
  const started = app.run('start', {})
  started.catch(() => {})
  t.after(async () => {
    await app.run('stop', {}).catch(() => {})
    await started.catch(() => {})
  })
  await waitUntil(() => lark.sockets.openCount === 1)
  return { app, lark }
}

const stateOf = async ({ app }: LarkKernel) =>
  (await app.run('channels list', {})).items.find(({ name }) => name === 'lark')?.connection?.state

/** Pairs the private chat; resolves when the reply is in it. */
async function pair({ app, lark }: LarkKernel): Promise<void> {
  const { code } = await app.run('channels pair', { name: 'lark' })
  await lark.say(`/pair ${code}`)
  await waitUntil(() => lark.sentMessages('oc_home').length === 1)
}

test('E16: the owner pairs a chat, binds notices and asks for the status; strangers get nothing', async (t) => {
  const kernel = await startLarkKernel(t)
  const { app, lark } = kernel
  await waitUntil(async () => (await stateOf(kernel)) === 'connected')
  assert.equal((await lark.say({ text: '/notice', chat: 'oc_stranger', user: 'ou_stranger' })).code, 200)
  await pair(kernel)
  await lark.say('/notice')
  await lark.say('/status')
  await waitUntil(() => lark.sentMessages('oc_home').length === 3)
  assert.deepEqual((await app.run('channels list', {})).target?.chat_id, 'oc_home')
  assert.equal(lark.sentMessages().length, 3, 'strangers get no reply')
})

test('E16: a message that Lark sends twice is answered once', async (t) => {
  const kernel = await startLarkKernel(t, { ackMs: 5 })
  const { lark } = kernel
  await pair(kernel)
  const { attempts } = await lark.say('/status')
  await waitUntil(() => lark.sentMessages('oc_home').length === 2)
  await lark.say('/notice')
  await waitUntil(() => lark.sentMessages('oc_home').length === 3)
  assert.ok(attempts >= 1)
  assert.equal(lark.sentMessages('oc_home').length, 3)
})

test('case 128: a closed connection is made again; what was said meanwhile is answered', async (t) => {
  const kernel = await startLarkKernel(t)
  const { lark } = kernel
  await pair(kernel)
  lark.sockets.closeAll()
  const said = lark.say('/status')
  await waitUntil(() => lark.sockets.connections === 2)
  assert.equal((await said).code, 200)
  await waitUntil(() => lark.sentMessages('oc_home').length === 2)
  await waitUntil(async () => (await stateOf(kernel)) === 'connected')
})
