/** Residents for people: what each of them does, knows and lacks; what becomes of an observation. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { style } from '../terminal.ts'
import { terminalLanguage } from './language.ts'
import { shortenCell } from './table.ts'
import { truncateToWidth } from './text-width.ts'
import { sayInstant } from './times.ts'

type Status = CommandOutput<'status'>
type Resident = Status['residents'][number]

const TEXTS = {
  en: {
    states: { idle: 'idle', looking: 'looking', backing_off: 'backing off' },
    looked: (at: string) => `looked ${at}`,
    neverLooked: 'has not looked yet',
    looksNext: (at: string) => `looks next ${at}`,
    looksLater: 'it looks after tireless start',
    unread: (count: number) => `${count} unread`,
    known: (slots: string) => `knows ${slots}`,
    missing: (slots: string) => `lacks ${slots}`,
    ...{ comma: ', ', colon: ': ', semicolon: '; ' },
    seenNext: (agent: string) => `${agent} sees it at its next look. What it does: tireless status`,
    seenLater: (agent: string) => `Kept. ${agent} sees it after: tireless start`,
    keptLatest: (agent: string) => `${agent} sees the latest value at its next look; it causes none.`,
    observedBefore: 'Ignored: an observation with this key was published before.',
    woken: (count: number, agent: string) => `Wakes ${count === 1 ? '1 run' : `${count} runs`} of ${agent}.`,
    nothingRuns: 'The kernel is stopped: nothing runs until tireless start.',
  },
  zh: {
    states: { idle: '空闲', looking: '正在看', backing_off: '出错后暂缓' },
    looked: (at: string) => `上次看：${at}`,
    neverLooked: '还没有看过',
    looksNext: (at: string) => `下次看：${at}`,
    looksLater: 'tireless start 之后才会看',
    unread: (count: number) => `${count} 条未读`,
    known: (slots: string) => `已知 ${slots}`,
    missing: (slots: string) => `缺少 ${slots}`,
    ...{ comma: '，', colon: '：', semicolon: '；' },
    seenNext: (agent: string) => `${agent} 下次看时会看到。它做了什么：tireless status`,
    seenLater: (agent: string) => `已保存。启动后 ${agent} 会看到：tireless start`,
    keptLatest: (agent: string) => `${agent} 下次看时会看到最新的值；这不会唤醒它。`,
    observedBefore: '已忽略：之前用这个键发布过。',
    woken: (count: number, agent: string) => `唤醒 ${agent} 的 ${count} 个任务。`,
    nothingRuns: '内核已停止：在 tireless start 之前不会运行任何任务。',
  },
} as const

/** In columns of the terminal. */
const MAX_WHY = 120

const texts = () => TEXTS[terminalLanguage()]

/** Contract: one line for each resident. */
export const residentLines = ({ residents, kernel }: Status): readonly string[] =>
  residents.map((resident) => residentLine(resident, kernel.state === 'stopped'))

function residentLine(resident: Resident, isStopped: boolean): string {
  const { states, comma, colon, semicolon, known, missing } = texts()
  const { agent_id, state, why, why_zh } = resident
  const shownState = state === 'backing_off' ? style('red', states[state]) : states[state]
  const slots = Object.entries(resident.known).map(([name, value]) => `${name}=${shortenCell(value)}`)
  const reason = oneLine(terminalLanguage() === 'zh' ? why_zh : why)
  return [
    `${agent_id}${colon}${[shownState, `${rate(resident.hz)} Hz`, ...lookTexts(resident, isStopped)].join(comma)}`,
    ...(slots.length === 0 ? [] : [known(slots.join(comma))]),
    ...(resident.missing.length === 0 ? [] : [missing(resident.missing.join(comma))]),
    truncateToWidth(reason, MAX_WHY),
  ].join(semicolon)
}

function lookTexts({ last_look, next_look, unread }: Resident, isStopped: boolean): readonly string[] {
  const { looked, neverLooked, looksNext, looksLater, unread: sayUnread } = texts()
  const next = isStopped ? looksLater : next_look === null ? undefined : looksNext(sayInstant(next_look))
  return [
    last_look === null ? neverLooked : looked(sayInstant(last_look)),
    ...(unread === 0 ? [] : [style('yellow', sayUnread(unread))]),
    ...(unread === 0 || next === undefined ? [] : [next]),
  ]
}

const rate = (hz: number): string => String(Number(hz.toFixed(3)))

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

export function renderObserved(observed: CommandOutput<'observe'>): string {
  const { agent, duplicate, woken, latest, kernel_running } = observed
  const { observedBefore, woken: sayWoken, nothingRuns } = texts()
  if (duplicate) return observedBefore
  if (latest) return texts().keptLatest(agent)
  if (woken > 0) return [sayWoken(woken, agent), ...(kernel_running ? [] : [nothingRuns])].join('\n')
  return kernel_running ? texts().seenNext(agent) : texts().seenLater(agent)
}
