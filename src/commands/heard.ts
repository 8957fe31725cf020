/**
 * What is said in a chat. In one that is paired a few words are acted on, each message once; the answer goes through the outbox, in the commit of
 * what was done. In any other a code is listened for, while the owner waits for one, and nothing else: no answer, nothing kept, shown to nobody.
 */

import { hash } from 'node:crypto'
import { assertNever, asTirelessError } from '../domain/error.ts'
import type { Language } from '../domain/language.ts'
import type { Heard } from '../domain/message.ts'
import { isOwnersChat } from '../kernel/owners-chat.ts'
import { keepPaired, keepPairing, PAIRED, PAIRING, pairedIn, pairingIn, tryCode } from '../kernel/pairing.ts'
import { bind } from '../kernel/target.ts'
import { iso } from '../ports/clock.ts'
import { commitOne, type Op, type Store } from '../ports/store.ts'
import type { Context } from './command.ts'
import { status } from './status.ts'

/** What comes of a word. */
interface Answer {
  readonly ops: readonly Op[]
  readonly text: string
}

/**
 * Contract: acted on and answered once per channel and message id; resolves after it is on disk, so only then may the channel acknowledge it.
 * Whoever calls has made sure that the channel sent it. `proof`: what must not prove anything a second time. One at a time: of many guesses at
 * once, each counts.
 */
export function heard(context: Context, word: Heard, proof?: string): Promise<{ readonly duplicate: boolean }> {
  const before = inLine.get(context.store) ?? Promise.resolve()
  const mine = before.then(() => hear(context, word, proof))
  inLine.set(
    context.store,
    mine.catch(() => {}),
  )
  return mine
}

const inLine = new WeakMap<Store, Promise<unknown>>()

async function hear(context: Context, word: Heard, proof?: string): Promise<{ readonly duplicate: boolean }> {
  const { store, clock } = context
  const { channel, chat_id, message_id } = word
  const answer = (await isOwnersChat(context, word)) ? await answerTo(context, word) : await codeIn(context, word)
  if (!answer) return { duplicate: false }
  const { ops, text } = answer
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

/** A stranger's word is a guess at a code, or nothing. */
async function codeIn({ store, clock, kernelId, notifier }: Context, word: Heard): Promise<Answer | undefined> {
  const [, code] = /^\s*\/pair\s+(\S{1,20})\s*$/i.exec(word.text) ?? []
  if (code === undefined) return undefined
  const { channel, chat_id } = word
  const now = clock.now()
  const tried = tryCode(pairingIn(await store.setting(PAIRING)), channel, code, now)
  const say = WORDS[notifier.language()]
  switch (tried.kind) {
    case 'none':
      return undefined
    case 'wrong':
      return { ops: [keepPairing(tried.left)], text: say.wrongCode }
    case 'paired': {
      const chats = pairedIn(await store.setting(PAIRED))
      const paired = { channel, chat_id, paired_at: iso(now) }
      return { ops: [keepPairing(null), keepPaired([...chats, paired])], text: say.paired(kernelId) }
    }
    default:
      return assertNever(tried)
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
      paired(kernel: string): string
      readonly wrongCode: string
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
    paired: (kernel) => `This chat is paired with Kernel[${kernel}]. /notice lets its notices come here.`,
    wrongCode: 'That is not the code, or it is over. Its owner gets one with: tireless channels pair NAME',
    understands: 'I understand: /notice (notices come to this chat), /notice off, /status.',
  },
  zh: {
    bound: (kernel) => `Kernel[${kernel}] 的通知今后发送到这里。发送 /notice off 可取消。`,
    unbound: (kernel) => `Kernel[${kernel}] 不再发送通知。发送 /notice 可恢复。`,
    status: (its) =>
      statusLines(its, ['状态', '下次心跳', '上一周期', '待执行 / 运行中 / 等待', '待审批', '今日花费', '健康']),
    paired: (kernel) => `本会话已与 Kernel[${kernel}] 配对。发送 /notice 可在此接收通知。`,
    wrongCode: '配对码错误或已失效。所有者可用 tireless channels pair NAME 获取新的配对码。',
    understands: '我能理解：/notice（通知发送到本群）、/notice off、/status。',
  },
}
