/**
 * Handles chat messages, once each. A message of a paired chat goes into the conversation, or runs a chat command,
 * whose reply is put into the outbox in the same commit. From any other chat only a pairing code that the owner has
 * requested is accepted; other messages get no reply and are not stored.
 */

import { hash } from 'node:crypto'
import { assertNever, asTirelessError } from '../../domain/error.ts'
import { type Language, languageOf } from '../../domain/language.ts'
import type { ChatMessage } from '../../domain/message.ts'
import { attachFiles, describeRefused, type ReadFiles, readFiles } from '../../kernel/conversation/attach-files.ts'
import { channelChat, type OwnerMessage } from '../../kernel/conversation/front-session.ts'
import { isPersonsChoice, NOTICE_SETTING, setNoticeTarget } from '../../kernel/notify/notice-target.ts'
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
import { withDeadline } from '../../ports/deadline.ts'
import { commitOne, type Op, type Store } from '../../ports/store.ts'
import { looksLikeAnswer } from './chat/answers.ts'
import { type ChatEffect, replyOnly } from './chat/chat-effect.ts'
import { inTurn } from './chat/message-queue.ts'
import {
  interruptedCommands,
  interruptedText,
  type NotedCommand,
  noteCommand,
  removeNote,
} from './chat/noted-commands.ts'
import { runChatCommand } from './chat/run-chat-command.ts'
import type { CommandContext, Needs } from './context.ts'
import { explainConflict, submitMessage } from './conversation.ts'

interface Handled {
  readonly duplicate: boolean
}

/** Most messages of a chat or thread that wait for their turn, and most guesses at a pairing code in a channel. */
const MAX_WAITING = 5000
const MAX_GUESSES = 20
/** The chat waits this long for a quick command. */
const QUICK_MS = 10_000
const PAIR = /^\s*\/pair\s+(\S{1,20})\s*$/i
/** A command whose files are sent on. */
const TO = /^\s*\/to(?:\s|$)/i

/**
 * Contract: handles each message id of a channel once; resolves when the result is on disk. The channel must not
 * acknowledge the message earlier. The caller has verified the sender. `proof`: evidence of the sender, such as a
 * signature, that is accepted only once. The messages of a chat or thread are handled in the order of the calls, and so
 * are its commands, which do not wait for the files of messages. Rejects with `channel_limited` if too many wait. A
 * stranger's message costs one look at the paired chats, and nothing else.
 */
export async function handleChatMessage(
  context: CommandContext,
  message: ChatMessage,
  proof?: string,
): Promise<Handled> {
  const { store } = context
  // In turn as well, because a store may answer the later of two questions first.
  const look = `look ${JSON.stringify(threadOf(message))}`
  const isOwner = await inTurn(store, look, Number.POSITIVE_INFINITY, () => isOwnersChat(context, message))
  if (!isOwner && !PAIR.test(message.text)) return { duplicate: false }
  const [queue, most] = isOwner ? [queueOf(message), MAX_WAITING] : [`strangers ${message.channel}`, MAX_GUESSES]
  // Files are read, and commands run, outside of the common order: they delay only their own chat.
  return inTurn(store, queue, most, async () => {
    const files = isOwner ? await filesOf(context, message) : undefined
    const { duplicate, finish } = await inOrder(store, () => handle(context, message, files, proof))
    await finish?.()
    return { duplicate }
  })
}

const threadOf = ({ channel, chat_id, thread_id }: ChatMessage) => [channel, chat_id, thread_id ?? null] as const

function queueOf(message: ChatMessage): string {
  const { text } = message
  const isCommand = !hasUsableFiles(message) && (text.trim().startsWith('/') || looksLikeAnswer(text))
  return JSON.stringify([isCommand ? 'commands' : 'messages', ...threadOf(message)])
}

/** One message at a time, so that every guess at a code counts. */
const inOrder = <T>(store: Store, work: () => Promise<T>): Promise<T> =>
  inTurn(store, '', Number.POSITIVE_INFINITY, work)

const hasUsableFiles = ({ text, files = [] }: ChatMessage): boolean =>
  files.length > 0 && (!text.trim().startsWith('/') || TO.test(text))

/** Contract: undefined if the message has no files, or is a command that takes none. */
async function filesOf({ clock }: Needs<'clock'>, message: ChatMessage): Promise<ReadFiles | undefined> {
  if (!hasUsableFiles(message)) return undefined
  return readFiles(clock, message.files ?? [], languageOf(message.text))
}

/** `finish`: what the chat waits for; the message counts as handled before. */
interface Handling extends Handled {
  finish?(): Promise<void>
}

async function handle(
  context: CommandContext,
  message: ChatMessage,
  files: ReadFiles | undefined,
  proof?: string,
): Promise<Handling> {
  const { channel, message_id } = message
  const isOwner = await isOwnersChat(context, message)
  const effect = isOwner ? await effectOf(context, message, files) : await tryPairing(context, message)
  if (!effect) return { duplicate: false }
  const hear: readonly Op[] = [
    { op: 'hear', channel, message_id, now: context.clock.borneOut() },
    ...(proof === undefined
      ? []
      : [{ op: 'hear', channel: `${channel} proof`, message_id: proof, now: context.clock.borneOut() } as const]),
  ]
  const ignored = ignoredFiles(context, message, effect)
  const reply = (text: string): readonly Op[] => [replyOp(context, message, [text, ...ignored].join('\n'))]
  switch (effect.kind) {
    case 'message': {
      const said = ownerMessage(context, message, files)
      const { duplicate } = await submitMessage(context, channelChat(message), said, { hear, reply })
      return { duplicate }
    }
    case 'run':
      return startCommand(context, message, effect, { hear, reply })
    case 'command':
      return commitCommand(context, effect, { hear, reply })
    default:
      return assertNever(effect)
  }
}

/** Contract: what to add to the reply to a command that came with files and does not take them. */
function ignoredFiles(
  { notifier }: Needs<'notifier'>,
  { text, files = [] }: ChatMessage,
  effect: ChatEffect,
): readonly string[] {
  const isTaken = effect.kind === 'message' || (effect.kind === 'command' && effect.takesFiles === true)
  return files.length === 0 || isTaken || text.trim() === '' ? [] : [TEXTS[notifier.language()].filesIgnored]
}

/** Contract: undefined if the message says nothing: there is nothing to answer, and no model is asked. */
async function effectOf(
  context: CommandContext,
  message: ChatMessage,
  files: ReadFiles | undefined,
): Promise<ChatEffect | undefined> {
  const hasText = message.text.trim() !== ''
  if (hasText) return runChatCommand(context, message, files)
  if (!files || files.files.length + files.refused.length === 0) return undefined
  const language = context.notifier.language()
  return files.files.length > 0 ? { kind: 'message' } : replyOnly(describeRefused(files.refused, language))
}

function ownerMessage(context: CommandContext, message: ChatMessage, files: ReadFiles | undefined): OwnerMessage {
  const { channel, message_id, text } = message
  const key = `${channel} ${message_id}`
  const said = { id: key, text }
  if (!files) return said
  const language = text.trim() === '' ? context.notifier.language() : languageOf(text)
  return { ...said, attach: attachFiles(context, { ...files, key, text, language }) }
}

/** The reply to a message: one id for each message, so that it is sent once. `which`: it is not the only one. */
function replyOp(
  { clock }: Needs<'clock'>,
  { channel, chat_id, message_id, thread_id }: NotedCommand,
  text: string,
  which = '',
): Op {
  const id = `reply-${hash('sha256', JSON.stringify([channel, message_id])).slice(0, 24)}${which}`
  const now = clock.now()
  const thread = thread_id === undefined ? {} : { thread_id }
  return { op: 'post', message: { id, channel, chat_id, kind: 'reply', text, ...thread }, due: now, now }
}

interface Receipt {
  readonly hear: readonly Op[]
  reply(text: string): readonly Op[]
}

async function commitCommand(
  { store }: Needs<'store'>,
  { ops, text, after }: Extract<ChatEffect, { kind: 'command' }>,
  { hear, reply }: Receipt,
): Promise<Handled> {
  try {
    const results = await commitOne<readonly Op[]>(store, [...hear, ...ops, ...reply(text)])
    after?.(results.slice(hear.length, hear.length + ops.length))
    return { duplicate: false }
  } catch (thrown) {
    const error = asTirelessError(thrown)
    if (error.code !== 'conflict') throw error
    const { duplicate } = await explainConflict(store, error, { hear, reply })
    return { duplicate }
  }
}

/** The message counts as handled once it is noted; the reply follows when the command has ended. */
async function startCommand(
  context: CommandContext,
  message: ChatMessage,
  { pace, run }: Extract<ChatEffect, { kind: 'run' }>,
  { hear, reply }: Receipt,
): Promise<Handling> {
  const { store, clock, notifier } = context
  try {
    await noteCommand(context, message, hear)
  } catch (thrown) {
    if (asTirelessError(thrown).code === 'conflict') return { duplicate: true }
    throw thrown
  }
  // If the store is closed meanwhile, the note remains, and the next start says what happened.
  const end = (): Promise<unknown> =>
    run()
      .then((text) => answerNoted(context, message, reply(text)))
      .catch(() => {})
  const sayLater = (): Promise<unknown> =>
    commitOne(store, [replyOp(context, message, TEXTS[notifier.language()].takesLonger(message.text), '-later')])
  const finish = async (): Promise<void> => {
    if (pace === 'slow') void end()
    else await withDeadline({ clock, ms: QUICK_MS }, end, sayLater)
  }
  return { duplicate: false, finish }
}

const answerNoted = ({ store }: Needs<'store'>, noted: NotedCommand, reply: readonly Op[]): Promise<unknown> =>
  inOrder(store, () => removeNote(store, noted, reply))

/** Contract: tells the chats of commands that a process left unanswered; call it before messages arrive. */
export async function tellInterruptedCommands(context: Needs<'clock' | 'notifier' | 'store'>): Promise<void> {
  for (const noted of await interruptedCommands(context))
    await answerNoted(context, noted, [
      replyOp(context, noted, interruptedText(noted.text, context.notifier.language())),
    ])
}

/** Checks the pairing code in a message of an unpaired chat; undefined: it has no code, or none is expected. */
async function tryPairing(
  { store, clock, kernelId, notifier, channels }: Needs<'store' | 'clock' | 'kernelId' | 'notifier' | 'channels'>,
  { channel, chat_id, text }: ChatMessage,
): Promise<ChatEffect | undefined> {
  const [, code] = PAIR.exec(text) ?? []
  if (code === undefined) return undefined
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
      const ownChat = channels.get(channel)?.ownChat?.() ?? null
      const isFirst = !isPersonsChoice(await store.setting(NOTICE_SETTING), { channel, ownChat })
      const binding = isFirst ? [setNoticeTarget({ channel, chat_id })] : []
      const ops = [storePairing(null), storePairedChats([...chats, paired]), ...binding]
      return { kind: 'command', ops, text: isFirst ? texts.pairedAndBound(kernelId) : texts.paired(kernelId) }
    }
    default:
      return assertNever(tried)
  }
}

const TEXTS = {
  en: {
    pairedAndBound: (kernel: string) => `This chat is paired with Kernel[${kernel}]. Its notices come here.`,
    paired: (kernel: string) => `This chat is paired with Kernel[${kernel}]. Send /notice to get its notices here.`,
    wrongCode: 'Wrong or expired pairing code. The owner can get a new one: tireless channels pair NAME',
    filesIgnored: 'The files of this message were ignored: this command takes none.',
    takesLonger: (command: string) => `${command} takes longer. The reply follows when it has ended.`,
  },
  zh: {
    pairedAndBound: (kernel: string) => `本会话已与 Kernel[${kernel}] 配对，通知将发到这里。`,
    paired: (kernel: string) => `本会话已与 Kernel[${kernel}] 配对。发送 /notice 可在此接收通知。`,
    wrongCode: '配对码错误或已失效。所有者可用 tireless channels pair NAME 获取新的配对码。',
    filesIgnored: '本消息的文件已忽略：此命令不接收文件。',
    takesLonger: (command: string) => `${command} 需要更长时间，完成后会回复。`,
  },
} as const satisfies Record<Language, object>
