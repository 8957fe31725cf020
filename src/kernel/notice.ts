/**
 * Notice: what people are told of a cycle, line for line as the seed has it, in Chinese and in English.
 * Must not know: who is told, when, and by which channel.
 * Invariants: every number comes from the results' fields; no text is read to find one.
 */

import { type AgentResult, type CycleResult, decorated } from '../domain/cycle.ts'
import type { Language } from '../domain/language.ts'
import type { Note } from '../domain/note.ts'
import { clipped } from '../domain/summary.ts'

const MOST_OF_A_LINE = 220
const NONE = '(none)'

export function noticeOf(kernel_id: string, cycle: CycleResult, language: Language): string {
  const say = WORDS[language]
  const { cycle_id, status, dispatched, succeeded, failed, parked, failed_agents, error, idle_reason } = cycle
  const agents = cycle.agents.map((result) => `  - ${agentLine(result)}`)
  return [
    `Kernel[${kernel_id}] ${say.title}`,
    `- cycle_id: ${cycle_id}`,
    `- ${say.status}: ${status}`,
    `- ${say.dispatched}: ${dispatched}`,
    `- ${say.succeeded}: ${succeeded}`,
    `- ${say.failed}: ${failed}`,
    ...(parked > 0 ? [`- ${say.parked}: ${parked}`] : []),
    `- ${say.rate}: ${dispatched === 0 ? '-' : `${((100 * succeeded) / dispatched).toFixed(1)}%`}`,
    `- ${say.failedAgents}: ${failed_agents.join(', ') || NONE}`,
    `- ${say.autonomy}: ${autonomyLine(cycle.agents)}`,
    ...(agents.length > 0 ? [`- ${say.summary}:`, ...agents] : [`- ${say.summary}: ${NONE}`]),
    ...(idle_reason === null ? [] : [`- ${say.idle}: ${oneLine(idle_reason)}`]),
    ...(error === null ? [] : [`- ${say.error}: ${oneLine(error)}`]),
    `- ${say.duration}: ${(cycle.duration_ms / 1000).toFixed(1)}s`,
  ].join('\n')
}

/** What is new beside the cycle itself. */
export interface Beside {
  readonly alerts: readonly Note[]
  readonly recovered: boolean
  readonly notes: readonly Note[]
}

/** The notice of a cycle, behind what is alarming and before what else there is to know. */
export function noticeWith(kernel_id: string, cycle: CycleResult, beside: Beside, language: Language): string {
  const say = WORDS[language]
  const { alerts, recovered, notes } = beside
  const words = ({ text, zh }: Note): string => oneLine(language === 'zh' ? (zh ?? text) : text)
  const head = (word: string, lines: readonly string[]): string[] => [`Kernel[${kernel_id}] ${word}`, ...lines, '']
  return [
    ...(alerts.length > 0
      ? head(
          say.alert,
          alerts.map((note) => `- ${words(note)}`),
        )
      : []),
    ...(recovered ? head(say.recovered, []) : []),
    noticeOf(kernel_id, cycle, language),
    ...(notes.length > 0 ? [`- ${say.notes}:`, ...notes.map((note) => `  - ${words(note)}`)] : []),
  ].join('\n')
}

/** Contract: one line, whatever the summary holds. */
export const agentLine = (result: AgentResult): string =>
  oneLine(`[${result.agent_id}|${result.status}] ${decorated(result)}`)

const oneLine = (text: string): string => clipped(text.replaceAll(/\s+/g, ' ').trim(), MOST_OF_A_LINE)

function autonomyLine(agents: readonly AgentResult[]): string {
  const count = (so: (result: AgentResult) => boolean): number => agents.filter(so).length
  const actionable = count(({ status }) => status === 'done')
  const recovered = count(({ status, recovered_from }) => status === 'done' && recovered_from !== null)
  const asking = count(({ failure_class }) => failure_class === 'awaiting_input')
  const idle = count(({ failure_class }) => failure_class === 'no_real_action')
  return `actionable=${actionable}/${agents.length}, auto_recovered=${recovered}, blocked_awaiting_input=${asking}, blocked_no_action=${idle}`
}

const WORDS = {
  zh: {
    title: '周期完成总结',
    alert: '告警',
    recovered: '已恢复',
    notes: '提示',
    status: '状态',
    dispatched: '任务总数',
    succeeded: '已完成',
    failed: '失败',
    parked: '待处理',
    rate: '完成率',
    failedAgents: '失败任务',
    autonomy: '主动性',
    summary: '执行总结',
    idle: '空闲',
    error: '错误',
    duration: '耗时',
  },
  en: {
    title: 'cycle summary',
    alert: 'alert',
    recovered: 'has recovered',
    notes: 'notes',
    status: 'status',
    dispatched: 'tasks',
    succeeded: 'completed',
    failed: 'failed',
    parked: 'parked',
    rate: 'completion rate',
    failedAgents: 'failed tasks',
    autonomy: 'autonomy',
    summary: 'execution summary',
    idle: 'idle',
    error: 'error',
    duration: 'duration',
  },
} as const satisfies Record<Language, Record<string, string>>
