/** Agents in words: when one runs, and what it does. English and Chinese. Pure. */

import { type Agent, ASSISTANT } from '../../domain/agent.ts'
import type { Language } from '../../domain/language.ts'
import type { ScheduleSpec } from '../../domain/schedule.ts'
import { titleOf } from '../../domain/title.ts'
import { describeSchedule } from '../../schedule-words/describe-schedule.ts'

const TEXTS = {
  en: {
    onChange: 'only if something changes',
    atBeats: 'at every beat of the kernel',
    onMessage: 'when you write to it',
    onTask: 'when it is given a task',
  },
  zh: {
    onChange: '只在有变化时',
    atBeats: '内核的每次节拍',
    onMessage: '收到你的消息时',
    onTask: '交给它任务时',
  },
} as const

export interface ScheduledAgent {
  readonly agent_id: string
  readonly schedule: ScheduleSpec | null
  readonly on_call: boolean
  readonly only_on_change?: boolean | undefined
}

export function sayWhen({ agent_id, schedule, on_call, only_on_change }: ScheduledAgent, language: Language): string {
  const texts = TEXTS[language]
  if (on_call) return agent_id === ASSISTANT ? texts.onMessage : texts.onTask
  if (schedule !== null) return describeSchedule(schedule, language)
  return only_on_change ? texts.onChange : texts.atBeats
}

const PLACEHOLDER = /\{[A-Z_]+\}/

/** Contract: one line: the description, else the first paragraph of the prompt that is not only there for its data. */
export function sayWhatFor({ description, prompt }: Pick<Agent, 'description' | 'prompt'>): string {
  const paragraphs = prompt.split(/\n\s*\n/).map((text) => text.replace(/^#+\s.*$/m, '').trim())
  const own = paragraphs.find((text) => text !== '' && !PLACEHOLDER.test(text))
  return titleOf(description ?? own ?? prompt)
}
