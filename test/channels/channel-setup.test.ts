/** channels add, test and remove: what they ask for, test, write, and take back. */

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { tireless, tirelessJson, tirelessWith } from '../support/command-line.ts'
import { connectingChannel } from '../support/connecting-channel.ts'
import { freshFolder, openApp } from '../support/open-app.ts'

const SECRET = 'quite-a-secret-value-7731'
const CLOSED = 'http://127.0.0.1:9'

describe('channels add and remove', () => {
  test('E12: add writes the channel beside comments and stores the secret apart; remove takes both back', async (t) => {
    const home = freshFolder(t)
    const file = join(home, 'tireless.yaml')
    writeFileSync(file, '# my notes\nkernel: { timezone: UTC } # mine\n')
    const env = { HOOK: SECRET }
    const added = await tirelessWith(env, home, 'channels', 'add', 'webhook', '--url', CLOSED, '--from-env', 'HOOK')
    assert.equal(added.exit, 0, added.stderr)
    assert.match(added.stderr, /channels pair webhook/)
    const written = readFileSync(file, 'utf8')
    assert.match(written, /^# my notes\n.*# mine\n/s)
    assert.match(written, /webhook:\n\s+url: http:\/\/127\.0\.0\.1:9\n\s+secret: secret:WEBHOOK_SECRET/)
    assert.ok(!`${written}${added.stdout}${added.stderr}`.includes(SECRET))
    const again = await tirelessWith(env, home, 'channels', 'add', 'webhook', '--url', CLOSED, '--from-env', 'HOOK')
    assert.match(again.stderr, /configured already.*channels remove webhook/s)
    await tirelessJson(home, 'channels', 'pair', 'webhook', '--chat', 'ops')
    assert.equal((await tirelessJson(home, 'channels', 'remove', 'webhook')).unpaired, 1)
    assert.ok(!readFileSync(file, 'utf8').includes('webhook'))
    const { items } = await tirelessJson<{ items: unknown[] }>(home, 'secrets', 'list')
    assert.deepEqual(items, [])
    assert.notEqual((await tireless(home, 'channels', 'remove', 'webhook')).exit, 0)
  })

  test('E16: add lark says how to get the keys; a failed test leaves nothing behind, unless --untested', async (t) => {
    const home = freshFolder(t)
    const env = { LARK: SECRET }
    const add = (...args: string[]) => tirelessWith(env, home, 'channels', 'add', 'lark', '--from-env', 'LARK', ...args)
    const unknown = await add()
    assert.notEqual(unknown.exit, 0)
    assert.match(unknown.stderr, /open\.feishu\.cn\/app.*App Secret.*--app-id/s)
    const chinese = await tirelessWith(
      { ...env, LANG: 'zh_CN.UTF-8' },
      home,
      'channels',
      'add',
      'lark',
      '--from-env',
      'LARK',
    )
    assert.match(chinese.stderr, /创建企业自建应用/)
    const keys = ['--app-id', 'cli_a1b2c3d4', '--domain', CLOSED]
    const failed = await add(...keys)
    assert.match(failed.stderr, /lark was not added, because its test failed/)
    const { items } = await tirelessJson<{ items: unknown[] }>(home, 'secrets', 'list')
    assert.deepEqual(items, [])
    const kept = await add(...keys, '--untested')
    assert.equal(kept.exit, 0, kept.stderr)
    const tested = await tireless(home, 'channels', 'test', 'lark')
    assert.notEqual(tested.exit, 0)
    assert.ok(!`${failed.stderr}${kept.stdout}${tested.stdout}`.includes(SECRET))
  })

  test('E12: test asks the channel first, and sends nothing if its keys are wrong', async (t) => {
    const chat = connectingChannel()
    let answer: () => Promise<string> = () => Promise.reject(new Error('the app secret is wrong'))
    const app = await openApp(t, { channels: [{ ...chat, probe: () => answer() }] })
    const refused = await app.run('channels test', { name: 'chat' })
    assert.deepEqual([refused.delivered, refused.error, chat.received], [false, 'the app secret is wrong', []])
    answer = async () => 'My bot'
    assert.equal((await app.run('channels test', { name: 'chat' })).delivered, true)
    assert.equal(chat.received.length, 1)
  })
})
