/** Answers to approvals in a chat: by command, by a line of words, once. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { shortId } from '../../src/domain/short-id.ts'
import { commitOne } from '../../src/ports/store.ts'
import { openTalkApp, pairTalk, routing, say, type TalkApp, work } from '../support/conversations.ts'
import { ask, openPaying, payTool } from '../support/paying-chat.ts'

const openIds = async ({ app }: TalkApp): Promise<readonly string[]> =>
  (await app.run('approvals list', { status: 'open' })).items.map(({ id }) => shortId(id))

/** Sends the text, delivers the replies, and returns the last one. */
describe('answers in a chat', () => {
  for (const [answer, allowed] of [
    ['allow ID', true],
    ['Approve ID', true],
    ['批准 ID', true],
    ['批准ID', true],
    ['/allow ID', true],
    ['deny ID too expensive', false],
    ['拒绝 ID 太贵', false],
    ['/deny ID too expensive', false],
  ] as const)
    test(`E12, O11: "${answer}" answers by three characters of the id, once`, async (t) => {
      const talk = await openPaying(t)
      const [id = ''] = await openIds(talk)
      await say(talk, answer.replace('ID', id.slice(0, 3)), 'a1')
      await work(talk)
      assert.deepEqual(talk.paid, allowed ? ['bob'] : [])
      const [approval] = (await talk.app.run('approvals list', {})).items
      const reason = answer.includes('too') ? 'too expensive' : answer.includes('太') ? '太贵' : null
      assert.deepEqual([approval?.status, approval?.answer_reason], [allowed ? 'allowed' : 'denied', reason])
      // The same button again, and the other one: both are stale.
      for (const again of [`/allow ${id}`, `/deny ${id}`, `allow ${id.slice(0, 3)}`])
        assert.match(await ask(talk, again, `again ${again}`), /^No effect: pay was already decided/)
      assert.deepEqual(talk.paid, allowed ? ['bob'] : [])
      const [after] = (await talk.app.run('approvals list', {})).items
      assert.equal(after?.status, allowed ? 'allowed' : 'denied')
    })

  test('E12: words that only look like an answer are a message', async (t) => {
    const talk = await openTalkApp(t, { front: () => routing({ none: true, reply: 'I see.' }) })
    await pairTalk(talk)
    for (const text of ['allow access to the shed', 'deny bad requests', 'allow fff', '批准 这个请求'])
      assert.equal(await ask(talk, text), 'I see.', text)
  })

  test('E12: an id that several approvals share asks which one is meant, and allows none', async (t) => {
    const { tool, paid } = payTool()
    const calls = ['ann', 'bob'].map((to) => ({ tool: 'pay', args: { to } }))
    const talk = await openTalkApp(
      t,
      { front: () => routing({ new: true }), work: () => ({ calls }) },
      { tools: [tool] },
    )
    await pairTalk(talk)
    await say(talk, 'settle both')
    await work(talk)
    const [id = ''] = await openIds(talk)
    const which = await ask(talk, `allow ${id.slice(0, 3)}`)
    assert.match(which, /^Which call do you mean/)
    for (const one of await openIds(talk)) assert.ok(which.includes(`/allow ${one}`), one)
    assert.deepEqual(paid, [])
  })

  test('E12, O11: an old answer sent again does not allow another call of the same session', async (t) => {
    const { tool, paid } = payTool()
    const calls = ['ann.smith', 'bob'].map((to) => ({ tool: 'pay', args: { to } }))
    const talk = await openTalkApp(
      t,
      {
        front: () => routing({ new: true }),
        work: ({ messages }) => (JSON.stringify(messages).includes('ann.smith') ? { text: 'Done.' } : { calls }),
      },
      { tools: [tool] },
    )
    await pairTalk(talk)
    await say(talk, 'settle both')
    await work(talk)
    const { items } = await talk.app.run('approvals list', { status: 'open' })
    const ann = shortId(items.find(({ args }) => JSON.stringify(args).includes('ann'))?.id ?? '')
    const reply = async (text: string, id: string): Promise<string> => {
      await say(talk, text, id)
      return (await talk.app.run('notices list', { limit: 1 })).items[0]?.text ?? ''
    }
    assert.equal(await reply(`/allow ${ann}`, 'a1'), 'Allowed: pay `{"to":"ann.smith"}`.')
    assert.match(await reply(`allow ${ann.slice(0, 3)}`, 'a2'), /^Which call do you mean/)
    assert.match(await reply(`/allow ${ann}`, 'a3'), /^No effect: pay was already decided/)
    await work(talk)
    assert.deepEqual(paid, ['ann.smith'])
  })

  test('E12, O11: a sentence that begins like an answer allows nothing', async (t) => {
    const talk = await openPaying(t)
    const [id = ''] = await openIds(talk)
    await ask(talk, `allow ${id.slice(0, 3)} requests per second`)
    assert.deepEqual([talk.paid, (await openIds(talk)).includes(id)], [[], true])
  })

  test('E12: the oldest of many open approvals is answered by its id', async (t) => {
    const talk = await openPaying(t)
    const [first] = (await talk.app.run('approvals list', { status: 'open' })).items
    const { store } = talk.app.context
    const approval = (await store.approval(first?.id ?? '')) ?? assert.fail('nothing waits')
    const later = Array.from({ length: 60 }, (_, n) => ({
      ...{ ...approval, id: `${approval.session_id}.9.${n}`, digest: `${n}`, asked_at: approval.expires_at },
    }))
    for (const one of later) await commitOne(store, [{ op: 'ask', approval: one }])
    for (const [n, id] of [approval.id, shortId(later[0]?.id ?? '')].entries()) {
      await say(talk, `/allow ${id}`, `m${n}`)
      assert.match((await talk.app.run('notices list', { limit: 1 })).items[0]?.text ?? '', /^Allowed: pay/, id)
    }
    assert.equal((await store.approval(approval.id))?.status, 'allowed')
  })
})
