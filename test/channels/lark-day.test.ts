/** A task from its words in a Lark chat to its result there, with the official SDK and a server of the same wire. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sendTool, waitStep } from '../support/approval-fixtures.ts'
import { openTalkApp, routing } from '../support/conversations.ts'
import { buttonsOf } from '../support/lark-server/events.ts'
import { startLarkServer } from '../support/lark-server.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'

const CHAT = 'oc_home'
const REPORT = '# 报告\nthree words'

test('E16: pair, bind, give a task: a quick reply, a card whose button counts once, the result as file', async (t) => {
  const lark = await startLarkServer(t)
  const home = freshFolder(t)
  const keys = `{ app_id: ${lark.appId}, app_secret: ${lark.appSecret}, domain: "${lark.url}" }`
  writeFileSync(join(home, 'tireless.yaml'), `server: { port: 0 }\nchannels: { lark: ${keys} }\n`)
  const order = sendTool({ name: 'order' })
  const steps = [
    { calls: [{ tool: 'create_file', args: { path: 'REPORT.md', content: REPORT } }] },
    { calls: [{ tool: 'order', args: { item: 'lamp', count: 2 } }] },
    waitStep,
    { text: 'Ordered two lamps; the report is in REPORT.md.' },
  ]
  const script = {
    front: () => routing({ new: true, reply: 'I begin.' }),
    work: () => steps.shift() ?? { text: 'asked again' },
  }
  const talk = await openTalkApp(t, script, { home, tools: [order] })
  const { code } = await talk.app.run('channels pair', { name: 'lark' })
  talk.app.run('start', {}).catch(() => {})
  await waitUntil(() => lark.sockets.openCount > 0)
  await lark.say(`/pair ${code}`)
  await lark.say('/notice')
  assert.deepEqual((await talk.app.run('channels list', {})).target, { channel: 'lark', chat_id: CHAT, by: 'person' })

  await lark.say('order two lamps and write a report')
  await waitUntil(() => lark.sentTexts(CHAT).includes('I begin.'))
  const findCard = () => lark.sentMessages(CHAT).find((message) => buttonsOf(message).length > 0)
  await waitUntil(() => findCard() !== undefined)
  const card = findCard() ?? assert.fail()
  assert.match(lark.sentTexts(CHAT).join('\n'), /order[\s\S]*"item":"lamp","count":2/)
  const allow = buttonsOf(card)[0]?.label ?? ''
  await Promise.all([lark.press(card.message_id, allow), lark.press(card.message_id, allow)])
  await waitUntil(() => lark.sentTexts(CHAT).some((text) => text.includes('Ordered two lamps')))
  await waitUntil(() => lark.sentMessages(CHAT).some(({ msg_type }) => msg_type === 'file'))
  assert.doesNotMatch(lark.sentTexts(CHAT).join('\n'), /workspaces/, 'a path of this machine opens nothing in a chat')
  assert.deepEqual(order.receivedArgs, [{ item: 'lamp', count: 2 }])
  await waitUntil(() => buttonsOf(lark.findMessage(card.message_id) ?? card).length === 0)
  assert.deepEqual(
    [...lark.files.values()].map(({ name, bytes }) => [name, bytes.toString('utf8')]),
    [['REPORT.md', REPORT]],
  )
})
