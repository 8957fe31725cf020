/**
 * The texts of what waits for the owner, in English and Chinese. Pure.
 * Must not know: the channel, the time.
 */

import type { Approval } from '../../domain/approval.ts'
import { clipText } from '../../domain/clean-summary.ts'
import type { Json } from '../../domain/json.ts'
import type { Language } from '../../domain/language.ts'
import type { MessageAction } from '../../domain/message.ts'
import { shortId } from '../../domain/short-id.ts'
import { codeSpan, quoteLines, showArguments, showUnseen } from '../../domain/undisguised-text.ts'
import { RESOLUTIONS, type UnknownOutcome } from '../../domain/unknown-outcome.ts'
import type { AskedQuestion } from '../../ports/message-sender.ts'
import type { ItemOutcome, ItemTexts } from './waiting-items.ts'

/** Maximum characters of a call's arguments in a message; `approvals show` prints them in full. */
const MAX_ARGUMENTS = 1500
/** At least so much of them is shown, however many items a card has. */
const MIN_ARGUMENTS = 40
const MAX_QUESTION = 3000
const MIN_QUESTION = 400
const MAX_SUBJECT = 160
const MAX_REASON = 300
const MAX_PLACE = 120
/** At most so many places that a call sends to are named, those that untrusted text named first. */
const MAX_PLACES = 5

/** Where a call comes from. */
interface CallOrigin {
  readonly agent_id: string | null
  /** The agent works with text of which the owner is not the author. */
  readonly isUntrusted: boolean
}

export function approvalTexts(
  approval: Approval,
  origin: CallOrigin,
  { language, isChat }: { readonly language: Language; readonly isChat: boolean },
): ItemTexts {
  const { id, tool, args, reason } = approval
  const words = WORDS[language]
  const short = shortId(id)
  return {
    subject: subjectOf(tool, args),
    describe: (mostBytes) =>
      withArguments(
        [
          `**${words.approval(tool)}**`,
          `- ${words.why}: ${reasonText(reason)}`,
          ...originLines(approval, origin, language),
          `- ${words.expires}: ${approval.expires_at}`,
        ],
        { args, language, mostBytes },
      ),
    alone: isChat ? approvalInChat(approval, language) : approvalText(approval, language),
    actions: [
      { label: words.allowButton, command: `/allow ${id}`, style: 'primary' },
      { label: words.denyButton, command: `/deny ${id}`, style: 'danger' },
    ],
    commands: `\`/allow ${short}\` · \`/deny ${short}\``,
    terminalCommands: `tireless approvals allow ${id} · tireless approvals deny ${id}`,
  }
}

/** In a chat, the answer is a command of the chat. */
function approvalInChat({ id, tool, args, reason }: Approval, language: Language): string {
  const words = WORDS[language]
  return [
    `**${words.approval(tool)}**`,
    `- ${words.arguments}: ${argumentsText(args)}`,
    `- ${words.why}: ${reasonText(reason)}`,
    `- ${words.allow}: \`/allow ${shortId(id)}\``,
    `- ${words.deny}: \`/deny ${shortId(id)}\``,
  ].join('\n')
}

function approvalText({ id, tool, args, reason, session_id, expires_at }: Approval, language: Language): string {
  const words = WORDS[language]
  return [
    words.approval(tool),
    `- ${words.arguments}: ${argumentsText(args)}`,
    `- ${words.why}: ${reasonText(reason)}`,
    `- ${words.session}: ${session_id}`,
    `- ${words.allow}: tireless approvals allow ${id}`,
    `- ${words.deny}: tireless approvals deny ${id}`,
    `- ${words.expires}: ${expires_at}`,
  ].join('\n')
}

/** Who makes the call, and which text named the places that it sends to. */
function originLines({ session_id, sinks }: Approval, origin: CallOrigin, language: Language): readonly string[] {
  const words = WORDS[language]
  const shown = sinks.toSorted((a, b) => Number(a.trusted) - Number(b.trusted)).slice(0, MAX_PLACES)
  const named = shown.map(({ to, from, trusted }) => {
    const [place, source] = [to, from].map((text) => clipText(showUnseen(text), MAX_PLACE))
    return `- ${words.sendsTo}: ${place} (${source}${trusted ? '' : `; ${words.untrusted}`})`
  })
  const more = sinks.length > shown.length ? [`- ${words.sendsTo}: … +${sinks.length - shown.length}`] : []
  return [originLine(session_id, origin, language), ...named, ...more]
}

function originLine(session_id: string, { agent_id, isUntrusted }: CallOrigin, language: Language): string {
  const words = WORDS[language]
  const agent = agent_id === null ? [] : [`${words.agent} ${agent_id}`]
  const label = isUntrusted ? [words.readsUntrusted] : []
  return `- ${words.from}: ${[...agent, `${words.session} ${shortId(session_id)}`, ...label].join(' · ')}`
}

export function unknownTexts(unknown: UnknownOutcome, origin: CallOrigin, language: Language): ItemTexts {
  const { id, tool, args, session_id } = unknown
  const words = WORDS[language]
  return {
    subject: subjectOf(tool, args),
    describe: (mostBytes) =>
      withArguments([`**${words.unknown(tool)}**`, originLine(session_id, origin, language)], {
        ...{ args, language, mostBytes },
      }),
    alone: [
      words.unknown(tool),
      `- ${words.arguments}: ${argumentsText(args)}`,
      `- ${words.session}: ${session_id}`,
      `- ${words.resolve}: tireless unknowns resolve ${id} --as happened|not|recheck`,
    ].join('\n'),
    actions: RESOLUTIONS.map(
      (as): MessageAction => ({ label: words.resolveButtons[as], command: `/resolve ${id} ${as}` }),
    ),
    commands: `\`/resolve ${shortId(id)} happened|not|recheck\``,
    terminalCommands: `tireless unknowns resolve ${id} --as happened|not|recheck`,
  }
}

export function questionTexts({ question, session_id, agent_id }: AskedQuestion, language: Language): ItemTexts {
  const words = WORDS[language]
  const answer = `tireless send --session ${session_id} "…"`
  const commands = `\`/to ${shortId(session_id)} …\``
  const [head, tail] = [`**${words.asks(agent_id)}**\n`, `\n- ${words.answer}: ${commands}`]
  return {
    subject: showUnseen(clipText(question.replaceAll(/\s+/g, ' '), MAX_SUBJECT)),
    describe: (mostBytes) => {
      const left = Math.max(MIN_QUESTION, mostBytes - jsonBytes(head + tail))
      return head + clipToBytes(question, Math.min(MAX_QUESTION, question.length), { left, show: quoteLines }) + tail
    },
    alone: `${quoteLines(question)}\n\n${words.askedBy(agent_id, answer)}`,
    actions: [],
    commands,
    terminalCommands: answer,
  }
}

/** The line that tells how to answer in the chat, under a text for the terminal. */
export const answerHere = (commands: string, language: Language): string => `- ${WORDS[language].here}: ${commands}`

export const cardTitle = (open: number, language: Language): string => WORDS[language].title(open)

/** Contract: what became of an item. */
export const settledText = (subject: string, outcome: ItemOutcome, language: Language): string =>
  `${codeSpan(subject)} — **${WORDS[language].outcomes[outcome]}**`

const subjectOf = (tool: string, args: Json): string => clipText(`${tool} ${showArguments(args)}`, MAX_SUBJECT)

const reasonText = (reason: string): string => clipText(showUnseen(reason), MAX_REASON)

const argumentsText = (args: Json): string => codeSpan(clipText(showArguments(args), MAX_ARGUMENTS))

/** The arguments come last, because the text is clipped at its end. */
function withArguments(
  lines: readonly string[],
  { args, language, mostBytes }: { readonly args: Json; readonly language: Language; readonly mostBytes: number },
): string {
  const head = `${lines.join('\n')}\n- ${WORDS[language].arguments}: `
  const left = Math.max(MIN_ARGUMENTS, mostBytes - jsonBytes(head))
  return head + clipToBytes(showArguments(args), MAX_ARGUMENTS, { left, show: codeSpan })
}

/** The beginning of the text that takes at most `left` bytes when it is shown. */
function clipToBytes(
  text: string,
  most: number,
  { left, show }: { readonly left: number; show(text: string): string },
): string {
  for (let length = Math.min(most, left); ; ) {
    const shown = show(clipText(text, length))
    const size = jsonBytes(shown)
    if (size <= left || length <= 1) return shown
    length = Math.max(1, Math.min(length - 1, Math.floor((length * left) / size)))
  }
}

/** Contract: the bytes of the text in a message to a channel. */
export const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2

const WORDS = {
  en: {
    title: (open: number) =>
      open === 0
        ? 'Nothing waits for you here any more'
        : `${open} ${open === 1 ? 'thing waits' : 'things wait'} for you`,
    approval: (tool: string) => `${tool} needs your approval`,
    unknown: (tool: string) => `${tool} was interrupted, and whether it happened is unknown`,
    asks: (agent: string) => `The agent ${agent} asks`,
    askedBy: (agent: string, answer: string) => `(The agent ${agent} asks. Answer: ${answer})`,
    arguments: 'arguments',
    why: 'why',
    from: 'from',
    agent: 'agent',
    session: 'session',
    sendsTo: 'sends to',
    untrusted: 'untrusted',
    readsUntrusted: 'has read untrusted text',
    allow: 'to allow it',
    deny: 'to deny it',
    expires: 'expires',
    resolve: 'to say what happened',
    answer: 'to answer',
    here: 'or answer here',
    allowButton: 'Allow',
    denyButton: 'Deny',
    resolveButtons: { happened: 'It happened', not: 'It did not happen', recheck: 'Check again' },
    outcomes: {
      ...{ allowed: 'allowed', denied: 'denied', expired: 'expired', answered: 'answered', over: 'no longer waits' },
      moved: 'moved to another chat',
      ...{ happened: 'it happened', not: 'it did not happen', recheck: 'is checked again' },
    },
  },
  zh: {
    title: (open: number) => (open === 0 ? '这里没有等你处理的事了' : `有 ${open} 件事等你处理`),
    approval: (tool: string) => `${tool} 需要你批准`,
    unknown: (tool: string) => `${tool} 被中断，不知道是否已经执行`,
    asks: (agent: string) => `${agent} 想问你`,
    askedBy: (agent: string, answer: string) => `（${agent} 想问你。回答：${answer}）`,
    arguments: '参数',
    why: '原因',
    from: '来源',
    agent: 'agent',
    session: '会话',
    sendsTo: '发送到',
    untrusted: '不可信',
    readsUntrusted: '读过不可信的内容',
    allow: '批准',
    deny: '拒绝',
    expires: '过期时间',
    resolve: '告知结果',
    answer: '回答',
    here: '或在此回答',
    allowButton: '批准',
    denyButton: '拒绝',
    resolveButtons: { happened: '已经执行', not: '没有执行', recheck: '重新检查' },
    outcomes: {
      ...{ allowed: '已批准', denied: '已拒绝', expired: '已过期', answered: '已回答', over: '不再等待' },
      moved: '已移到另一个会话',
      ...{ happened: '已经执行', not: '没有执行', recheck: '重新检查' },
    },
  },
} as const satisfies Record<Language, object>
