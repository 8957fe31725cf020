/** Chat commands that answer what waits for the owner: approvals, unknown outcomes, failed work. */

import type { Approval, ApprovalStatus } from '../../../domain/approval.ts'
import { clipText } from '../../../domain/clean-summary.ts'
import type { Language } from '../../../domain/language.ts'
import { shortId } from '../../../domain/short-id.ts'
import { codeSpan, showArguments } from '../../../domain/undisguised-text.ts'
import { RESOLUTIONS, type Resolution } from '../../../domain/unknown-outcome.ts'
import { answerOps } from '../../../kernel/conversation/answer-approval.ts'
import { resolveOps } from '../../unknowns.ts'
import type { Needs } from '../context.ts'
import { type ChatEffect, replyOnly } from './chat-effect.ts'

/** At most this many are listed. */
const MAX_LISTED = 50
/** At most this many are looked at. */
const MAX_READ = 1000
/** What was decided within this time may be what a part of an id means. */
const RECENT_MS = 24 * 3_600_000
const MAX_ARGUMENTS = 300
/** Shorter beginnings of ids are taken for typing errors. */
const MIN_TYPED = 3

type AnswerNeeds = Needs<'store' | 'clock'>

/** Contract: those whose id, or its short form, begins with what was typed; all of them if nothing was typed. */
export function matchingIds<T>(typed: string, all: readonly T[], idOf: (one: T) => string): readonly T[] {
  const same = all.filter((one) => idOf(one) === typed || shortId(idOf(one)) === typed)
  if (typed === '' || same.length > 0) return typed === '' ? all : same
  if (typed.length < MIN_TYPED) return []
  return all.filter((one) => [idOf(one), shortId(idOf(one))].some((id) => id.startsWith(typed)))
}

export async function listApprovals({ store }: Needs<'store'>, language: Language): Promise<string> {
  const open = await store.approvals({ status: 'open', limit: MAX_LISTED })
  const lines = open.map(
    (one) => `- ${describeCall(one)}\n  \`/allow ${shortId(one.id)}\` · \`/deny ${shortId(one.id)}\``,
  )
  return lines.join('\n') || TEXTS[language].nothingWaits
}

const describeCall = ({ tool, args }: Approval): string =>
  `${tool} ${codeSpan(clipText(showArguments(args), MAX_ARGUMENTS))}`

/**
 * `/allow ID`, `/deny ID reason`: without an id, the only open approval is meant. An answer to one that was answered
 * before, or has expired, changes nothing. Nor does a part of an id that could mean an open one and another: who
 * answers an old message again must not allow what waits now.
 */
export async function answerInChat(
  context: AnswerNeeds,
  answer: 'allowed' | 'denied',
  rest: string,
  language: Language,
): Promise<ChatEffect> {
  const [typed, reason] = firstWord(rest)
  const texts = TEXTS[language]
  const meant = await approvalsMeant(context, typed)
  const [only, second] = meant
  if (only?.status === 'open' && !second) {
    const given = { approval_id: only.id, answer, reason: reason || null, grant: null }
    return { kind: 'command', ops: answerOps(given, context.clock), text: texts[answer](describeCall(only)) }
  }
  if (only && meant.every(({ status }) => status !== 'open')) return replyOnly(texts.stale(only.tool, only.status))
  return replyOnly([texts.whichApproval(typed), await listApprovals(context, language)].join('\n'))
}

/** Contract: the one with this id; else those that a part of an id may mean; all open ones if nothing was typed. */
async function approvalsMeant({ store, clock }: AnswerNeeds, typed: string): Promise<readonly Approval[]> {
  if (typed === '') return store.approvals({ status: 'open', limit: MAX_READ })
  const exact = await store.approval(typed)
  if (exact) return [exact]
  const found = matchingIds(typed, await store.approvals({ limit: MAX_READ }), ({ id }) => id)
  const since = clock.now() - RECENT_MS
  const recent = found.filter(({ status, answered_at }) => status === 'open' || Date.parse(answered_at ?? '') >= since)
  return recent.length > 0 ? recent : found
}

const ALLOW = '(?:allow|approve|批准|允许|同意)'
const DENY = '(?:deny|refuse|拒绝|否决)'
const ID = '([0-9a-f]{3}[0-9a-f.-]*)'
/** A reason may follow only where it does no harm: "allow 100 requests per second" is a message. */
const ONE_LINE = new RegExp(`^\\s*(?:${ALLOW}\\s*${ID}|${DENY}\\s*${ID}(?:[\\s,，:：]+(\\S.*))?)\\s*$`, 'i')

/** Contract: whether the text has the form of an answer; it is one if there is such an approval. */
export const looksLikeAnswer = (text: string): boolean => ONE_LINE.test(text)

/**
 * `allow 3f2`, `拒绝 3f2 太贵`, as a whole message of one line. Contract: undefined if the message is something else,
 * also if no approval has such an id.
 */
export async function readOneLineAnswer(
  context: AnswerNeeds,
  text: string,
  language: Language,
): Promise<ChatEffect | undefined> {
  const [, allowed, denied, reason = ''] = ONE_LINE.exec(text) ?? []
  const id = allowed ?? denied
  if (id === undefined || (await approvalsMeant(context, id)).length === 0) return undefined
  return answerInChat(context, allowed === undefined ? 'denied' : 'allowed', `${id} ${reason}`, language)
}

/** `/resolve ID happened|not|recheck` */
export async function resolveInChat(
  context: Needs<'store' | 'clock' | 'ids'>,
  rest: string,
  language: Language,
): Promise<ChatEffect> {
  const [typed, as] = firstWord(rest)
  const texts = TEXTS[language]
  const all = await context.store.unknowns({})
  const [only, second] = matchingIds(
    typed,
    all.filter(({ status }) => status === 'open'),
    ({ id }) => id,
  )
  const resolution = RESOLUTIONS.find((one): one is Resolution => one === as.trim().toLowerCase())
  if (only && !second && resolution !== undefined)
    return { kind: 'command', ops: await resolveOps(context, only, resolution), text: texts.resolved(only.tool, as) }
  const old = only || typed === '' ? undefined : matchingIds(typed, all, ({ id }) => id)[0]
  if (old) return replyOnly(texts.stale(old.tool, old.resolution ?? old.status))
  const open = all.filter(({ status }) => status === 'open')
  const lines = open.map(({ id, tool }) => `- ${tool}: \`/resolve ${shortId(id)} happened|not|recheck\``)
  return replyOnly([texts.whichUnknown(typed), ...lines].join('\n'))
}

/** `/retry ID`: work that failed, or was set aside. */
export async function retryInChat(context: AnswerNeeds, rest: string, language: Language): Promise<ChatEffect> {
  const [typed] = firstWord(rest)
  const { store, clock } = context
  const [failed, dead] = await Promise.all(
    (['failed', 'dead'] as const).map((status) => store.dispatches({ status, limit: MAX_READ })),
  )
  const all = [...(failed ?? []), ...(dead ?? [])]
  const [only, second] = typed === '' ? [] : matchingIds(typed, all, ({ dispatch_id }) => dispatch_id)
  if (!only || second) return replyOnly(TEXTS[language].whichRun(typed))
  const { dispatch_id } = only
  const op = { op: 'retry', dispatch_id, now: clock.now() } as const
  return { kind: 'command', ops: [op], text: TEXTS[language].retried(shortId(dispatch_id)) }
}

/** Contract: the first word, and what follows it. */
export function firstWord(text: string): readonly [string, string] {
  const [, first = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(text.trim()) ?? []
  return [first, rest]
}

type Ending = Exclude<ApprovalStatus, 'open'> | string

const TEXTS = {
  en: {
    allowed: (call: string) => `Allowed: ${call}.`,
    denied: (call: string) => `Denied: ${call}.`,
    stale: (tool: string, ending: Ending) => `No effect: ${tool} was already decided (${ending}).`,
    nothingWaits: 'Nothing waits for your approval.',
    whichApproval: (typed: string) => `Which call do you mean${typed === '' ? '' : ` by ${typed}`}? These wait:`,
    resolved: (tool: string, as: string) => `Noted: ${tool}, ${as}.`,
    whichUnknown: (typed: string) =>
      `Which interrupted call do you mean${typed === '' ? '' : ` by ${typed}`}? Send: /resolve ID happened|not|recheck`,
    retried: (id: string) => `Queued again: ${id}.`,
    whichRun: (typed: string) => `No single failed run is called "${typed}". See: /queue list --status failed`,
  },
  zh: {
    allowed: (call: string) => `已批准：${call}。`,
    denied: (call: string) => `已拒绝：${call}。`,
    stale: (tool: string, ending: Ending) => `无效：${tool} 已经有结果（${ending}）。`,
    nothingWaits: '没有等待批准的调用。',
    whichApproval: (typed: string) => `你指的是哪一个${typed === '' ? '' : `（${typed}）`}？等待批准的有：`,
    resolved: (tool: string, as: string) => `已记录：${tool}，${as}。`,
    whichUnknown: (typed: string) =>
      `你指的是哪一个被中断的调用${typed === '' ? '' : `（${typed}）`}？发送：/resolve ID happened|not|recheck`,
    retried: (id: string) => `已重新排队：${id}。`,
    whichRun: (typed: string) => `没有唯一名为“${typed}”的失败任务。查看：/queue list --status failed`,
  },
} as const satisfies Record<Language, object>
