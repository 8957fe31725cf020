/** Says in a sentence what a command that changes something has done, and what to do next. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { shortId } from '../../domain/short-id.ts'
import { terminalLanguage } from './language.ts'
import { sayInstant } from './times.ts'

const TEXTS = {
  en: {
    stopped: 'Stopped. Accepted work is kept; continue it: tireless start',
    notRunning: 'Nothing to stop: no kernel is running in this home.',
    paused: (since: string) => `Paused since ${since}: beats are skipped, running work continues. Run: tireless resume`,
    resumed: 'Resumed: agents run by their schedules again.',
    notPaused: 'Nothing to resume: the kernel was not paused.',
    queued: (id: string) => `Queued as ${id}. Follow it: tireless queue show ${id}`,
    known: (id: string) => `Already queued as ${id}: a task with this key was added before.`,
    sent: (session: string) => `Sent to ${session}.`,
    sentBefore: 'Ignored: a message with this key was sent before.',
    readLater: 'It is read after tireless start. To get the answer here: tireless chat "…"',
    noAnswer: 'No answer yet.',
    nothingRuns: 'The kernel is stopped: nothing runs until tireless start.',
    changed: (id: string, was: string, now: string) => `${id}: ${was} → ${now}`,
    unchanged: 'Nothing to change: it has already ended.',
    schedule: (id: string, agents: string, next: string) => `${id} runs ${agents}, next ${next}`,
    schedulePaused: (id: string) => `${id} is paused. Resume it: tireless schedule resume ${id}`,
    never: 'never again',
    removed: (id: string) => `Removed ${id}; work that it started continues.`,
    bringBack: 'Add it again:',
    started: (agent: string, id: string) => `${agent} is queued as ${id}. Follow it: tireless queue show ${id}`,
    opened: (page: string) => `Opened ${page} in your browser.`,
    notOpened: (link: string) => `Open this link in a browser; it logs you in, once and within minutes:\n${link}`,
    endedWithoutStore: 'Stopped; the database is away. Continue: tireless start',
    ended: (pending: number) =>
      pending === 0
        ? 'Stopped; no work is left.'
        : `Stopped; ${pending === 1 ? '1 task waits' : `${pending} tasks wait`}. Continue: tireless start`,
  },
  zh: {
    stopped: '已停止。已接受的任务都保留着；继续：tireless start',
    notRunning: '无需停止：此目录中没有运行的内核。',
    paused: (since: string) => `已暂停（${since}）：跳过节拍，正在运行的任务继续。恢复：tireless resume`,
    resumed: '已恢复：智能体重新按计划运行。',
    notPaused: '无需恢复：内核没有暂停。',
    queued: (id: string) => `已排队：${id}。查看：tireless queue show ${id}`,
    known: (id: string) => `之前已用这个键排队：${id}。`,
    sent: (session: string) => `已发送给 ${session}。`,
    sentBefore: '已忽略：之前用这个键发送过。',
    readLater: '运行 tireless start 之后才会读它。要在这里得到回答：tireless chat "…"',
    noAnswer: '还没有回答。',
    nothingRuns: '内核已停止：在 tireless start 之前不会运行任何任务。',
    changed: (id: string, was: string, now: string) => `${id}：${was} → ${now}`,
    unchanged: '无需更改：它已经结束。',
    schedule: (id: string, agents: string, next: string) => `${id} 运行 ${agents}，下次 ${next}`,
    schedulePaused: (id: string) => `${id} 已暂停。恢复：tireless schedule resume ${id}`,
    never: '不再运行',
    removed: (id: string) => `已移除 ${id}；它已启动的任务继续。`,
    bringBack: '重新添加：',
    started: (agent: string, id: string) => `${agent} 已排队：${id}。查看：tireless queue show ${id}`,
    opened: (page: string) => `已在浏览器中打开 ${page}。`,
    notOpened: (link: string) => `请在浏览器中打开此链接；它让您登录，只能用一次，几分钟内有效：\n${link}`,
    endedWithoutStore: '已停止；数据库无法访问。继续：tireless start',
    ended: (pending: number) =>
      pending === 0 ? '已停止；没有剩余任务。' : `已停止；还有 ${pending} 个任务。继续：tireless start`,
  },
} as const

const texts = () => TEXTS[terminalLanguage()]

export const renderStop = ({ stopped }: CommandOutput<'stop'>): string =>
  stopped ? texts().stopped : texts().notRunning

export const renderPause = ({ since }: CommandOutput<'pause'>): string =>
  texts().paused(since === null ? '' : sayInstant(since))

export const renderResume = ({ was_paused }: CommandOutput<'resume'>): string =>
  was_paused ? texts().resumed : texts().notPaused

export function renderEnqueued({ dispatch_id, duplicate, kernel_running }: CommandOutput<'enqueue'>): string {
  const id = shortId(dispatch_id)
  return [duplicate ? texts().known(id) : texts().queued(id), ...(kernel_running ? [] : [texts().nothingRuns])].join(
    '\n',
  )
}

export const renderChanges = ({ items }: CommandOutput<'queue cancel'>): string =>
  items.map(({ dispatch_id, was, status }) => texts().changed(shortId(dispatch_id), was, status)).join('\n') ||
  texts().unchanged

export function renderSchedule({ id, agents, paused, next }: CommandOutput<'schedule add'>): string {
  const name = shortId(id)
  if (paused) return texts().schedulePaused(name)
  return texts().schedule(name, agents.join(', '), next === null ? texts().never : sayInstant(next))
}

export const renderRemovedSchedule = ({ removed, bring_back }: CommandOutput<'schedule remove'>): string =>
  [texts().removed(shortId(removed)), ...bring_back.map((command) => `${texts().bringBack} ${command}`)].join('\n')

export const renderScheduleRun = ({ items }: CommandOutput<'schedule run'>): string =>
  items.map(({ agent_id, dispatch_id }) => texts().started(agent_id, shortId(dispatch_id))).join('\n')

export const renderOpened = ({ opened, page, login_url }: CommandOutput<'open'>): string =>
  opened ? texts().opened(page) : texts().notOpened(login_url)

export const renderEnded = ({ queue }: CommandOutput<'start'>): string =>
  queue === null ? texts().endedWithoutStore : texts().ended((queue.pending ?? 0) + (queue.running ?? 0))

export function renderSent({ session_id, duplicate, reply, kernel_running }: CommandOutput<'send'>): string {
  if (duplicate) return texts().sentBefore
  if (reply !== null) return reply
  const said = texts().sent(session_id === null ? '-' : shortId(session_id))
  return [said, ...(kernel_running ? [] : [texts().readLater])].join('\n')
}

export const renderChat = ({ answer, duplicate }: CommandOutput<'chat'>): string =>
  answer ?? (duplicate ? texts().sentBefore : texts().noAnswer)
