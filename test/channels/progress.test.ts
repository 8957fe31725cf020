/** What a chat sees of work that takes long: one message, replaced in place. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { z } from 'zod'
import type { ChannelMessage } from '../../src/domain/message.ts'
import { defineTool } from '../../src/ports/define-tool.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { call, LETTER, listApprovals, sendTool, waitStep } from '../support/approval-fixtures.ts'
import { chatChannel, MORNING } from '../support/chat-kernel.ts'
import { openTalkApp, pairTalk, routing, say } from '../support/conversations.ts'
import { fakeTool, PURE } from '../support/fake-tools.ts'
import { runClockFor } from '../support/kernels.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'

for (const [replaces, title] of [
  [true, 'E16: a chat sees the progress of long work in one message, replaced in place'],
  [false, 'E16: a chat that cannot replace messages sees no progress, only the answers'],
] as const)
  test(title, async (t) => {
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const dig = defineTool({
      ...{ name: 'dig', description: 'takes long', args: z.strictObject({ where: z.string() }) },
      effect: () => ({ recovery: 'pure', reach: 'none' }),
      async run() {
        begun.resolve()
        await released.promise
        return 'dug'
      },
    })
    const work = [{ calls: [{ tool: 'dig', args: { where: 'here' } }] }, { text: 'A hole.' }]
    const chat = { ...chatChannel(), replaces, deliver: async ({ id }: { id: string }) => id }
    const [home, clock] = [freshFolder(t), new FakeClock({ now: MORNING })]
    writeFileSync(join(home, 'tireless.yaml'), 'server: { port: 0 }\n')
    const script = {
      front: () => routing({ new: true, reply: 'I begin.' }),
      work: () => work.shift() ?? { text: 'again' },
    }
    const talk = await openTalkApp(t, script, { home, clock, tools: [dig], channels: [chat] })
    const readOutbox = async () => (await talk.app.run('notices list', {})).items
    await pairTalk(talk)
    talk.app.run('start', {}).catch(() => {})
    await say(talk, 'dig a hole')
    await begun.promise
    const progress = async () => (await readOutbox()).filter(({ id }) => id.startsWith('progress-'))
    await runClockFor(clock, 7000)
    assert.deepEqual(await progress(), [], 'not yet')
    await runClockFor(clock, 2000)
    if (replaces) {
      await waitUntil(async () => (await progress()).length === 1)
      assert.match(
        (await progress())[0]?.text ?? '',
        /^\*\*⏳ Working\*\* · 0 steps · 8 s\n- `dig \{"where":"here"\}`$/,
      )
      await runClockFor(clock, 5000)
      await waitUntil(async () => /13 s/.test((await progress())[0]?.text ?? ''))
    }
    released.resolve()
    await waitUntil(async () => (await readOutbox()).some(({ text }) => text === 'A hole.'))
    if (replaces) await waitUntil(async () => /^\*\*✔ Done\*\* · 2 steps/.test((await progress())[0]?.text ?? ''))
    assert.equal((await progress()).length, replaces ? 1 : 0)
  })

test('E16: the message of work that waited for an approval says in the end that it is done', async (t) => {
  const [home, clock] = [freshFolder(t), new FakeClock({ now: MORNING })]
  writeFileSync(join(home, 'tireless.yaml'), 'server: { port: 0 }\n')
  const released = Promise.withResolvers<void>()
  const send = sendTool()
  const dig = fakeTool({
    ...{ name: 'dig', effect: PURE },
    async run() {
      await released.promise
      return 'dug'
    },
  })
  const work = [{ calls: [call('dig')] }, { calls: [call('send', LETTER)] }, waitStep, { text: 'Sent.' }]
  const sent: ChannelMessage[] = []
  const chat = {
    ...chatChannel(),
    replaces: true,
    async deliver(message: ChannelMessage) {
      sent.push(message)
      return message.id
    },
  }
  const script = { front: () => routing({ new: true, reply: 'I begin.' }), work: () => work.shift() ?? { text: 'x' } }
  const talk = await openTalkApp(t, script, { home, clock, tools: [send, dig], channels: [chat] })
  await pairTalk(talk)
  talk.app.run('start', {}).catch(() => {})
  await say(talk, 'dig, then send')
  const texts = () => sent.filter(({ id }) => id.startsWith('progress-')).map(({ text }) => text.split(' ·')[0])
  await waitUntil(async () => {
    await runClockFor(clock, 1000)
    return texts().length > 0
  })
  assert.deepEqual(texts(), ['**⏳ Working**'], 'sent once')
  released.resolve()
  await waitUntil(async () => (await listApprovals(talk.app)).length > 0)
  await waitUntil(() => texts().at(-1) === '**⏸ Waiting**')
  await talk.app.run('approvals allow', { id: (await listApprovals(talk.app))[0]?.id ?? '' })
  await waitUntil(() => texts().at(-1) === '**✔ Done**')
})
