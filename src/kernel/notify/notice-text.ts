/**
 * Notice: the text about a cycle for people, in Chinese and English.
 * Must not know: the recipient, the time, the channel.
 * Invariants: every number comes from a field of the result, never from parsed text.
 */

import { clipText } from '../../domain/clean-summary.ts'
import { type AgentResult, annotateSummary, type CycleResult, countedTasks } from '../../domain/cycle.ts'
import type { Language } from '../../domain/language.ts'
import type { Card } from '../../domain/message.ts'
import type { OwnerNote } from '../../domain/owner-note.ts'

const MAX_LINE = 220
/** Maximum number of files that are named for each run. */
const MAX_FILES = 5
const NONE = '(none)'

export function renderNotice(kernel_id: string, cycle: CycleResult, language: Language): string {
  const words = WORDS[language]
  const { cycle_id, status, succeeded, failed, parked, failed_agents, error, idle_reason } = cycle
  const total = countedTasks(cycle)
  const agents = cycle.agents.flatMap((result) => [
    `  - ${renderAgentLine(result)}`,
    ...fileLines(result, words.wrote).map((line) => `    - ${line}`),
  ])
  return [
    `Kernel[${kernel_id}] ${words.title}`,
    `- cycle_id: ${cycle_id}`,
    `- ${words.status}: ${status}`,
    `- ${words.dispatched}: ${total}`,
    `- ${words.succeeded}: ${succeeded}`,
    `- ${words.failed}: ${failed}`,
    ...(parked > 0 ? [`- ${words.parked}: ${parked}`] : []),
    `- ${words.rate}: ${total === 0 ? '-' : `${((100 * succeeded) / total).toFixed(1)}%`}`,
    `- ${words.failedAgents}: ${failed_agents.join(', ') || NONE}`,
    `- ${words.autonomy}: ${autonomyLine(cycle.agents)}`,
    ...(agents.length > 0 ? [`- ${words.summary}:`, ...agents] : [`- ${words.summary}: ${NONE}`]),
    ...(idle_reason === null ? [] : [`- ${words.idle}: ${oneLine(idle_reason)}`]),
    ...(error === null ? [] : [`- ${words.error}: ${oneLine(error)}`]),
    `- ${words.duration}: ${(cycle.duration_ms / 1000).toFixed(1)}s`,
  ].join('\n')
}

/** The alerts, recovery and notes to report together with a cycle. */
interface NoticeExtras {
  readonly alerts: readonly OwnerNote[]
  readonly recovered: boolean
  readonly notes: readonly OwnerNote[]
}

/** Renders alerts and recovery first, then the cycle, then the other notes. */
export function renderNoticeWithNews(
  kernel_id: string,
  cycle: CycleResult,
  extras: NoticeExtras,
  language: Language,
): string {
  const words = WORDS[language]
  const { alerts, recovered, notes } = extras
  const localized = ({ text, zh }: OwnerNote): string => oneLine(language === 'zh' ? (zh ?? text) : text)
  const block = (title: string, lines: readonly string[]): string[] => [`Kernel[${kernel_id}] ${title}`, ...lines, '']
  return [
    ...(alerts.length > 0
      ? block(
          words.alert,
          alerts.map((note) => `- ${localized(note)}`),
        )
      : []),
    ...(recovered ? block(words.recovered, []) : []),
    renderNotice(kernel_id, cycle, language),
    ...(notes.length > 0 ? [`- ${words.notes}:`, ...notes.map((note) => `  - ${localized(note)}`)] : []),
  ].join('\n')
}

/** At most this many buttons are under a notice. */
const MAX_BUTTONS = 10

/** Contract: the notice with a button for each failed run, which starts it again; undefined if none failed. */
export function noticeCard(text: string, { agents }: CycleResult, language: Language): Card | undefined {
  const failed = agents.filter(({ status }) => status === 'failed' || status === 'dead').slice(0, MAX_BUTTONS)
  if (failed.length === 0) return undefined
  const [title = '', ...lines] = text.split('\n')
  const actions = failed.map(({ agent_id, dispatch_id }) => ({
    ...{ label: `${WORDS[language].retry} ${agent_id}`, command: `/retry ${dispatch_id}` },
  }))
  return { title, items: [{ id: 'cycle', text: lines.join('\n'), actions }] }
}

/** Contract: a single line about an agent's result, even if its summary has several lines. */
export const renderAgentLine = (result: AgentResult): string =>
  oneLine(`[${result.agent_id}|${result.status}] ${annotateSummary(result)}`)

/** One line per file that the run wrote. */
function fileLines({ files = [] }: AgentResult, wrote: string): readonly string[] {
  const more = files.length > MAX_FILES ? [`… +${files.length - MAX_FILES}`] : []
  return [...files.slice(0, MAX_FILES).map((file) => `${wrote}: ${oneLine(file)}`), ...more]
}

const oneLine = (text: string): string => clipText(text.replaceAll(/\s+/g, ' ').trim(), MAX_LINE)

function autonomyLine(agents: readonly AgentResult[]): string {
  const count = (matches: (result: AgentResult) => boolean): number => agents.filter(matches).length
  const actionable = count(({ status }) => status === 'done')
  const recovered = count(({ status, recovered_from }) => status === 'done' && recovered_from !== null)
  const asking = count(({ failure_class }) => failure_class === 'awaiting_input')
  const idle = count(({ failure_class }) => failure_class === 'no_real_action')
  return [
    `actionable=${actionable}/${agents.length}, auto_recovered=${recovered}`,
    `blocked_awaiting_input=${asking}, blocked_no_action=${idle}`,
  ].join(', ')
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
    wrote: '写入',
    retry: '重试',
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
    wrote: 'wrote',
    retry: 'Retry',
  },
} as const satisfies Record<Language, Record<string, string>>
