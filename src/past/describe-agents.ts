/** Says which agents there are, what starts them, and when each runs next. Pure. */

import type { Language } from '../domain/language.ts'
import { titleOf } from '../domain/title.ts'
import { byUse, isOff } from './known-agents.ts'
import type { KnownAgent, UpcomingBeat } from './past-sources.ts'
import { sayInstantIn, type Voice } from './say-time.ts'

/** What is known of the agents now. */
export interface AgentsNow {
  readonly agents: readonly KnownAgent[]
  readonly upcoming: readonly UpcomingBeat[]
  /** Ids of the agents that have a run at work. */
  readonly running: ReadonlySet<string>
}

interface Texts {
  readonly none: string
  count(agents: number, off: number, running: number): string
  readonly off: string
  readonly running: string
  readonly starts: Readonly<Record<KnownAgent['starts'], string>>
  next(agent: string, when: string, what: string): string
  looks(agent: string, when: string): string
  disabled(agent: string): string
  onMessage(agent: string): string
  noNext(agent: string): string
  unknown(name: string, known: string): string
  runsNow(agent: string): string
  at(when: string): string
}

const TEXTS: Readonly<Record<Language, Texts>> = {
  en: {
    none: 'There are no agents.',
    count: (agents, off, running) =>
      `There ${agents === 1 ? 'is 1 agent' : `are ${agents} agents`}` +
      `${off > 0 ? `, ${off} of them switched off` : ''}; ` +
      `${running === 0 ? 'none' : running} ${running === 1 || running === 0 ? 'is' : 'are'} at work now.`,
    off: 'switched off',
    running: 'at work now',
    starts: {
      ...{ schedule: 'on its schedule', beats: 'at every beat of the kernel', messages: 'when you write to it' },
      changes: 'only if something changes',
    },
    next: (agent, when, what) => `${agent} runs next on ${when}${what}.`,
    looks: (agent, when) => `${agent} runs only if something that it sees has changed; it looks next on ${when}.`,
    disabled: (agent) => `${agent} is switched off; no run is planned. Switch it on: tireless agent enable ${agent}`,
    onMessage: (agent) => `${agent} runs when you write to it; no run is planned.`,
    noNext: (agent) => `No run of ${agent} is planned.`,
    unknown: (name, known) => `There is no agent named ${name}. Agents: ${known}.`,
    runsNow: (agent) => `${agent} is at work now.`,
    at: (when) => `next ${when}`,
  },
  zh: {
    none: '没有智能体。',
    count: (agents, off, running) =>
      `共有 ${agents} 个智能体${off > 0 ? `，其中 ${off} 个已停用` : ''}；` +
      `${running === 0 ? '现在没有在运行的' : `${running} 个正在运行`}。`,
    off: '已停用',
    running: '正在运行',
    starts: {
      ...{
        schedule: '按日程运行',
        beats: '内核每次节拍都运行',
        messages: '你写消息时运行',
        changes: '只在有变化时运行',
      },
    },
    next: (agent, when, what) => `${agent} 下次运行：${when}${what}。`,
    looks: (agent, when) => `${agent} 只在它看到的东西有变化时运行；下次查看：${when}。`,
    disabled: (agent) => `${agent} 已停用，没有安排运行。启用：tireless agent enable ${agent}`,
    onMessage: (agent) => `${agent} 在你写消息时运行，没有安排下一次。`,
    noNext: (agent) => `没有安排 ${agent} 的下一次运行。`,
    unknown: (name, known) => `没有叫 ${name} 的智能体。现有：${known}。`,
    runsNow: (agent) => `${agent} 正在运行。`,
    at: (when) => `下次 ${when}`,
  },
}

const beatOf = ({ upcoming }: AgentsNow, agent_id: string): UpcomingBeat | undefined =>
  upcoming.find(({ agents }) => agents.includes(agent_id))

export function describeAgents(now: AgentsNow, voice: Voice): string {
  const texts = TEXTS[voice.language]
  const { agents, running } = now
  if (agents.length === 0) return texts.none
  const lines = byUse(agents).map((agent) => {
    const beat = isOff(agent) ? undefined : beatOf(now, agent.agent_id)
    const parts = [
      ...(isOff(agent) ? [texts.off] : [texts.starts[agent.starts]]),
      ...(running.has(agent.agent_id) ? [texts.running] : []),
      ...(beat === undefined ? [] : [texts.at(sayInstantIn(beat.at, voice))]),
    ]
    return `- ${agent.agent_id}: ${parts.join(voice.language === 'zh' ? '，' : ', ')}`
  })
  const atWork = agents.filter(({ agent_id }) => running.has(agent_id)).length
  return [texts.count(agents.length, agents.filter(isOff).length, atWork), ...lines].join('\n')
}

/** When the agents with these names run next. */
export function describeNextRuns(now: AgentsNow, names: readonly string[], voice: Voice): string {
  const texts = TEXTS[voice.language]
  return names
    .flatMap((name) => [...(now.running.has(name) ? [texts.runsNow(name)] : []), describeNextRun(now, name, voice)])
    .join('\n')
}

function describeNextRun(now: AgentsNow, name: string, voice: Voice): string {
  const texts = TEXTS[voice.language]
  const agent = now.agents.find(({ agent_id }) => agent_id === name)
  const beat = beatOf(now, name)
  if (!agent) return describeUnknownAgent(now, name, voice)
  if (beat === undefined) {
    if (isOff(agent)) return texts.disabled(name)
    return agent.starts === 'messages' ? texts.onMessage(name) : texts.noNext(name)
  }
  const when = sayInstantIn(beat.at, voice)
  if (agent.starts === 'changes' && beat.prompt === null) return texts.looks(name, when)
  const what =
    beat.prompt === null ? '' : voice.language === 'zh' ? `（${titleOf(beat.prompt)}）` : ` (${titleOf(beat.prompt)})`
  return texts.next(name, when, what)
}

export function describeUnknownAgent({ agents }: AgentsNow, name: string, { language }: Voice): string {
  const known = agents.map(({ agent_id }) => agent_id).join(language === 'zh' ? '、' : ', ')
  return TEXTS[language].unknown(name, known === '' ? '-' : known)
}
