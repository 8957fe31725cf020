/** What a person says in a chat: a few words are acted on, each message once; the answer goes through the outbox, in the commit of what was done. */

import { hash } from 'node:crypto'
import { asTirelessError } from '../domain/error.ts'
import type { Language } from '../domain/language.ts'
import type { Heard } from '../domain/message.ts'
import { bind } from '../kernel/target.ts'
import { commitOne, type Op } from '../ports/store.ts'
import type { Context } from './command.ts'
import { status } from './status.ts'

/** What comes of a word. */
interface Answer {
  readonly ops: readonly Op[]
  readonly text: string
}

/**
 * Contract: acted on and answered once per channel and message id; resolves after it is on disk, so only then may the channel acknowledge it.
 * Whoever calls has made sure that the channel trusts whoever said it. `proof`: what must not prove anything a second time.
 */
export async function heard(context: Context, word: Heard, proof?: string): Promise<{ readonly duplicate: boolean }> {
  const { store, clock } = context
  const { channel, chat_id, message_id } = word
  const { ops, text } = await answerTo(context, word)
  const now = clock.now()
  const id = `reply-${hash('sha256', JSON.stringify([channel, message_id])).slice(0, 24)}`
  try {
    await commitOne(store, [
      { op: 'hear', channel, message_id, now },
      ...(proof === undefined ? [] : [{ op: 'hear', channel: `${channel} proof`, message_id: proof, now } as const]),
      ...ops,
      { op: 'post', message: { id, channel, chat_id, kind: 'reply', text }, due: now, now },
    ])
    return { duplicate: false }
  } catch (thrown) {
    const error = asTirelessError(thrown)
    if (error.code === 'conflict') return { duplicate: true }
    throw error
  }
}

async function answerTo(context: Context, { channel, chat_id, text }: Heard): Promise<Answer> {
  const { kernelId, notifier } = context
  const say = WORDS[notifier.language()]
  switch (text.trim().replaceAll(/\s+/g, ' ').toLowerCase()) {
    case '/notice':
      return { ops: [bind({ channel, chat_id })], text: say.bound(kernelId) }
    case '/notice off':
      return { ops: [bind('off')], text: say.unbound(kernelId) }
    case '/status':
      return { ops: [], text: say.status(await status.run(context, {}, () => {})) }
    default:
      return { ops: [], text: say.understands }
  }
}

type Status = Awaited<ReturnType<typeof status.run>>

const statusLines = ({ kernel, queue, spend, health, approvals }: Status, names: readonly string[]): string => {
  const values = [
    kernel.state,
    kernel.next_beat ?? '-',
    kernel.last_cycle?.status ?? '-',
    `${queue.pending} / ${queue.running} / ${queue.waiting}`,
    String(approvals),
    `${(spend.today_usd ?? 0).toFixed(2)} USD`,
    health.ok ? 'ok' : health.reasons.join('; '),
  ]
  return [`Kernel[${kernel.id}]`, ...names.map((name, i) => `- ${name}: ${values[i]}`)].join('\n')
}

const WORDS: Readonly<
  Record<
    Language,
    {
      bound(kernel: string): string
      unbound(kernel: string): string
      status(status: Status): string
      readonly understands: string
    }
  >
> = {
  en: {
    bound: (kernel) => `Notices of Kernel[${kernel}] come here from now on. /notice off ends that.`,
    unbound: (kernel) => `Kernel[${kernel}] tells nobody any more. /notice begins it again.`,
    status: (its) =>
      statusLines(its, [
        ...['state', 'next beat', 'last cycle', 'pending / running / waiting'],
        ...['approvals', 'spent today', 'health'],
      ]),
    understands: 'I understand: /notice (notices come to this chat), /notice off, /status.',
  },
  zh: {
    bound: (kernel) => `Kernel[${kernel}] 的通知今后发送到这里。发送 /notice off 可取消。`,
    unbound: (kernel) => `Kernel[${kernel}] 不再发送通知。发送 /notice 可恢复。`,
    status: (its) =>
      statusLines(its, ['状态', '下次心跳', '上一周期', '待执行 / 运行中 / 等待', '待审批', '今日花费', '健康']),
    understands: '我能理解：/notice（通知发送到本群）、/notice off、/status。',
  },
}
