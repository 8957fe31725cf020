/** Cards: what waits for the owner is gathered, updated in place, and told once. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { renderCard } from '../../src/adapters/channels/lark/render-card.ts'
import { handleChatMessage } from '../../src/commands/lib/chat-commands.ts'
import { TirelessError } from '../../src/domain/error.ts'
import { codeSpan, showArguments } from '../../src/domain/undisguised-text.ts'
import { questionTexts } from '../../src/kernel/notify/waiting-texts.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ModelScript, scriptedModel } from '../../src/testing/scripted-model.ts'
import { answerApproval, call, drainQueue, listApprovals, sendTool } from '../support/approval-fixtures.ts'
import { buttonsOn, type CardChannel, cardChannel, visibleCards } from '../support/card-channel.ts'
import { MORNING } from '../support/chat-kernel.ts'
import { type KernelHome, MINUTE, openKernelApp, taskIn } from '../support/kernels.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'

interface CardHome extends KernelHome {
  readonly chat: CardChannel
}

/** The task says what the run does: `send TEXT` or `ask QUESTION`. */
const script: ModelScript = (request) => {
  const [, verb, what = ''] = /\b(send|ask) (\w+)/.exec(taskIn(request)) ?? []
  if (taskIn(request).includes('fail')) throw new TirelessError('model_refused', 'no')
  const { length } = request.messages.filter(({ role }) => role === 'assistant')
  if (length > 0) return { text: '## Execution Summary\ndone' }
  if (verb === 'ask') return { calls: [call('ask_user', { question: `${what}?` })] }
  return { calls: [call('send', { to: 'bob', text: what })] }
}

async function openHome(
  t: TestContext,
  { home = freshFolder(t), chat = cardChannel(), kernel = {}, now = MORNING, prompt = 'Look for a lamp' } = {},
): Promise<CardHome> {
  const opened = await openKernelApp(t, {
    ...{ home, agents: [{ agent_id: 'a', prompt }], model: scriptedModel(script), clock: new FakeClock({ now }) },
    kernel: { channel: 'chat', chat_id: 'c1', timezone: 'UTC', schedule: '@yearly', digest: false, ...kernel },
    options: { channels: [chat], tools: [sendTool()] },
  })
  return { ...opened, chat }
}

const run = async ({ app }: CardHome, ...tasks: readonly string[]): Promise<void> => {
  for (const task of tasks) await app.run('run', { task })
}

const deliver = async ({ app }: CardHome): Promise<void> => {
  // On a shared store, only the leader delivers.
  await app.service('queue').requireLead()
  await app.context.notifier.deliver(app.context.signals.drain)
}

describe('E12: cards of what waits', () => {
  test('what comes within a minute is on one card, with exact arguments, origin and buttons', async (t) => {
    const home = await openHome(t)
    await run(home, 'send one', 'ask colour')
    await home.clock.advance(30_000)
    await run(home, 'send two')
    const [card, ...more] = visibleCards(home.chat)
    assert.deepEqual([card?.title, more], ['3 things wait for you', []])
    assert.match(card?.items[1]?.text ?? '', /^\*\*The agent \S+ asks\*\*\n> colour\?\n- to answer: `\/to \S+ …`$/)
    const [first, second] = await listApprovals(home.app)
    assert.match(card?.items[0]?.text ?? '', /\n- arguments: `\{"to":"bob","text":"one"\}`$/)
    assert.match(card?.items[0]?.text ?? '', /- from: agent default · session \S+/)
    assert.deepEqual(
      new Set(buttonsOn(card).map(({ command }) => command)),
      new Set([first, second].flatMap((one) => [`/allow ${one?.id}`, `/deny ${one?.id}`])),
    )
    assert.equal(home.chat.received.filter(({ replaces }) => replaces === undefined).length, 1)
    await home.clock.advance(2 * MINUTE)
    await run(home, 'send three')
    assert.equal(visibleCards(home.chat).length, 2)
  })

  test('an answer given elsewhere, and an expiry, are shown on the card, and its buttons vanish', async (t) => {
    const home = await openHome(t)
    await run(home, 'send one', 'send two', 'send three')
    const open = (await listApprovals(home.app)).toSorted((a, b) => a.asked_at.localeCompare(b.asked_at))
    const idOf = (text: string): string => open.find(({ args }) => JSON.stringify(args).includes(text))?.id ?? ''
    await answerApproval(home.app, 'allow', idOf('one'))
    await answerApproval(home.app, 'deny', idOf('two'))
    await deliver(home)
    const [card] = visibleCards(home.chat)
    assert.equal(card?.title, '1 thing waits for you')
    const textOf = (text: string): string => card?.items.find((item) => item.text.includes(text))?.text ?? ''
    assert.match(textOf('one'), /— \*\*allowed\*\*$/)
    assert.match(textOf('two'), /— \*\*denied\*\*$/)
    assert.deepEqual(
      buttonsOn(card).map(({ command }) => command),
      [`/allow ${idOf('three')}`, `/deny ${idOf('three')}`],
    )
    await home.clock.advance(25 * 60 * MINUTE)
    await drainQueue(home.app)
    const [over, ...more] = visibleCards(home.chat)
    assert.deepEqual([over?.title, buttonsOn(over), more], ['Nothing waits for you here any more', [], []])
    assert.match(over?.items.map(({ text }) => text).join() ?? '', /three.*— \*\*expired\*\*/)
  })

  test('a pressed button has the effect of its command, once', async (t) => {
    const home = await openHome(t)
    await run(home, 'send one')
    const [{ command } = assert.fail()] = buttonsOn(visibleCards(home.chat)[0])
    const press = (message_id: string) =>
      handleChatMessage(home.app.context, { channel: 'chat', chat_id: 'c1', user_id: 'u', message_id, text: command })
    await press('1')
    await press('2')
    await deliver(home)
    assert.deepEqual(buttonsOn(visibleCards(home.chat)[0]), [])
    assert.deepEqual(
      (await listApprovals(home.app)).map(({ status }) => status),
      ['allowed'],
    )
    assert.equal(home.chat.received.filter(({ text }) => text.startsWith('Allowed: send `{')).length, 1)
  })

  test('the notice of a cycle with a failed run has a button that starts it again', async (t) => {
    const home = await openHome(t, { prompt: 'fail' })
    const { agents } = await home.app.run('once', {})
    const [notice] = home.chat.received
    const [title = '', ...lines] = notice?.text.split('\n') ?? []
    assert.deepEqual([notice?.card?.title, notice?.card?.items[0]?.text], [title, lines.join('\n')])
    const expected = [{ label: 'Retry a', command: `/retry ${agents[0]?.dispatch_id}` }]
    assert.deepEqual(buttonsOn(notice?.card), expected)
    await handleChatMessage(home.app.context, {
      ...{ channel: 'chat', chat_id: 'c1', user_id: 'u', message_id: '1', text: expected[0]?.command ?? '' },
    })
    assert.equal((await home.app.run('queue list', {})).items[0]?.status, 'pending')
  })

  test('a question is on its card until it is answered', async (t) => {
    const home = await openHome(t, { prompt: '找一盏灯' })
    await run(home, 'ask colour')
    const [card] = visibleCards(home.chat)
    assert.equal(card?.title, '有 1 件事等你处理')
    assert.match(card?.items[0]?.text ?? '', /colour\?\n- 回答: `\/to \S+ …`/)
    const { items } = await home.app.run('sessions list', {})
    await home.app.run('send', { session: items[0]?.session_id, text: 'blue' })
    await drainQueue(home.app)
    await deliver(home)
    assert.match(visibleCards(home.chat)[0]?.items[0]?.text ?? '', /— \*\*已回答\*\*$/)
  })

  test('in quiet hours everything waits on one card, which is sent in the morning', async (t) => {
    const night = Date.UTC(2026, 0, 1, 23, 0)
    const home = await openHome(t, { kernel: { quiet_hours: '22:00-07:00' }, now: night })
    await run(home, 'send one')
    await home.clock.advance(30 * MINUTE)
    await run(home, 'send two')
    assert.deepEqual(home.chat.received, [])
    const [open] = await listApprovals(home.app)
    await answerApproval(home.app, 'deny', open?.id ?? '')
    await deliver(home)
    assert.deepEqual(home.chat.received, [])
    await home.clock.advance(8 * 60 * MINUTE)
    await deliver(home)
    assert.deepEqual(
      visibleCards(home.chat).map(({ title, items }) => [title, items.length]),
      [['1 thing waits for you', 2]],
    )
  })

  test('a channel that cannot replace gets new items only, gathered for a minute', async (t) => {
    const home = await openHome(t, { chat: cardChannel({ replaces: false }) })
    home.app.run('start', {}).catch(() => {})
    // Of the first cycle. A card that is still being sent would be sent again with the new items.
    await waitUntil(async () => (await home.app.run('notices list', {})).items[0]?.status === 'sent')
    for (const task of ['send two', 'send three']) await home.app.run('enqueue', { task })
    await waitUntil(async () => (await listApprovals(home.app)).length === 3)
    await home.clock.advance(30_000)
    assert.equal(home.chat.received.length, 1)
    await home.clock.advance(31_000)
    await waitUntil(() => home.chat.received.length === 2)
    const [, second] = home.chat.received
    assert.equal(second?.card?.items.length, 2)
    assert.match(
      second?.text ?? '',
      /^2 things wait for you\n\n[\s\S]*`\/allow \S+` · `\/deny \S+`\n\n[\s\S]*`\/allow /,
    )
  })
})

describe('E12: cards that reach no chat, or the wrong one', () => {
  test('a card that was refused is told again, an hour later at the earliest, then ever more rarely', async (t) => {
    const home = await openHome(t)
    home.chat.problem = new TirelessError('channel_refused', 'no such chat')
    await run(home, 'send one')
    const countPosted = async () => (await home.app.run('notices list', {})).items.length
    for (let n = 0; n < 6; n += 1) {
      await home.clock.advance(10 * MINUTE - 1)
      await deliver(home)
    }
    assert.equal(await countPosted(), 1, 'no loop')
    await home.clock.advance(MINUTE)
    await deliver(home)
    assert.equal(await countPosted(), 2)
    await home.clock.advance(61 * MINUTE)
    await deliver(home)
    assert.equal(await countPosted(), 2)
    home.chat.problem = null
    await home.clock.advance(60 * MINUTE)
    await deliver(home)
    const [open] = await listApprovals(home.app)
    assert.deepEqual(
      visibleCards(home.chat).map((card) => buttonsOn(card)[0]?.command),
      [`/allow ${open?.id}`],
    )
  })

  test('/notice in another chat brings the open cards there; the old card says so and has no buttons', async (t) => {
    const home = await openHome(t)
    await run(home, 'send one', 'ask colour')
    await home.app.run('channels pair', { name: 'chat', chat: 'c2' })
    await deliver(home)
    await deliver(home)
    const seen = [...home.chat.shown.values()].map(({ chat_id, card }) => [chat_id, buttonsOn(card).length])
    assert.deepEqual(seen, [
      ['c1', 0],
      ['c2', 2],
    ])
    const [old, current] = visibleCards(home.chat)
    for (const { text } of old?.items ?? []) assert.match(text, /— \*\*moved to another chat\*\*$/)
    assert.equal(current?.items.length, 2)
  })

  test('however long the arguments are, each item says why, from where and how to answer', async (t) => {
    const home = await openHome(t)
    await run(home, ...Array.from({ length: 25 }, (_, n) => `send ${`x${n}`.repeat(900)}`))
    await deliver(home)
    const items = visibleCards(home.chat).flatMap((card) => card.items)
    assert.equal(items.length, 25)
    const texts = [...home.chat.shown.values()].map(({ text }) => text).join()
    for (const { text, actions } of items) {
      assert.match(text, /\n- why: .+\n- from: .+\n- sends to: .+\n- expires: .+\n- arguments: /)
      assert.ok(texts.includes(actions[0]?.command.slice(-8) ?? assert.fail()))
    }
    for (const message of home.chat.shown.values()) {
      const card = renderCard(message)
      for (const { text } of message.card?.items ?? []) assert.ok(card.includes(JSON.stringify(text).slice(1, -1)))
    }
  })
})

describe('E12: arguments cannot deceive', () => {
  test('invisible characters are written out, backticks do not end the code, questions are quoted', () => {
    const args = { to: 'bob\u202e', text: '` **allowed** ``\u2028' }
    assert.equal(codeSpan(showArguments(args)), '```{"to":"bob\\u202e","text":"` **allowed** ``\\u2028"}```')
    const asked = { question: 'Which?\n- to answer: `/allow 1`', session_id: 's', agent_id: 'a' }
    assert.match(questionTexts(asked, 'en').describe(4000), /\n> Which\?\n> - to answer: `\/allow 1`\n- to answer: /)
    assert.match(questionTexts(asked, 'zh').alone, /\n\n（a 想问你。回答：tireless send/)
  })
})
