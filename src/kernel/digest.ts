/**
 * Digest: what people are told of many cycles at once, of those too that nobody was told of.
 * Must not know: when, and to whom. Pure.
 */

import { type Cycle, type CycleResult, isFailure } from '../domain/cycle.ts'
import type { Language } from '../domain/language.ts'
import { wallTime } from './zone.ts'

export interface Period {
  /** Cycles that ended after `from` and up to `to`. */
  readonly from: number
  readonly to: number
  readonly timezone: string
}

/** Contract: undefined where there was no cycle to tell of. `cycles`: any order, also those of other times. */
export function digestOf(
  kernel_id: string,
  cycles: readonly Cycle[],
  period: Period,
  language: Language,
): string | undefined {
  const results = cycles.flatMap(({ result, ended_at }) => {
    const ended = ended_at === null ? Number.NaN : Date.parse(ended_at)
    return result && ended > period.from && ended <= period.to ? [result] : []
  })
  if (results.length === 0) return undefined
  const say = WORDS[language]
  const total = (count: (result: CycleResult) => number): number =>
    results.reduce((sum, result) => sum + count(result), 0)
  const failed = new Map<string, number>()
  for (const { agent_id } of results.flatMap(({ agents }) => agents).filter(isFailure))
    failed.set(agent_id, (failed.get(agent_id) ?? 0) + 1)
  const failing = [...failed].sort(([, a], [, b]) => b - a).map(([agent, times]) => `${agent} ×${times}`)
  return [
    `Kernel[${kernel_id}] ${say.title} (${wallTime(period.from, period.timezone)} – ${wallTime(period.to, period.timezone)})`,
    `- ${say.cycles}: ${results.length}`,
    `- ${say.idle}: ${results.filter(({ agents, error }) => agents.length === 0 && error === null).length}`,
    `- ${say.errors}: ${results.filter(({ error }) => error !== null).length}`,
    `- ${say.dispatched}: ${total(({ dispatched }) => dispatched)}`,
    `- ${say.succeeded}: ${total(({ succeeded }) => succeeded)}`,
    `- ${say.failed}: ${total((result) => result.failed)}`,
    `- ${say.failedAgents}: ${failing.join(', ') || '(none)'}`,
  ].join('\n')
}

const WORDS = {
  zh: {
    ...{ title: '汇总', cycles: '周期数', idle: '空闲周期', errors: '出错周期' },
    ...{ dispatched: '任务总数', succeeded: '已完成', failed: '失败', failedAgents: '失败任务' },
  },
  en: {
    ...{ title: 'digest', cycles: 'cycles', idle: 'idle cycles', errors: 'cycles with an error' },
    ...{ dispatched: 'tasks', succeeded: 'completed', failed: 'failed', failedAgents: 'failed tasks' },
  },
} as const satisfies Record<Language, Record<string, string>>
