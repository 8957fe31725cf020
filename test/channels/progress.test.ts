/** What a chat sees of work that takes long: one message, replaced in place. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { z } from 'zod'
import { defineTool } from '../../src/ports/define-tool.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { chatChannel, MORNING } from '../support/chat-kernel.ts'
import { openTalkApp, pairTalk, routing, say } from '../support/conversations.ts'
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
