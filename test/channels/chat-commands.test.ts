/** Commands in a chat: the chat's own, and those of the command line. */

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { handleChatMessage } from '../../src/commands/lib/chat-commands.ts'
import type { ModelProvider } from '../../src/ports/model.ts'
import { commitOne } from '../../src/ports/store.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { chatChannel, sendChatMessage } from '../support/chat-kernel.ts'
import { chatMessage } from '../support/connecting-channel.ts'
import { openTalkApp, pairTalk, receivedTexts, routing, say, type TalkApp } from '../support/conversations.ts'
import { isPlanning, MINUTE, NOON } from '../support/kernels.ts'
import { advanceUntilDone, freshFolder, openApp, waitUntil } from '../support/open-app.ts'
import { ask, openPaying } from '../support/paying-chat.ts'

describe('commands of the command line in a chat', () => {
  async function openQuiet(t: TestContext): Promise<TalkApp> {
    const talk = await openTalkApp(t, { front: () => routing({ none: true, reply: 'I see.' }) })
    await pairTalk(talk)
    return talk
  }

  test('E16: verbs are made from the registry; a group alone lists or shows what it has', async (t) => {
    const talk = await openQuiet(t)
    await talk.app.run('enqueue', { task: 'count the words' })
    for (const [text, expected] of [
      ['/queue list', /^- `[0-9a-f]{8}` .*count the words/],
      ['/queue', /count the words/],
      ['/queue list --status failed', /^none$/],
      ['/agent list', /^none$/],
      ['/budget', /USD|usd|none/i],
      ['/budget show', /usd/i],
      ['/todo list', /none/],
      ['/cycles', /none/],
      ['/Models List', /scripted|offline/i],
      ['/status', /^Kernel\[default\]\n- state:/],
      ['/approvals', /Nothing waits/],
      ['/ask what did you do today?', /./],
      ['/help', /\/queue list/],
    ] as const)
      assert.match(await ask(talk, text), expected, text)
  })

  test('E16: what a chat must not do is refused with the command to run instead; nothing is changed', async (t) => {
    const talk = await openQuiet(t)
    for (const name of ['secrets list', 'secrets set', 'plugins list', 'mcp list', 'config explain', 'channels pair'])
      assert.match(
        await ask(talk, `/${name} x`),
        new RegExp(`^${name} cannot be used in a chat.*tireless ${name}`),
        name,
      )
    for (const name of ['start', 'upgrade', 'backup', 'restore', 'budget set', 'models use', 'init', 'channels unpair'])
      assert.match(await ask(talk, `/${name} x`), /cannot be used in a chat/, name)
    assert.match(await ask(talk, '/enqueue x --workspace /etc'), /only on the command line/)
    assert.match(await ask(talk, '/qeue list'), /There is no \/qeue\. Did you mean \/queue list\?/)
    assert.match(await ask(talk, '/queue show nothing'), /no such dispatch/)
  })

  test('E16: a task enqueued by a message that arrives twice is enqueued once', async (t) => {
    const talk = await openQuiet(t)
    await say(talk, '/enqueue write a poem', 'm1')
    assert.deepEqual(await say(talk, '/enqueue write a poem', 'm1'), { duplicate: true })
    const { items } = await talk.app.run('queue list', {})
    assert.deepEqual(
      items.map(({ prompt }) => prompt),
      ['write a poem'],
    )
  })

  test('E16: a command acts once, also if its message comes again later, or its proof under another id', async (t) => {
    const talk = await openQuiet(t)
    const state = async (): Promise<string> => (await talk.app.run('status', {})).kernel.state
    const send = (text: string, message_id: string, proof: string): Promise<unknown> =>
      handleChatMessage(talk.app.context, chatMessage(text, { message_id }), proof)
    const before = await state()
    assert.deepEqual(await send('/pause', 'm1', 'p1'), { duplicate: false })
    assert.equal(await state(), 'paused')
    assert.deepEqual(await send('/resume', 'm2', 'p2'), { duplicate: false })
    assert.deepEqual(await send('/pause', 'm1', 'p3'), { duplicate: true })
    assert.deepEqual(await send('/pause', 'm9', 'p1'), { duplicate: true })
    assert.equal(await state(), before)
    assert.equal((await talk.app.run('notices list', {})).items.length, 2)
    assert.deepEqual(await talk.app.context.store.setting('chat commands'), [])
  })

  test('E16: a quick command that hangs says so after ten seconds; its reply follows', async (t) => {
    const clock = new FakeClock({ now: NOON })
    const talk = await openTalkApp(t, { front: () => routing({ none: true, reply: '-' }) }, { clock })
    await pairTalk(talk)
    const { context } = talk.app
    const answered = Promise.withResolvers<void>()
    const list = async () => {
      await answered.promise
      return context.models.list()
    }
    const models = Object.assign(Object.create(context.models), { list })
    const texts = async (): Promise<readonly string[]> =>
      (await talk.app.run('notices list', {})).items.map(({ text }) => text)
    const handled = handleChatMessage({ ...context, models }, chatMessage('/models list'))
    // Other commands and chats do not wait for it.
    await handleChatMessage(context, chatMessage('/queue list', { thread_id: 't' }))
    await advanceUntilDone(clock, handled)
    assert.equal((await texts())[0], '/models list takes longer. The reply follows when it has ended.')
    answered.resolve()
    await waitUntil(async () => (await texts()).length === 3)
    assert.match((await texts())[0] ?? '', /scripted/)
  })

  test('E16: a slow command is noted until its reply; one that a crash cut short is told, not run again', async (t) => {
    const seen: Promise<unknown>[] = []
    const talk = await openTalkApp(t, {
      front: () => routing({ none: true, reply: '-' }),
      work() {
        seen.push(talk.app.context.store.setting('chat commands'))
        return { text: 'nothing' }
      },
    })
    await pairTalk(talk)
    const noted = { channel: 'chat', chat_id: 'c9', message_id: 'm1', text: '/ask what did you do?' }
    assert.deepEqual(await say(talk, noted.text, 'm1'), { duplicate: false })
    assert.deepEqual(await say(talk, noted.text, 'm1'), { duplicate: true })
    await waitUntil(async () => (await talk.app.run('notices list', {})).items.length === 1)
    const [atWork] = await Promise.all(seen)
    assert.deepEqual([atWork, await talk.app.context.store.setting('chat commands')], [[noted], []])
    // As a process leaves it that dies before the reply.
    const left = { ...noted, message_id: 'm2' }
    await commitOne(talk.app.context.store, [{ op: 'set', name: 'chat commands', value: [left] }])
    const asked = talk.model.requests.length
    talk.app.run('start', {}).catch(() => {})
    await waitUntil(() =>
      talk.chat.received.some(({ text }) => text.startsWith('The program stopped while it worked on')),
    )
    assert.deepEqual([await talk.app.context.store.setting('chat commands'), talk.model.requests.length], [[], asked])
  })

  test('E12: /stop cancels what runs or waits for the chat; without work it names /stop kernel', async (t) => {
    const talk = await openPaying(t)
    await talk.app.run('enqueue', { task: 'of somebody else', at: '1h' })
    await ask(talk, '/stop')
    assert.ok(receivedTexts(talk).includes('Stopped:\n- settle the bill'))
    const { items } = await talk.app.run('queue list', {})
    assert.deepEqual(items.map(({ prompt, status }) => `${prompt}: ${status}`).sort(), [
      ': done',
      'of somebody else: waiting',
      'settle the bill: cancelled',
    ])
    assert.match(await ask(talk, '/stop', 'again'), /^Nothing runs or waits for this chat.*\/stop kernel/)
    assert.deepEqual(talk.paid, [])
  })

  test('E12: /stop kernel replies, then stops the program', async (t) => {
    const talk = await openQuiet(t)
    const started = talk.app.run('start', {})
    await waitUntil(() => talk.app.context.kernel.isRunning())
    await say(talk, '/stop kernel')
    await started
    assert.match((await talk.app.run('notices list', {})).items[0]?.text ?? '', /stops after the current step/)
  })
})

describe('/model', () => {
  /** Two models that record who asks them. */
  function twoModels(asked: string[]): ModelProvider {
    return {
      name: 'mine',
      models: ['fast', 'slow'],
      open: (name) => ({
        ...scriptedModel((request) => {
          asked.push(`${name} ${isPlanning(request) ? 'plans' : 'works'}`)
          if (isPlanning(request)) return { text: '[{"agent_id": "x", "reason": "due"}]' }
          return { text: '## Execution Summary\nnothing to do' }
        }),
        price: { input: 1, output: 1, max_output: 100 },
      }),
    }
  }

  test('E13: /model moves the chat, and the kernel whose notices come there, planner included', async (t) => {
    const asked: string[] = []
    const chat = chatChannel()
    const clock = new FakeClock({ now: NOON })
    const config = {
      models: { default: 'mine/fast' },
      sandbox: 'off',
      kernel: { planner: { mode: 'llm' }, agents: [{ agent_id: 'x', prompt: 'look around' }] },
    }
    const options = { channels: [chat], modelProviders: [twoModels(asked)], clock, yaml: JSON.stringify(config) }
    const folder = freshFolder(t)
    const app = await openApp(t, { ...options, home: folder })
    const home = { app, chat, clock, home: '', model: scriptedModel(() => ({ text: '' })) }
    const cycle = async (): Promise<readonly string[]> => {
      asked.length = 0
      // Something new, so that there is something to plan.
      mkdirSync(join(folder, 'agents', 'x'), { recursive: true })
      writeFileSync(join(folder, 'agents', 'x', 'news.md'), String(clock.now()))
      await clock.advance(90 * MINUTE)
      await advanceUntilDone(clock, app.run('once', {}))
      return [...new Set(asked)]
    }
    const reply = async (text: string, id = text): Promise<string> => {
      await sendChatMessage(home, text, id)
      return (await app.run('notices list', { limit: 1 })).items[0]?.text ?? ''
    }
    await app.run('channels pair', { name: 'chat', chat: 'c9' })
    await app.run('channels unpair', {})
    assert.deepEqual(await cycle(), ['fast plans', 'fast works'])
    assert.match(
      await reply('/model'),
      /^Model of this chat: the default model \(mine\/fast\)\.\n.*`\/model mine\/slow`/s,
    )
    assert.match(await reply('/model slow'), /^This chat now uses mine\/slow/)
    assert.deepEqual(await cycle(), ['fast plans', 'fast works'], 'its notices go elsewhere')
    await reply('/notice')
    assert.deepEqual(await cycle(), ['slow plans', 'slow works'])
    assert.match(await reply('/model mine/fast'), /The kernel’s own runs use it, too/)
    assert.deepEqual(await cycle(), ['fast plans', 'fast works'])
    assert.match(await reply('/model nobody/x'), /nobody.*\n.*`\/model mine\/slow`/s)
    await reply('/model slow', 'again')
    assert.match(await reply('/model default'), /default model \(mine\/fast\)/)
    assert.deepEqual(await cycle(), ['fast plans', 'fast works'])
  })
})
