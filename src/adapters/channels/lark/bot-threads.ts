/** The threads of groups in which the bot takes part: there it is addressed without a mention. */

import { z } from 'zod'
import { TirelessError } from '../../../domain/error.ts'
import type { LarkApi } from './lark-api.ts'
import { LARK_MESSAGES, type LarkMessage } from './parse-event.ts'

/** Most threads that are remembered; the oldest are forgotten, and asked for again. */
const MOST_THREADS = 2000

const rootShape = z.object({
  data: z.object({
    items: z
      .array(
        z.looseObject({
          sender: z
            .object({ id: z.string(), sender_type: z.string().catch('') })
            .nullish()
            .catch(undefined),
          mentions: z
            .array(z.object({ id: z.string() }))
            .nullish()
            .catch([]),
        }),
      )
      .min(1),
  }),
})

export class BotThreads {
  /** By the id of the thread's first message: whether the bot takes part. */
  readonly #known = new Map<string, boolean>()

  /** The bot takes part in this thread; if the message is none yet, people may answer it in one. */
  add(thread: string): void {
    this.#remember(thread, true)
  }

  /** Contract: whether the message is for the bot, from what is known; undefined: not known. */
  isForBot({ addressed, message: { thread_id } }: LarkMessage): boolean | undefined {
    if (addressed !== 'group') {
      if (thread_id !== undefined) this.add(thread_id)
      return true
    }
    return thread_id === undefined ? false : this.#known.get(thread_id)
  }

  /**
   * Contract: whether the message is for the bot. For an unknown thread its first message is asked for: the bot takes
   * part if it wrote that message or is mentioned in it. Rejects if the answer may come later.
   */
  async decide(api: LarkApi, heard: LarkMessage, signal: AbortSignal): Promise<boolean> {
    const known = this.isForBot(heard)
    const { thread_id } = heard.message
    if (known !== undefined || thread_id === undefined) return known ?? false
    const takesPart = await askForRoot(api, thread_id, signal)
    this.#remember(thread_id, takesPart)
    return takesPart
  }

  #remember(thread: string, takesPart: boolean): void {
    this.#known.delete(thread)
    this.#known.set(thread, takesPart)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_THREADS && oldest !== undefined) this.#known.delete(oldest)
  }
}

async function askForRoot(api: LarkApi, thread: string, signal: AbortSignal): Promise<boolean> {
  try {
    const request = { method: 'GET', url: `${LARK_MESSAGES}/${encodeURIComponent(thread)}` }
    const [root] = (await api.call(request, rootShape, signal)).data.items
    const bot = api.knownBot()?.open_id
    return root?.sender?.id === api.app.appId || (root?.mentions ?? []).some(({ id }) => id === bot)
  } catch (thrown) {
    // The message was deleted, or the app may not read it: asking again would not help.
    if (thrown instanceof TirelessError && thrown.retry === 'never') return false
    throw thrown
  }
}
