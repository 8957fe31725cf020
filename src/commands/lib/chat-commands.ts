/**
 * Handles chat messages. A message of a paired chat runs a chat command, once; the reply is put into the outbox in the
 * same commit. From any other chat only a pairing code that the owner has requested is accepted; other messages get no
 * reply and are not stored.
 */

import { hash } from 'node:crypto'
import { assertNever, asTirelessError } from '../../domain/error.ts'
import type { Language } from '../../domain/language.ts'
import type { ChatMessage } from '../../domain/message.ts'
import { setNoticeTarget } from '../../kernel/notify/notice-target.ts'
import { isOwnersChat } from '../../kernel/notify/owners-chat.ts'
import {
  checkCode,
  PAIRED_SETTING,
  PAIRING_SETTING,
  readPairedChats,
  readPairing,
  storePairedChats,
  storePairing,
} from '../../kernel/notify/pairing.ts'
import { iso } from '../../ports/clock.ts'
import { commitOne, type Op, type Store } from '../../ports/store.ts'
import { type StatusNeeds, summarizeStatus } from '../status.ts'
import type { Needs } from './context.ts'

/** The part of the context that chat messages need; `/status` needs most of it. */
export type ChatNeeds = StatusNeeds & Needs<'channels' | 'notifier' | 'settings'>

/** The effect of a chat message: operations to commit, and the text of the reply. */
interface Effect {
  readonly ops: readonly Op[]
  readonly text: string
}

/**
 * Contract: handles each message id of a channel once; resolves when the result is on disk. The channel must not
 * acknowledge the message earlier. The caller has verified the sender. `proof`: evidence of the sender, such as a
 * signature, that is accepted only once. Messages are handled one at a time, so that every guess at a code counts.
 */
export function handleChatMessage(
  context: ChatNeeds,
  word: ChatMessage,
  proof?: string,
): Promise<{ readonly duplicate: boolean }> {
  const previous = lastHandled.get(context.store) ?? Promise.resolve()
  const current = previous.then(() => handle(context, word, proof))
  lastHandled.set(
    context.store,
    current.catch(() => {}),
  )
  return current
}

const lastHandled = new WeakMap<Store, Promise<unknown>>()

async function handle(context: ChatNeeds, word: ChatMessage, proof?: string): Promise<{ readonly duplicate: boolean }> {
  const { store, clock } = context
  const { channel, chat_id, message_id } = word
  const effect = (await isOwnersChat(context, word))
    ? await runChatCommand(context, word)
    : await tryPairing(context, word)
  if (!effect) return { duplicate: false }
  const { ops, text } = effect
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

/** Checks the pairing code in a message of an unpaired chat; undefined: it has no code, or none is expected. */
async function tryPairing(
  { store, clock, kernelId, notifier }: Needs<'store' | 'clock' | 'kernelId' | 'notifier'>,
  word: ChatMessage,
): Promise<Effect | undefined> {
  const [, code] = /^\s*\/pair\s+(\S{1,20})\s*$/i.exec(word.text) ?? []
  if (code === undefined) return undefined
  const { channel, chat_id } = word
  const now = clock.now()
  const tried = checkCode(readPairing(await store.setting(PAIRING_SETTING)), channel, code, now)
  const texts = TEXTS[notifier.language()]
  switch (tried.kind) {
    case 'none':
      return undefined
    case 'wrong':
      return { ops: [storePairing(tried.left)], text: texts.wrongCode }
    case 'paired': {
      const chats = readPairedChats(await store.setting(PAIRED_SETTING))
      const paired = { channel, chat_id, paired_at: iso(now) }
      return { ops: [storePairing(null), storePairedChats([...chats, paired])], text: texts.paired(kernelId) }
    }
    default:
      return assertNever(tried)
  }
}

async function runChatCommand(context: ChatNeeds, { channel, chat_id, text }: ChatMessage): Promise<Effect> {
  const { kernelId, notifier } = context
  const texts = TEXTS[notifier.language()]
  switch (text.trim().replaceAll(/\s+/g, ' ').toLowerCase()) {
    case '/notice':
      return { ops: [setNoticeTarget({ channel, chat_id })], text: texts.bound(kernelId) }
    case '/notice off':
      return { ops: [setNoticeTarget('off')], text: texts.unbound(kernelId) }
    case '/status':
      return { ops: [], text: texts.status(await summarizeStatus(context)) }
    default:
      return { ops: [], text: texts.help }
  }
}

type Status = Awaited<ReturnType<typeof summarizeStatus>>

const statusLines = ({ kernel, queue, spend, health, approvals }: Status, labels: readonly string[]): string => {
  const values = [
    kernel.state,
    kernel.next_beat ?? '-',
    kernel.last_cycle?.status ?? '-',
    `${queue.pending} / ${queue.running} / ${queue.waiting}`,
    String(approvals),
    `${(spend.today_usd ?? 0).toFixed(2)} USD`,
    health.ok ? 'ok' : health.reasons.join('; '),
  ]
  return [`Kernel[${kernel.id}]`, ...labels.map((label, i) => `- ${label}: ${values[i]}`)].join('\n')
}

const TEXTS: Readonly<
  Record<
    Language,
    {
      bound(kernel: string): string
      unbound(kernel: string): string
      status(status: Status): string
      readonly help: string
      paired(kernel: string): string
      readonly wrongCode: string
    }
  >
> = {
  en: {
    bound: (kernel) => `Notices of Kernel[${kernel}] now come to this chat. Send /notice off to stop them.`,
    unbound: (kernel) => `Kernel[${kernel}] sends no more notices. Send /notice to restart them.`,
    status: (status) =>
      statusLines(status, [
        ...['state', 'next beat', 'last cycle', 'pending / running / waiting'],
        ...['approvals', 'spent today', 'health'],
      ]),
    paired: (kernel) => `This chat is paired with Kernel[${kernel}]. Send /notice to get its notices here.`,
    wrongCode: 'Wrong or expired pairing code. The owner can get a new one: tireless channels pair NAME',
    help: 'Commands: /notice (send notices to this chat), /notice off, /status.',
  },
  zh: {
    bound: (kernel) => `Kernel[${kernel}] 的通知今后发送到这里。发送 /notice off 可取消。`,
    unbound: (kernel) => `Kernel[${kernel}] 不再发送通知。发送 /notice 可恢复。`,
    status: (status) =>
      statusLines(status, ['状态', '下次心跳', '上一周期', '待执行 / 运行中 / 等待', '待审批', '今日花费', '健康']),
    paired: (kernel) => `本会话已与 Kernel[${kernel}] 配对。发送 /notice 可在此接收通知。`,
    wrongCode: '配对码错误或已失效。所有者可用 tireless channels pair NAME 获取新的配对码。',
    help: '可用命令：/notice（通知发送到本会话）、/notice off、/status。',
  },
}
