/**
 * Handles chat messages, once each. A message of a paired chat goes into the conversation, or runs a chat command,
 * whose reply is put into the outbox in the same commit. From any other chat only a pairing code that the owner has
 * requested is accepted; other messages get no reply and are not stored.
 */

import { hash } from 'node:crypto'
import { clipText } from '../../domain/clean-summary.ts'
import { assertNever, asTirelessError } from '../../domain/error.ts'
import type { Language } from '../../domain/language.ts'
import type { ChatMessage } from '../../domain/message.ts'
import { shortId } from '../../domain/short-id.ts'
import { answerOps } from '../../kernel/conversation/answer-approval.ts'
import { channelChat, publishOp } from '../../kernel/conversation/front-session.ts'
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
import { type ConversationNeeds, explainConflict, submitMessage } from './conversation.ts'

/** The part of the context that chat messages need; `/status` needs most of it. */
export type ChatNeeds = StatusNeeds & ConversationNeeds & Needs<'channels' | 'notifier' | 'settings'>

/** At most this many open approvals, and sessions, are looked at. */
const MAX_OPEN = 50
const MAX_SESSIONS = 1000
const MAX_ARGUMENTS = 300

/** The effect of a chat message: operations to commit, and the text of the reply. */
interface Effect {
  readonly kind: 'command'
  readonly ops: readonly Op[]
  readonly text: string
}

/** A message that is no command: it goes into the conversation. */
interface Message {
  readonly kind: 'message'
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
  const { channel, chat_id, message_id } = word
  const isOwner = await isOwnersChat(context, word)
  const effect = isOwner ? await runChatCommand(context, word) : await tryPairing(context, word)
  if (!effect) return { duplicate: false }
  const now = context.clock.now()
  const hear: readonly Op[] = [
    { op: 'hear', channel, message_id, now },
    ...(proof === undefined ? [] : [{ op: 'hear', channel: `${channel} proof`, message_id: proof, now } as const]),
  ]
  const id = `reply-${hash('sha256', JSON.stringify([channel, message_id])).slice(0, 24)}`
  const reply = (text: string): readonly Op[] => [
    { op: 'post', message: { id, channel, chat_id, kind: 'reply', text }, due: now, now },
  ]
  if (effect.kind === 'message') {
    const said = { id: `${channel} ${message_id}`, text: effect.text }
    const { duplicate } = await submitMessage(context, channelChat(word), said, { hear, reply })
    return { duplicate }
  }
  try {
    await commitOne(context.store, [...hear, ...effect.ops, ...reply(effect.text)])
    return { duplicate: false }
  } catch (thrown) {
    const error = asTirelessError(thrown)
    if (error.code !== 'conflict') throw error
    const { duplicate } = await explainConflict(context.store, error, { hear, reply })
    return { duplicate }
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
      return { kind: 'command', ops: [storePairing(tried.left)], text: texts.wrongCode }
    case 'paired': {
      const chats = readPairedChats(await store.setting(PAIRED_SETTING))
      const paired = { channel, chat_id, paired_at: iso(now) }
      const ops = [storePairing(null), storePairedChats([...chats, paired])]
      return { kind: 'command', ops, text: texts.paired(kernelId) }
    }
    default:
      return assertNever(tried)
  }
}

async function runChatCommand(context: ChatNeeds, word: ChatMessage): Promise<Effect | Message> {
  const { channel, chat_id, text } = word
  if (!text.trim().startsWith('/')) return { kind: 'message', text }
  const { kernelId, notifier } = context
  const texts = TEXTS[notifier.language()]
  const [, name = '', rest = ''] = /^\s*\/(\S*)\s*([\s\S]*)$/.exec(text) ?? []
  switch (`${name} ${/^notice$/i.test(name) ? rest : ''}`.toLowerCase().trim()) {
    case 'notice':
      return { kind: 'command', ops: [setNoticeTarget({ channel, chat_id })], text: texts.bound(kernelId) }
    case 'notice off':
      return { kind: 'command', ops: [setNoticeTarget('off')], text: texts.unbound(kernelId) }
    case 'status':
      return { kind: 'command', ops: [], text: texts.status(await summarizeStatus(context)) }
    case 'approvals':
      return { kind: 'command', ops: [], text: await listApprovals(context, texts) }
    case 'allow':
      return answerByCommand(context, 'allowed', rest)
    case 'deny':
      return answerByCommand(context, 'denied', rest)
    case 'to':
      return sendByCommand(context, word, rest)
    default:
      return { kind: 'command', ops: [], text: texts.help }
  }
}

async function listApprovals({ store }: Needs<'store'>, { nothingWaits }: ChatTexts): Promise<string> {
  const open = await store.approvals({ status: 'open', limit: MAX_OPEN })
  const lines = open.map(({ id, tool, args }) => {
    const call = clipText(JSON.stringify(args), MAX_ARGUMENTS)
    return `- ${tool} \`${call}\`\n  \`/allow ${shortId(id)}\` · \`/deny ${shortId(id)}\``
  })
  return lines.join('\n') || nothingWaits
}

/** `/allow ID`, `/deny ID reason`: the id may be short; without an id, the only open approval is meant. */
async function answerByCommand(context: ChatNeeds, answer: 'allowed' | 'denied', rest: string): Promise<Effect> {
  const [, typed = '', reason = ''] = /^(\S*)\s*([\s\S]*)$/.exec(rest.trim()) ?? []
  const open = await context.store.approvals({ status: 'open', limit: MAX_OPEN })
  const [only, second] = open.filter(({ id }) => typed === '' || [id, shortId(id)].some((one) => one.startsWith(typed)))
  const texts = TEXTS[context.notifier.language()]
  if (!only || second) {
    const text = [texts.whichApproval(typed), await listApprovals(context, texts)].join('\n')
    return { kind: 'command', ops: [], text }
  }
  const given = { approval_id: only.id, answer, reason: reason || null, grant: null }
  return { kind: 'command', ops: answerOps(given, context.clock.now()), text: texts[answer](only.tool) }
}

/** `/to SESSION text`: a message to one session. */
async function sendByCommand(context: ChatNeeds, word: ChatMessage, rest: string): Promise<Effect> {
  const texts = TEXTS[context.notifier.language()]
  const [, typed = '', text = ''] = /^(\S+)\s+([\s\S]+)$/.exec(rest.trim()) ?? []
  const sessions = typed === '' ? [] : await context.store.sessions({ limit: MAX_SESSIONS, archived: true })
  const [only, second] = sessions.filter(({ session_id: id }) => [id, shortId(id)].some((one) => one.startsWith(typed)))
  if (!only || second) return { kind: 'command', ops: [], text: texts.whichSession(typed) }
  const said = { id: `${word.channel} ${word.message_id}`, text }
  const op = publishOp(context, channelChat(word), only.session_id, said)
  return { kind: 'command', ops: [op], text: texts.sent(only.session_id) }
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

interface ChatTexts {
  bound(kernel: string): string
  unbound(kernel: string): string
  status(status: Status): string
  readonly help: string
  paired(kernel: string): string
  readonly wrongCode: string
  allowed(tool: string): string
  denied(tool: string): string
  readonly nothingWaits: string
  whichApproval(typed: string): string
  whichSession(typed: string): string
  sent(session: string): string
}

const TEXTS: Readonly<Record<Language, ChatTexts>> = {
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
    help: [
      'Write what you want in your own words, or send a command:',
      '/status · /approvals · /allow ID · /deny ID · /to SESSION text',
      '/notice (send notices to this chat) · /notice off',
    ].join('\n'),
    allowed: (tool) => `Allowed: ${tool}.`,
    denied: (tool) => `Denied: ${tool}.`,
    nothingWaits: 'Nothing waits for your approval.',
    whichApproval: (typed) => `Which call do you mean${typed === '' ? '' : ` by ${typed}`}? These wait:`,
    whichSession: (typed) => `No single session is called "${typed}". Send: /to SESSION text`,
    sent: (session) => `Sent to ${session}.`,
  },
  zh: {
    bound: (kernel) => `Kernel[${kernel}] 的通知今后发送到这里。发送 /notice off 可取消。`,
    unbound: (kernel) => `Kernel[${kernel}] 不再发送通知。发送 /notice 可恢复。`,
    status: (status) =>
      statusLines(status, ['状态', '下次心跳', '上一周期', '待执行 / 运行中 / 等待', '待审批', '今日花费', '健康']),
    paired: (kernel) => `本会话已与 Kernel[${kernel}] 配对。发送 /notice 可在此接收通知。`,
    wrongCode: '配对码错误或已失效。所有者可用 tireless channels pair NAME 获取新的配对码。',
    help: [
      '直接用自己的话说要做什么，或发送命令：',
      '/status · /approvals · /allow ID · /deny ID · /to SESSION 内容',
      '/notice（通知发送到本会话）· /notice off',
    ].join('\n'),
    allowed: (tool) => `已批准：${tool}。`,
    denied: (tool) => `已拒绝：${tool}。`,
    nothingWaits: '没有等待批准的调用。',
    whichApproval: (typed) => `你指的是哪一个${typed === '' ? '' : `（${typed}）`}？等待批准的有：`,
    whichSession: (typed) => `没有唯一名为“${typed}”的会话。发送：/to SESSION 内容`,
    sent: (session) => `已发送给 ${session}。`,
  },
}
