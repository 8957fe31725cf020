/** Says what waits for the owner, with the commands to type or the place on the page, and what comes next. Pure. */

import type { Language } from '../domain/language.ts'
import { shortId } from '../domain/short-id.ts'
import { titleOf } from '../domain/title.ts'
import { describeOpenTodos } from './describe-todos.ts'
import type { MatterKind, OpenMatter, OpenMatters } from './open-matters.ts'
import type { UpcomingBeat } from './past-sources.ts'
import { sayInstantIn, type Voice } from './say-time.ts'

interface Texts {
  readonly kinds: Readonly<Record<MatterKind, string>>
  readonly nothing: string
  readonly waits: string
  readonly others: string
  since(when: string): string
  until(when: string): string
  type(command: string): string
  readonly place: string
  readonly placeToo: string
  leftOut(count: number): string
  queue(pending: number, running: number): string
  readonly nothingNext: string
  readonly next: string
  beat(when: string, agents: string, what: string): string
  readonly ownPrompt: string
  readonly noAgent: string
}

const TEXTS: Readonly<Record<Language, Texts>> = {
  en: {
    kinds: {
      ...{ approval: 'needs your approval', question: 'waits for your answer', failed: 'failed', paused: 'is paused' },
      ...{ unknown: 'was interrupted, and only you can say whether it took effect', parked: 'waits' },
      other: 'needs you',
    },
    nothing: 'Nothing waits for you.',
    waits: 'Waits for you:',
    others: 'Waits for a time or an event, not for you:',
    since: (when) => `since ${when}`,
    until: (when) => `until ${when}`,
    type: (command) => `type: tireless ${command}`,
    place: 'You can answer, retry or dismiss each of them in “Needs you”.',
    placeToo: 'All of this can also be answered on the page, in “Needs you”.',
    leftOut: (count) => `… and ${count} more, which are left out here.`,
    queue: (pending, running) => `In the queue: ${pending} pending, ${running} running.`,
    nothingNext: 'Nothing is planned: no schedule has a next beat, and the queue is empty.',
    next: 'Next:',
    beat: (when, agents, what) => `- ${when}: ${agents} (${what})`,
    ownPrompt: 'its own task',
    noAgent: 'no agent is enabled for it',
  },
  zh: {
    kinds: {
      ...{ approval: '需要你批准', question: '等你回答', failed: '失败了', paused: '暂停了', parked: '等待中' },
      unknown: '被中断，只有你能说它是否已经生效',
      other: '等你处理',
    },
    nothing: '没有什么在等你。',
    waits: '在等你：',
    others: '在等时间或事件，不是等你：',
    since: (when) => `自 ${when}`,
    until: (when) => `到 ${when} 为止`,
    type: (command) => `请输入：tireless ${command}`,
    place: '可以在“等你处理”里逐项回答、重试或不再处理。',
    placeToo: '这些也都可以在页面的“等你处理”里处理。',
    leftOut: (count) => `……还有 ${count} 项，这里没有列出。`,
    queue: (pending, running) => `队列：${pending} 个待运行，${running} 个运行中。`,
    nothingNext: '没有计划：没有一个日程还有下一次，队列也是空的。',
    next: '接下来：',
    beat: (when, agents, what) => `- ${when}：${agents}（${what}）`,
    ownPrompt: '它自己的任务',
    noAgent: '没有启用的智能体',
  },
}

const MAX_ABOUT = 300
const MAX_BEATS = 10

export function describeMatters(open: OpenMatters, voice: Voice): string {
  const texts = TEXTS[voice.language]
  const forOwner = open.matters.filter(({ kind }) => kind !== 'parked')
  const parked = open.matters.filter(({ kind }) => kind === 'parked')
  return [
    forOwner.length === 0 ? texts.nothing : texts.waits,
    ...forOwner.map((matter) => describeMatter(matter, voice)),
    ...(forOwner.length > 0 ? [voice.onPage ? texts.place : texts.placeToo] : []),
    ...(parked.length > 0 ? [texts.others, ...parked.map((matter) => describeMatter(matter, voice))] : []),
    ...(open.left_out > 0 ? [texts.leftOut(open.left_out)] : []),
    ...describeOpenTodos(open.todos, voice),
    ...(open.pending + open.running > 0 ? [texts.queue(open.pending, open.running)] : []),
  ].join('\n')
}

function describeMatter(matter: OpenMatter, voice: Voice): string {
  const { kind, id, agent_id, since, until, commands } = matter
  const { title, about } = (voice.language === 'zh' ? matter.zh : undefined) ?? matter
  const texts = TEXTS[voice.language]
  const who = agent_id === null ? title : `${agent_id}: ${title}`
  const times = [
    texts.since(sayInstantIn(since, voice)),
    ...(until === null ? [] : [texts.until(sayInstantIn(until, voice))]),
  ]
  const text = about.replaceAll(/\s+/g, ' ').trim()
  return [
    `- ${who} — ${texts.kinds[kind]} (${shortId(id)}, ${times.join(', ')})`,
    ...(text === '' ? [] : [`  “${text.length > MAX_ABOUT ? `${text.slice(0, MAX_ABOUT)}…` : text}”`]),
    ...(voice.onPage ? [] : commands.map((command) => `  ${texts.type(command)}`)),
  ].join('\n')
}

export function describeUpcoming(open: OpenMatters, voice: Voice): string {
  const texts = TEXTS[voice.language]
  const { upcoming, pending, running, matters } = open
  const timed = matters.filter(({ kind, until }) => kind === 'parked' && until !== null)
  if (upcoming.length + pending + running + timed.length === 0) return texts.nothingNext
  return [
    texts.next,
    ...upcoming.slice(0, MAX_BEATS).map((beat) => describeBeat(beat, voice)),
    ...(upcoming.length > MAX_BEATS ? [texts.leftOut(upcoming.length - MAX_BEATS)] : []),
    ...timed.map((matter) => describeMatter(matter, voice)),
    ...(pending + running > 0 ? [texts.queue(pending, running)] : []),
  ].join('\n')
}

function describeBeat({ at, agents, prompt }: UpcomingBeat, voice: Voice): string {
  const texts = TEXTS[voice.language]
  const what = prompt === null ? texts.ownPrompt : titleOf(prompt)
  return texts.beat(sayInstantIn(at, voice), agents.length === 0 ? texts.noAgent : agents.join(', '), what)
}
