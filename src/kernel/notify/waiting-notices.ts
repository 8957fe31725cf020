/**
 * Notices of what waits for the owner: a call that needs approval, a call whose outcome is unknown.
 * Must not know: the recipient, the channel, quiet hours.
 * Invariants: one id for each thing that waits, so that it is told once; the whole id and what to type are told.
 */

import type { Approval } from '../../domain/approval.ts'
import { clipText } from '../../domain/clean-summary.ts'
import { type Language, languageOf } from '../../domain/language.ts'
import { shortId } from '../../domain/short-id.ts'
import type { UnknownOutcome } from '../../domain/unknown-outcome.ts'
import { fallbackIfUnreadable, type Store } from '../../ports/store.ts'
import { readTalk } from '../conversation/expectations.ts'

/** Maximum characters of a call's arguments in a notice; `approvals show` prints them in full. */
const MAX_ARGUMENTS = 1500
/** At most this many open approvals are read; the others follow when these are answered. */
const MAX_APPROVALS = 100

interface WaitingNotice {
  readonly id: string
  readonly text: string
  /** The instant from which it is too late to answer; null: never. */
  readonly expires: number | null
  /** The chats of the conversation to which it belongs; empty: it goes to the target of notices. */
  readonly chats: readonly { readonly channel: string; readonly chat_id: string | null }[]
}

/** Contract: a notice for each open approval and unknown outcome; without those in `told` and unreadable rows. */
export async function readWaitingNotices(
  store: Pick<Store, 'approvals' | 'unknowns' | 'dispatch' | 'journal'>,
  language: Language,
  told: ReadonlySet<string>,
): Promise<readonly WaitingNotice[]> {
  const approvals = await fallbackIfUnreadable(store.approvals({ status: 'open', limit: MAX_APPROVALS }), [])
  const unknowns = await fallbackIfUnreadable(store.unknowns({ status: 'open' }), [])
  const untold = approvals.filter(({ id }) => !told.has(approvalNoticeId(id)))
  return [
    ...(await Promise.all(untold.map((approval) => approvalNotice(store, approval, language)))),
    ...unknowns.map((unknown) => unknownNotice(unknown, language)).filter(({ id }) => !told.has(id)),
  ]
}

/** Contract: the sessions of which `readWaitingNotices` tells. */
export async function sessionsThatWait(store: Pick<Store, 'approvals' | 'unknowns'>): Promise<ReadonlySet<string>> {
  const approvals = await fallbackIfUnreadable(store.approvals({ status: 'open', limit: MAX_APPROVALS }), [])
  const unknowns = await fallbackIfUnreadable(store.unknowns({ status: 'open' }), [])
  return new Set([...approvals, ...unknowns].map(({ session_id }) => session_id))
}

/** Contract: whether the message is a notice of something that no longer waits, because it was answered or expired. */
export async function isAnswered(store: Pick<Store, 'approval' | 'unknowns'>, messageId: string): Promise<boolean> {
  if (messageId.startsWith(APPROVAL)) {
    const approval = await fallbackIfUnreadable(store.approval(messageId.slice(APPROVAL.length)), undefined)
    return approval !== undefined && approval.status !== 'open'
  }
  if (!messageId.startsWith(UNKNOWN)) return false
  const open = await fallbackIfUnreadable(store.unknowns({ status: 'open' }), undefined)
  return open !== undefined && !open.some(({ id }) => `${UNKNOWN}${id}` === messageId)
}

/** Beginnings of the ids of the notices. */
const APPROVAL = 'approval-'
const UNKNOWN = 'unknown-'

const approvalNoticeId = (id: string): string => `${APPROVAL}${id}`

async function approvalNotice(
  store: Pick<Store, 'dispatch' | 'journal'>,
  approval: Approval,
  language: Language,
): Promise<WaitingNotice> {
  const run = await fallbackIfUnreadable(store.dispatch(approval.origin.run_id), undefined)
  const { targets, said } = run ? await readTalk(store, run) : { targets: [], said: '' }
  const chats = targets.flatMap((to) => ('channel' in to ? [{ channel: to.channel, chat_id: to.chat }] : []))
  const text = chats.length > 0 ? approvalInChat(approval, languageOf(said)) : approvalText(approval, language)
  return { id: approvalNoticeId(approval.id), text, expires: Date.parse(approval.expires_at), chats }
}

/** In a chat, the answer is a command of the chat. */
function approvalInChat({ id, tool, args, reason }: Approval, language: Language): string {
  const words = WORDS[language]
  return [
    `**${words.approval(tool)}**`,
    `- ${words.arguments}: \`${argumentsText(args)}\``,
    `- ${words.why}: ${reason}`,
    `- ${words.allow}: \`/allow ${shortId(id)}\``,
    `- ${words.deny}: \`/deny ${shortId(id)}\``,
  ].join('\n')
}

function approvalText({ id, tool, args, reason, session_id, expires_at }: Approval, language: Language): string {
  const words = WORDS[language]
  return [
    words.approval(tool),
    `- ${words.arguments}: ${argumentsText(args)}`,
    `- ${words.why}: ${reason}`,
    `- ${words.session}: ${session_id}`,
    `- ${words.allow}: tireless approvals allow ${id}`,
    `- ${words.deny}: tireless approvals deny ${id}`,
    `- ${words.expires}: ${expires_at}`,
  ].join('\n')
}

function unknownNotice({ id, tool, args, session_id }: UnknownOutcome, language: Language): WaitingNotice {
  const words = WORDS[language]
  const text = [
    words.unknown(tool),
    `- ${words.arguments}: ${argumentsText(args)}`,
    `- ${words.session}: ${session_id}`,
    `- ${words.resolve}: tireless unknowns resolve ${id} --as happened|not|recheck`,
  ].join('\n')
  return { id: `${UNKNOWN}${id}`, text, expires: null, chats: [] }
}

const argumentsText = (args: Approval['args']): string => clipText(JSON.stringify(args), MAX_ARGUMENTS)

const WORDS = {
  en: {
    approval: (tool: string) => `${tool} needs your approval`,
    unknown: (tool: string) => `${tool} was interrupted, and whether it happened is unknown`,
    arguments: 'arguments',
    why: 'why',
    session: 'session',
    allow: 'to allow it',
    deny: 'to deny it',
    expires: 'expires',
    resolve: 'to say what happened',
  },
  zh: {
    approval: (tool: string) => `${tool} 需要你批准`,
    unknown: (tool: string) => `${tool} 被中断，不知道是否已经执行`,
    arguments: '参数',
    why: '原因',
    session: '会话',
    allow: '批准',
    deny: '拒绝',
    expires: '过期时间',
    resolve: '告知结果',
  },
} as const satisfies Record<Language, object>
