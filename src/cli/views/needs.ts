/** What waits for the owner: each with its choices, what each does, and what to type. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { escapeLookalikes, style } from '../terminal.ts'
import { terminalLanguage } from './language.ts'
import { sayInstant } from './times.ts'

type Need = CommandOutput<'needs show'>

const TEXTS = {
  en: {
    nothing: 'Nothing waits for you.',
    more: (count: number) => `… and ${count} more: --offset, --limit`,
    until: (at: string) => `until ${at}`,
    statuses: { open: 'open', answered: 'answered', withdrawn: 'has ended by itself' },
    words: { none: '', optional: ' ["your words"]', required: ' "your words"' },
    done: 'Done.',
  },
  zh: {
    nothing: '没有什么在等您。',
    more: (count: number) => `……还有 ${count} 项：--offset、--limit`,
    until: (at: string) => `截止 ${at}`,
    statuses: { open: '待处理', answered: '已答复', withdrawn: '已自行结束' },
    words: { none: '', optional: ' ["您的话"]', required: ' "您的话"' },
    done: '已完成。',
  },
} as const

const texts = () => TEXTS[terminalLanguage()]

/** A body may quote what came from outside, so nothing in it is hidden. */
const indented = (text: string): string => `  ${escapeLookalikes(text).replaceAll('\n', '\n  ')}`

export function renderNeed(need: Need): string {
  const { until, statuses, words } = texts()
  const { id, title, body, status, expires_at, after_expiry, choices } = need
  const deadline = expires_at === null ? [] : [`${until(sayInstant(expires_at))}: ${after_expiry ?? ''}`.trim()]
  const state = status === 'open' ? deadline : [statuses[status]]
  return [
    [style('bold', escapeLookalikes(title)), ...state].join('  '),
    ...(body === '' ? [] : [indented(body)]),
    ...(status === 'open' ? choices : []).flatMap((choice) => [
      `  ${style('dim', `${choice.text}:`)} ${choice.does}`,
      `    tireless needs answer ${id} ${choice.id}${words[choice.words]}`,
    ]),
  ].join('\n')
}

export function renderNeeds({ items, total }: CommandOutput<'needs list'>): string {
  if (items.length === 0) return texts().nothing
  const more = total > items.length ? [texts().more(total - items.length)] : []
  return [...items.map(renderNeed), ...more].join('\n\n')
}

export const renderAnsweredNeed = (need: CommandOutput<'needs answer'>): string =>
  `${renderNeed(need)}\n${texts().done}`
