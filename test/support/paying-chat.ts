/** A chat in which a payment waits for its approval. */

import type { TestContext } from 'node:test'
import { z } from 'zod'
import { defineTool } from '../../src/ports/define-tool.ts'
import { openTalkApp, pairTalk, receivedTexts, routing, say, type TalkApp, work } from './conversations.ts'

/** A tool that a person has to allow; it counts its calls. */
export const payTool = () => {
  const paid: string[] = []
  const tool = defineTool<{ to: string }>({
    ...{ name: 'pay', description: 'pays', args: z.strictObject({ to: z.string() }) },
    effect: () => ({ recovery: 'idempotent', reach: 'none' }),
    asks: () => 'it costs money',
    run: async ({ to }) => {
      paid.push(to)
      return { status: 'ok', content: 'paid' }
    },
  })
  return { tool, paid }
}

interface PayingTalk extends TalkApp {
  readonly paid: readonly string[]
}

/** A paired chat in which a run waits for the approval of a payment. */
export async function openPaying(t: TestContext): Promise<PayingTalk> {
  const { tool, paid } = payTool()
  const talk = await openTalkApp(
    t,
    {
      front: () => routing({ new: true }),
      work: ({ messages }) =>
        JSON.stringify(messages).includes('"pay')
          ? { text: 'Done.' }
          : { calls: [{ tool: 'pay', args: { to: 'bob' } }] },
    },
    { tools: [tool] },
  )
  await pairTalk(talk)
  await say(talk, 'settle the bill')
  await work(talk)
  return { ...talk, paid }
}

export async function ask(talk: TalkApp, text: string, id = text): Promise<string> {
  await say(talk, text, id)
  await work(talk)
  return receivedTexts(talk).at(-1) ?? ''
}
