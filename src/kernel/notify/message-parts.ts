/**
 * The parts in which a message leaves: its text, split as the channel needs, then its files, one by one.
 * Must not know: how parts are delivered, which of them were.
 * Invariants: pure; the same message has the same parts with the same ids at each attempt, so that a part that is sent
 * again after a crash can be recognised; a file that cannot be sent is named, never dropped.
 */

import { clipText } from '../../domain/clean-summary.ts'
import { type Language, languageOf } from '../../domain/language.ts'
import type { ChannelMessage, MessageFile, OutboxMessage } from '../../domain/message.ts'
import { splitMarkdown } from '../../domain/split-markdown.ts'
import type { Channel } from '../../ports/channel.ts'

/** Why a file cannot be sent. */
export type FileProblem = 'missing' | 'too_large' | 'outside' | 'refused'

type ChannelLimits = Pick<Channel, 'maxText' | 'sendsFiles' | 'replaces'>

export function planParts(posted: OutboxMessage, channel: ChannelLimits): readonly ChannelMessage[] {
  const { id, chat_id, kind, ts, thread_id, card, revision, provider_id } = posted
  const shared = { chat_id, kind, ts, ...(thread_id === undefined ? {} : { thread_id }) }
  const max = channel.maxText ?? Number.POSITIVE_INFINITY
  if (card) {
    const replaces = channel.replaces && provider_id !== null ? provider_id : undefined
    const text = posted.text.length <= max ? posted.text : clipText(posted.text, Math.floor(max / 2))
    // A new version has an id of its own: a receiver that knows the id of the first one would ignore it. Where versions
    // are replaced, one that may be the first keeps the id, so that it is not shown beside the version before it.
    const isFirst = revision === 0 || (channel.replaces && replaces === undefined)
    const own = { id: isFirst ? id : `${id}.v${revision + 1}`, ...(replaces === undefined ? {} : { replaces }) }
    return [{ ...own, ...shared, text, card }]
  }
  const { files = [] } = posted
  const text = channel.sendsFiles ? posted.text : withFileNames(posted.text, files)
  const texts = splitMarkdown(text, max).map((part) => ({ text: part }))
  const attached = channel.sendsFiles ? files.map((file) => ({ text: '', file })) : []
  return [...texts, ...attached].map((part, at) => ({ ...part, ...shared, id: at === 0 ? id : `${id}.${at + 1}` }))
}

/** Contract: the part without its file, in words for a person. */
export function explainFile(part: ChannelMessage, problem: FileProblem, message: string): ChannelMessage {
  const { file, ...rest } = part
  return { ...rest, text: WORDS[languageOf(message)][problem](file?.name ?? '') }
}

/** Names the files that the text does not mention. */
function withFileNames(text: string, files: readonly MessageFile[]): string {
  const unnamed = files.map(({ name }) => name).filter((name) => !text.includes(name))
  return unnamed.length === 0 ? text : `${text}\n\n${WORDS[languageOf(text)].files}: ${unnamed.join(', ')}`
}

const WORDS = {
  en: {
    files: 'Files',
    missing: (name: string) => `The file ${name} is gone, so it could not be sent.`,
    too_large: (name: string) => `The file ${name} is too large to be sent here. It is in the workspace.`,
    refused: (name: string) => `The file ${name} was not accepted here. It is in the workspace.`,
    outside: (name: string) => `The file ${name} was not sent: it leads out of the workspace.`,
  },
  zh: {
    files: '文件',
    missing: (name: string) => `文件 ${name} 已不存在，无法发送。`,
    too_large: (name: string) => `文件 ${name} 太大，无法在此发送。它在工作区中。`,
    refused: (name: string) => `文件 ${name} 在此不被接受。它在工作区中。`,
    outside: (name: string) => `文件 ${name} 没有发送：它指向工作区之外。`,
  },
} as const satisfies Record<Language, object>
