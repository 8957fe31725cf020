/**
 * Digest: one text about all cycles of a period, also those that had no notice. Pure.
 * Must not know: when and to whom the digest is sent.
 */

import { type Cycle, type CycleResult, countedTasks, isFailure } from '../../domain/cycle.ts'
import type { Language } from '../../domain/language.ts'
import { wallTime } from '../schedule/time-zone.ts'

interface Period {
  /** The period contains the cycles that ended after `from` and not after `to`. */
  readonly from: number
  readonly to: number
  readonly timezone: string
}

/** Contract: undefined if no cycle is in the period. `cycles`: in any order; cycles outside the period are ignored. */
export function renderDigest(
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
  const words = WORDS[language]
  const total = (count: (result: CycleResult) => number): number =>
    results.reduce((sum, result) => sum + count(result), 0)
  const failed = new Map<string, number>()
  for (const { agent_id } of results.flatMap(({ agents }) => agents).filter(isFailure))
    failed.set(agent_id, (failed.get(agent_id) ?? 0) + 1)
  const failedAgents = [...failed].sort(([, a], [, b]) => b - a).map(([agent, times]) => `${agent} ×${times}`)
  const times = [period.from, period.to].map((time) => wallTime(time, period.timezone))
  return [
    `Kernel[${kernel_id}] ${words.title} (${times.join(' – ')})`,
    `- ${words.cycles}: ${results.length}`,
    `- ${words.idle}: ${results.filter(({ agents, error }) => agents.length === 0 && error === null).length}`,
    `- ${words.errors}: ${results.filter(({ error }) => error !== null).length}`,
    `- ${words.dispatched}: ${total(countedTasks)}`,
    `- ${words.succeeded}: ${total(({ succeeded }) => succeeded)}`,
    `- ${words.failed}: ${total((result) => result.failed)}`,
    `- ${words.failedAgents}: ${failedAgents.join(', ') || '(none)'}`,
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
