/** Chat commands that answer what waits for the owner: approvals, unknown outcomes, failed work. */

import type { Approval, ApprovalStatus } from '../../../domain/approval.ts'
import { clipText } from '../../../domain/clean-summary.ts'
import type { Language } from '../../../domain/language.ts'
import { shortId } from '../../../domain/short-id.ts'
import { RESOLUTIONS, type Resolution } from '../../../domain/unknown-outcome.ts'
import { answerOps } from '../../../kernel/conversation/answer-approval.ts'
import { resolveOps } from '../../unknowns.ts'
import type { Needs } from '../context.ts'
import { type ChatEffect, replyOnly } from './chat-effect.ts'

/** At most this many open approvals, and old ones, are looked at. */
const MAX_OPEN = 50
const MAX_OLD = 1000
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
  const open = await store.approvals({ status: 'open', limit: MAX_OPEN })
  const lines = open.map(({ id, tool, args }) => {
    const call = clipText(JSON.stringify(args), MAX_ARGUMENTS)
    return `- ${tool} \`${call}\`\n  \`/allow ${shortId(id)}\` · \`/deny ${shortId(id)}\``
  })
  return lines.join('\n') || TEXTS[language].nothingWaits
}

/**
 * `/allow ID`, `/deny ID reason`: without an id, the only open approval is meant. An answer to one that was answered
 * before, or has expired, changes nothing.
 */
export async function answerInChat(
  context: AnswerNeeds,
  answer: 'allowed' | 'denied',
  rest: string,
  language: Language,
): Promise<ChatEffect> {
  const [typed, reason] = firstWord(rest)
  const texts = TEXTS[language]
  const open = await context.store.approvals({ status: 'open', limit: MAX_OPEN })
  const [only, second] = matchingIds(typed, open, ({ id }) => id)
  if (only && !second) {
    const given = { approval_id: only.id, answer, reason: reason || null, grant: null }
    return { kind: 'command', ops: answerOps(given, context.clock.now()), text: texts[answer](only.tool) }
  }
  const old = only || typed === '' ? undefined : await findAnswered(context, typed)
  if (old) return replyOnly(texts.stale(old.tool, old.status))
  return replyOnly([texts.whichApproval(typed), await listApprovals(context, language)].join('\n'))
}

const findAnswered = async ({ store }: Needs<'store'>, typed: string): Promise<Approval | undefined> =>
  matchingIds(typed, await store.approvals({ limit: MAX_OLD }), ({ id }) => id).find(({ status }) => status !== 'open')

const ALLOW = '(?:allow|approve|批准|允许|同意)'
const DENY = '(?:deny|refuse|拒绝|否决)'
const ONE_LINE = new RegExp(`^\\s*(?:(${ALLOW})|${DENY})\\s*([0-9a-f]{3}[0-9a-f.-]*)(?:[\\s,，:：]+(\\S.*))?\\s*$`, 'i')

/**
 * `allow 3f2`, `拒绝 3f2 太贵`, as a whole message of one line. Contract: undefined if the message is something else,
 * also if no approval has such an id.
 */
export async function readOneLineAnswer(
  context: AnswerNeeds,
  text: string,
  language: Language,
): Promise<ChatEffect | undefined> {
  const [, allow, id = '', reason = ''] = ONE_LINE.exec(text) ?? []
  if (id === '') return undefined
  const known = matchingIds(id, await context.store.approvals({ limit: MAX_OLD }), (approval) => approval.id)
  if (known.length === 0) return undefined
  return answerInChat(context, allow === undefined ? 'denied' : 'allowed', `${id} ${reason}`, language)
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
    (['failed', 'dead'] as const).map((status) => store.dispatches({ status, limit: MAX_OLD })),
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
    allowed: (tool: string) => `Allowed: ${tool}.`,
    denied: (tool: string) => `Denied: ${tool}.`,
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
    allowed: (tool: string) => `已批准：${tool}。`,
    denied: (tool: string) => `已拒绝：${tool}。`,
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
