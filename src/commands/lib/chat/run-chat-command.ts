/** Reads a message of a paired chat: one of the chat's own commands, a command of the command line, or plain words. */

import { type Language, languageOf } from '../../../domain/language.ts'
import type { ChatMessage } from '../../../domain/message.ts'
import { attachFiles, type ReadFiles } from '../../../kernel/conversation/attach-files.ts'
import { channelChat, sessionOps } from '../../../kernel/conversation/front-session.ts'
import { setNoticeTarget } from '../../../kernel/notify/notice-target.ts'
import { summarizeStatus } from '../../status.ts'
import type { CommandContext } from '../context.ts'
import {
  answerInChat,
  firstWord,
  listApprovals,
  matchingIds,
  readOneLineAnswer,
  resolveInChat,
  retryInChat,
} from './answers.ts'
import { type ChatEffect, replyOnly } from './chat-effect.ts'
import { chooseChatModel } from './model-command.ts'
import { stopWork } from './stop-command.ts'
import { chatVerbs, nearestVerb, runVerb } from './verbs.ts'

const MAX_SESSIONS = 1000

/** Contract: `files`: those that came with the message, if it is no command or one that takes files. */
export async function runChatCommand(
  context: CommandContext,
  message: ChatMessage,
  files?: ReadFiles,
): Promise<ChatEffect> {
  const text = message.text.trim()
  if (!text.startsWith('/')) return (await readOneLineAnswer(context, text, languageOf(text))) ?? { kind: 'message' }
  const language = context.notifier.language()
  const [typed, rest] = firstWord(text.slice(1))
  const name = typed.toLowerCase()
  const own = Object.hasOwn(OWN, name) ? OWN[name] : undefined
  if (own) return own({ context, message, rest, language, ...(files && { files }) })
  const verb = await runVerb(context, message, text.slice(1), language)
  return (
    verb ?? replyOnly([help(language), TEXTS[language].unknown(typed, nearestVerb(name, Object.keys(OWN)))].join('\n'))
  )
}

interface TypedCommand {
  readonly context: CommandContext
  readonly message: ChatMessage
  readonly rest: string
  readonly language: Language
  readonly files?: ReadFiles
}

/** The chat's own commands. A command of the command line with the same name is used if there are more words. */
const OWN: Readonly<Record<string, (typed: TypedCommand) => Promise<ChatEffect>>> = {
  help: async ({ language }) => replyOnly(help(language)),
  notice: chooseNoticeTarget,
  status: async ({ context, language }) => replyOnly(statusLines(await summarizeStatus(context), language)),
  approvals: async (typed) =>
    typed.rest === '' ? replyOnly(await listApprovals(typed.context, typed.language)) : runAsVerb(typed, 'approvals'),
  allow: ({ context, rest, language }) => answerInChat(context, 'allowed', rest, language),
  deny: ({ context, rest, language }) => answerInChat(context, 'denied', rest, language),
  resolve: ({ context, rest, language }) => resolveInChat(context, rest, language),
  retry: ({ context, rest, language }) => retryInChat(context, rest, language),
  model: ({ context, message, rest, language }) => chooseChatModel(context, message, rest, language),
  stop: ({ context, message, rest, language }) => stopWork(context, channelChat(message).reply_to, rest, language),
  to: sendToSession,
}

/** `/approvals show ID`: an answer goes through the chat's own command, so that it is given once. */
async function runAsVerb({ context, message, rest, language }: TypedCommand, name: string): Promise<ChatEffect> {
  const [verb, more] = firstWord(rest)
  if (verb === 'allow' || verb === 'deny')
    return answerInChat(context, verb === 'allow' ? 'allowed' : 'denied', more, language)
  return (await runVerb(context, message, `${name} ${rest}`, language)) ?? replyOnly(help(language))
}

async function chooseNoticeTarget({ context, message, rest, language }: TypedCommand): Promise<ChatEffect> {
  const { channel, chat_id } = message
  const texts = TEXTS[language]
  if (/^off$/i.test(rest.trim()))
    return { kind: 'command', ops: [setNoticeTarget('off')], text: texts.unbound(context.kernelId) }
  if (rest.trim() !== '') return replyOnly(help(language))
  return { kind: 'command', ops: [setNoticeTarget({ channel, chat_id })], text: texts.bound(context.kernelId) }
}

/** `/to SESSION text`: a message to one session, with its files. */
async function sendToSession({ context, message, rest, language, files }: TypedCommand): Promise<ChatEffect> {
  const texts = TEXTS[language]
  const [typed, text] = firstWord(rest)
  const sessions = typed === '' ? [] : await context.store.sessions({ limit: MAX_SESSIONS, archived: true })
  const [only, second] = matchingIds(typed, sessions, ({ session_id }) => session_id)
  if (!only || second || (text === '' && !files?.files.length)) return replyOnly(texts.whichSession(typed))
  const id = `${message.channel} ${message.message_id}`
  const attach = files && attachFiles(context, { ...files, key: id, text, language })
  const said = { id, text, ...(attach && { attach }) }
  const { ops, note } = await sessionOps(context, channelChat(message), only.session_id, said)
  const told = [texts.sent(only.session_id), ...(note === undefined ? [] : [note])].join('\n')
  return { kind: 'command', ops, text: told, takesFiles: true }
}

type Status = Awaited<ReturnType<typeof summarizeStatus>>

function statusLines({ kernel, queue, spend, health, approvals }: Status, language: Language): string {
  const values = [
    kernel.state,
    kernel.next_beat ?? '-',
    kernel.last_cycle?.status ?? '-',
    `${queue.pending} / ${queue.running} / ${queue.waiting}`,
    String(approvals),
    `${(spend.today_usd ?? 0).toFixed(2)} USD`,
    health.ok ? 'ok' : health.reasons.join('; '),
  ]
  const lines = TEXTS[language].status.map((label, i) => `- ${label}: ${values[i]}`)
  return [`Kernel[${kernel.id}]`, ...lines].join('\n')
}

function help(language: Language): string {
  const groups = [...new Set(chatVerbs().map((name) => `/${name}`))].filter((name) => name !== '/status')
  return [...TEXTS[language].help, groups.join(' · ')].join('\n')
}

const TEXTS = {
  en: {
    unknown: (name: string, nearest: string) => `There is no /${name}. Did you mean /${nearest}?`,
    bound: (kernel: string) => `Notices of Kernel[${kernel}] now come to this chat. Send /notice off to stop them.`,
    unbound: (kernel: string) => `Kernel[${kernel}] sends no more notices. Send /notice to restart them.`,
    status: [
      ...['state', 'next beat', 'last cycle', 'pending / running / waiting'],
      ...['approvals', 'spent today', 'health'],
    ],
    whichSession: (typed: string) => `No single session is called "${typed}". Send: /to SESSION text`,
    sent: (session: string) => `Sent to ${session}.`,
    help: [
      'Write what you want in your own words, or send a command:',
      '/status · /approvals · /allow ID · /deny ID reason · /resolve ID happened|not|recheck · /retry ID',
      '/model (the model of this chat) · /stop (what runs for this chat) · /to SESSION text',
      '/notice (send notices to this chat) · /notice off',
      'Also:',
    ],
  },
  zh: {
    unknown: (name: string, nearest: string) => `没有 /${name} 这个命令。你是指 /${nearest} 吗？`,
    bound: (kernel: string) => `Kernel[${kernel}] 的通知今后发送到这里。发送 /notice off 可取消。`,
    unbound: (kernel: string) => `Kernel[${kernel}] 不再发送通知。发送 /notice 可恢复。`,
    status: ['状态', '下次心跳', '上一周期', '待执行 / 运行中 / 等待', '待审批', '今日花费', '健康'],
    whichSession: (typed: string) => `没有唯一名为“${typed}”的会话。发送：/to SESSION 内容`,
    sent: (session: string) => `已发送给 ${session}。`,
    help: [
      '直接用自己的话说要做什么，或发送命令：',
      '/status · /approvals · /allow ID · /deny ID 原因 · /resolve ID happened|not|recheck · /retry ID',
      '/model（本会话的模型）· /stop（停止本会话的任务）· /to SESSION 内容',
      '/notice（通知发送到本会话）· /notice off',
      '还有：',
    ],
  },
} as const satisfies Record<Language, object>
