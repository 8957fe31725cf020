/** Shows the thread of a session: what was said to it, and what its runs answered. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { shortId } from '../../domain/short-id.ts'
import { escapeLookalikes, escapeToOneLine, style } from '../terminal.ts'
import { terminalLanguage } from './language.ts'
import { statusOf } from './runs.ts'
import { sayInstant } from './times.ts'

const TEXTS = {
  en: {
    none: 'Nothing has happened in this session yet.',
    unread: 'not read yet',
    earlier: (n: number) => `… ${n} earlier: use --offset`,
    cost: (usd: number) => `$${usd.toFixed(4)}`,
    waits: 'waits for',
    wrote: 'wrote',
  },
  zh: {
    none: '这个会话里还没有发生什么。',
    unread: '尚未读取',
    earlier: (n: number) => `… 还有 ${n} 次更早的：用 --offset`,
    cost: (usd: number) => `$${usd.toFixed(4)}`,
    waits: '等待',
    wrote: '写入',
  },
} as const

type Thread = CommandOutput<'sessions log'>

export function renderThread(thread: Thread): string {
  const texts = TEXTS[terminalLanguage()]
  const { session_id, agent_id, status, cost_usd, unread, items, total } = thread
  const head = [session_id, status, agent_id, ...(cost_usd === null ? [] : [texts.cost(cost_usd)])].join('  ')
  const left = total - items.length
  return [
    style('bold', escapeToOneLine(head)),
    ...(items.length === 0 ? [texts.none] : []),
    ...unread.map(({ at, text }) => `  ${style('dim', `${texts.unread}, ${sayInstant(at)}:`)} ${indent(text)}`),
    ...items.flatMap((run) => ['', ...renderThreadRun(run)]),
    ...(left > 0 ? [texts.earlier(left)] : []),
  ].join('\n')
}

function renderThreadRun(run: Thread['items'][number]): readonly string[] {
  const texts = TEXTS[terminalLanguage()]
  const { dispatch_id, title, received, text, wait, files, updated_at } = run
  const said = received.filter(({ kind }) => kind === 'message')
  return [
    `${style('bold', shortId(dispatch_id))}  ${statusOf(run)}  ${sayInstant(updated_at)}  ${escapeToOneLine(title)}`,
    ...said.map((message) => `  > ${indent(message.text)}`),
    ...(text === null ? [] : [`  ${indent(text)}`]),
    ...(wait === null ? [] : [`  ${style('dim', `${texts.waits}:`)} ${escapeToOneLine(wait.reason)}`]),
    ...files.map((file) => `  ${style('dim', `${texts.wrote}:`)} ${escapeToOneLine(file)}`),
  ]
}

const indent = (text: string): string => escapeLookalikes(text.replaceAll('\n', '\n    '))
