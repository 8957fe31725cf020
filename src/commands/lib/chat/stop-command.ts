/** `/stop`: cancels what runs or waits for this chat. `/stop kernel`: stops the program. */

import type { Dispatch } from '../../../domain/dispatch.ts'
import type { Language } from '../../../domain/language.ts'
import { isSameTarget, type ReplyTo } from '../../../domain/reply-to.ts'
import { titleOfRun } from '../../../domain/title.ts'
import { readTalk } from '../../../kernel/conversation/expectations.ts'
import type { OpResults, Store } from '../../../ports/store.ts'
import type { Needs } from '../context.ts'
import { type ChatEffect, replyOnly } from './chat-effect.ts'

/** At most this many open dispatches of each status are looked at. */
const MAX_READ = 200

export async function stopWork(
  context: Needs<'clock' | 'settings' | 'stop' | 'store' | 'tellRun'>,
  chat: ReplyTo,
  rest: string,
  language: Language,
): Promise<ChatEffect> {
  const { store, clock, stop, settings, tellRun } = context
  const texts = TEXTS[language]
  if (/^(?:kernel|内核)$/i.test(rest.trim()))
    return { kind: 'command', ops: [], text: texts.kernelStops, after: () => stop(settings().stop_timeout) }
  const open = await findWorkOf(store, chat)
  if (open.length === 0) return replyOnly(texts.nothingRuns)
  const now = clock.now()
  return {
    kind: 'command',
    ops: open.map(({ dispatch_id }) => ({ op: 'cancel', dispatch_id, how: 'immediate', now })),
    text: [texts.stopped, ...open.map(({ prompt, metadata }) => `- ${titleOfRun(prompt, metadata.behaviour)}`)].join(
      '\n',
    ),
    after(results) {
      for (const { dispatch_id } of (results as OpResults['cancel'][]).flat()) tellRun(dispatch_id, 'immediate')
    },
  }
}

/** The open dispatches whose answer goes to this chat, and only there. */
async function findWorkOf(store: Store, chat: ReplyTo): Promise<readonly Dispatch[]> {
  const statuses = ['running', 'waiting', 'pending'] as const
  const open = (await Promise.all(statuses.map((status) => store.dispatches({ status, limit: MAX_READ })))).flat()
  const isOwn = await Promise.all(
    open.map(async (dispatch) => {
      const { targets } = await readTalk(store, dispatch)
      return targets.length > 0 && targets.every((to) => isWithin(to, chat))
    }),
  )
  return open.filter((_, at) => isOwn[at])
}

/** A thread is within its chat. */
const isWithin = (to: ReplyTo, chat: ReplyTo): boolean =>
  isSameTarget(to, chat) || ('channel' in to && isSameTarget({ channel: to.channel, chat: to.chat }, chat))

const TEXTS = {
  en: {
    stopped: 'Stopped:',
    nothingRuns: 'Nothing runs or waits for this chat. To stop the whole program: /stop kernel',
    kernelStops: 'The program stops after the current step. To start it again: tireless start',
  },
  zh: {
    stopped: '已停止：',
    nothingRuns: '本会话没有正在运行或等待的任务。要停止整个程序：/stop kernel',
    kernelStops: '程序将在当前步骤后停止。重新启动：tireless start',
  },
} as const satisfies Record<Language, object>
