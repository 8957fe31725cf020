/** An app with `channels.lark` in its configuration, the official SDK, and a server that speaks Lark's wire. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { type HttpApp, type HttpResponse, openHttpApp, sendRequest } from '../support/http-app.ts'
import {
  type LarkEvent,
  messageEvent,
  pressEvent,
  signedPost,
  type WebhookPost,
} from '../support/lark-server/events.ts'
import { type LarkServer, startLarkServer } from '../support/lark-server.ts'
import { readLogs, waitUntil } from '../support/open-app.ts'

const HOOK = '/api/v1/hooks/lark'

interface LarkHome extends HttpApp {
  readonly lark: LarkServer
}

async function openLarkApp(t: TestContext, more: (lark: LarkServer) => string): Promise<LarkHome> {
  const lark = await startLarkServer(t)
  const keys = `app_id: ${lark.appId}, domain: "${lark.url}", ${more(lark)}`
  const yaml = `server: { port: 0 }\nchannels: { lark: { ${keys} } }\n`
  return { ...(await openHttpApp(t, { yaml })), lark }
}

const openWebhookApp = (t: TestContext): Promise<LarkHome> =>
  openLarkApp(
    t,
    ({ appSecret, encryptKey, verificationToken }) =>
      `app_secret: ${appSecret}, mode: webhook, encrypt_key: ${encryptKey}, verification_token: ${verificationToken}`,
  )

const post = (home: LarkHome, { headers, body }: WebhookPost): Promise<HttpResponse> =>
  sendRequest(home, HOOK, { method: 'POST', headers, body })

const sign = ({ lark }: LarkHome, event: LarkEvent): WebhookPost => signedPost(event, lark.encryptKey, Date.now())

/** Pairs the private chat as the owner does. */
async function pair(home: LarkHome): Promise<void> {
  const { code } = await home.app.run('channels pair', { name: 'lark' })
  await post(home, sign(home, messageEvent(home.lark, { text: `/pair ${code}` })))
}

describe('the channel lark in an app', () => {
  test('E16: a test message arrives; status and list know the channel', async (t) => {
    const { app, lark } = await openLarkApp(t, ({ appSecret }) => `app_secret: ${appSecret}, chat_id: oc_home`)
    await app.run('channels test', { name: 'lark' })
    assert.equal(lark.sentMessages('oc_home').length, 1)
    const { items } = await app.run('channels list', {})
    assert.equal(items.find(({ name }) => name === 'lark')?.trouble, null)
  })

  test('case 136: wrong keys are explained; neither key nor token is shown or logged', async (t) => {
    const { app, lark } = await openLarkApp(t, () => 'app_secret: a-wrong-and-secret-key, chat_id: oc_home')
    const tested = await app.run('channels test', { name: 'lark' })
    assert.match(tested.error ?? '', /App Secret.*Credentials & Basic Info/)
    const { app: good } = await openLarkApp(t, ({ appSecret }) => `app_secret: ${appSecret}, chat_id: oc_home`)
    await good.run('channels test', { name: 'lark' })
    const texts = [await readLogs(app), await readLogs(good), await good.run('config explain', {})]
    const shown = JSON.stringify(texts)
    for (const secret of ['a-wrong-and-secret-key', lark.appSecret, 't-token'])
      assert.ok(!shown.includes(secret), secret)
    assert.match(shown, /cli_a1b2c3d4e5f60718/)
  })

  test('E16: the app secret may be in a variable; if it is missing, the channel says so', async (t) => {
    const { app } = await openLarkApp(t, () => 'app_secret_env: NO_SUCH_LARK_SECRET')
    const { items } = await app.run('channels list', {})
    assert.match(items.find(({ name }) => name === 'lark')?.trouble ?? '', /NO_SUCH_LARK_SECRET is empty or not set/)
  })
})

describe('the webhook of Lark in an app', () => {
  test('E16: pairing and commands work in the chat; the replies are cards', async (t) => {
    const home = await openWebhookApp(t)
    await pair(home)
    const { status } = await post(home, sign(home, messageEvent(home.lark, { text: '/status' })))
    assert.equal(status, 200)
    await home.app.run('start', { until_idle: true })
    await waitUntil(() => home.lark.sentMessages('oc_home').length === 2)
    assert.ok(home.lark.sentMessages().every(({ msg_type }) => msg_type === 'interactive'))
  })

  test('E16: strangers, forged and replayed requests have no effect; the address check is answered', async (t) => {
    const home = await openWebhookApp(t)
    const { lark, app } = home
    const stranger = sign(home, messageEvent(lark, { text: '/notice', chat: 'oc_stranger', user: 'ou_stranger' }))
    assert.equal((await post(home, stranger)).status, 200)
    const forged = signedPost(messageEvent(lark, { text: '/notice' }), 'guessed', Date.now())
    assert.equal((await post(home, forged)).status, 401)
    await pair(home)
    const request = sign(home, messageEvent(lark, { text: '/notice' }))
    assert.equal((await post(home, request)).status, 200)
    const replies = (await app.run('notices list', {})).items.length
    await post(home, request)
    assert.equal((await app.run('notices list', {})).items.length, replies)
    const check = { type: 'url_verification', challenge: 'c1', token: lark.verificationToken }
    const { text } = await post(home, signedPost(check, lark.encryptKey, Date.now()))
    assert.deepEqual(JSON.parse(text), { challenge: 'c1' })
  })

  test('E16: a pressed button is answered in the form that Lark shows', async (t) => {
    const home = await openWebhookApp(t)
    await pair(home)
    const card = home.lark.messages[0] ?? assert.fail()
    const { text } = await post(home, sign(home, pressEvent(home.lark, card, { command: '/status', message: 'm1' })))
    assert.equal(JSON.parse(text).toast.i18n.zh_cn, '已收到')
  })
})
