/** Shows channels: whether they work, their connections, and where notices go. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { escapeInvisible } from '../terminal.ts'
import { terminalLanguage } from './language.ts'
import { formatTable } from './table.ts'
import { sayInstant } from './times.ts'

type Channels = CommandOutput<'channels list'>
type Connection = NonNullable<Channels['items'][number]['connection']>

const TEXTS = {
  en: {
    states: { connecting: 'connecting', connected: 'connected', waiting: 'disconnected', stopped: 'stopped' },
    since: (at: string) => `since ${at}`,
    next: (at: string) => `tried again ${at}`,
    noTarget: 'notices are not sent; to send them: tireless channels pair NAME',
    target: (to: string) => `notices are sent to ${to}`,
    paired: (chat: string, at: string) => `paired: ${chat} since ${at}`,
    onlyChat: '(its only chat)',
  },
  zh: {
    states: { connecting: '正在连接', connected: '已连接', waiting: '已断开', stopped: '未运行' },
    since: (at: string) => `自 ${at}`,
    next: (at: string) => `${at} 重试`,
    noTarget: '没有发送通知；要发送请运行：tireless channels pair NAME',
    target: (to: string) => `通知发送到 ${to}`,
    paired: (chat: string, at: string) => `已配对：${chat}，自 ${at}`,
    onlyChat: '（唯一的会话）',
  },
} as const

/** Contract: one line: whether it is connected and since when, or when it is tried again and why it broke. */
export function sayConnection({ state, since, next_at, error }: Omit<Connection, 'state'> & { state: string }): string {
  const texts = TEXTS[terminalLanguage()]
  const name = texts.states[state as keyof typeof texts.states]
  const parts = [
    name,
    ...(state === 'connected' && since !== null ? [texts.since(sayInstant(since))] : []),
    ...(next_at === null ? [] : [texts.next(sayInstant(next_at))]),
    ...(error === null ? [] : [escapeInvisible(error)]),
  ]
  return parts.join('; ')
}

export function renderChannels({ items, target, paired }: Channels): string {
  const texts = TEXTS[terminalLanguage()]
  const rows = items.map(({ connection, ...rest }) => ({
    ...rest,
    connection: connection === null ? null : sayConnection(connection),
  }))
  const columns = ['name', 'trouble', 'receives', 'connection', 'pending', 'failed', 'last_sent_at', 'last_error']
  return [
    formatTable(rows, columns),
    target === null
      ? texts.noTarget
      : texts.target(`${target.channel}${target.chat_id === null ? '' : ` ${target.chat_id}`}`),
    ...paired.map(({ channel, chat_id, paired_at }) =>
      texts.paired(`${channel} ${chat_id ?? texts.onlyChat}`, paired_at),
    ),
  ].join('\n')
}
