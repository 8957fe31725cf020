/** Agents: when they run, where they live, what to do next. */

import { type ScheduledAgent, sayWhen } from '../../commands/lib/agent-words.ts'
import type { CommandOutput } from '../../commands/lib/registry.ts'
import { titleOf } from '../../domain/title.ts'
import { style } from '../terminal.ts'
import { terminalLanguage } from './language.ts'
import { formatTable } from './table.ts'
import { sayInstant } from './times.ts'

const TEXTS = {
  en: {
    created: (id: string, file: string) => `Created ${id}: ${file}`,
    wouldCreate: (id: string, file: string) => `Would create ${id}: ${file}`,
    changed: (id: string, file: string) => `Changed ${id}: ${file}`,
    wouldChange: (id: string, file: string) => `Would change ${id}: ${file}`,
    next: (id: string) => `Change it: tireless agent edit ${id}. Run it now: tireless agent run ${id}`,
    disabled: 'disabled',
    columns: { schedule: 'schedule', last: 'last run', next: 'next run' },
    labels: {
      ...{ when: 'runs', next: 'next', workspace: 'workspace', model: 'model', watch: 'watches', file: 'file' },
      ...{ prompt: 'prompt', runs: 'last runs' },
    },
    ownFolder: 'a new folder for each run',
    defaultModel: 'the default model',
    noRuns: 'none yet',
    deleted: (id: string) => `Deleted ${id}. Its past runs are kept: tireless queue list --agent ${id}`,
    keptFolder: (folder: string) => `Its description and files are kept: ${folder}`,
    bringBack: 'Bring it back:',
    keptWorkspace: (folder: string) => `Its workspace folder is kept: ${folder}`,
    schedules: (ids: string) => `Removed its added schedules: ${ids}`,
  },
  zh: {
    created: (id: string, file: string) => `已创建 ${id}：${file}`,
    wouldCreate: (id: string, file: string) => `将会创建 ${id}：${file}`,
    changed: (id: string, file: string) => `已修改 ${id}：${file}`,
    wouldChange: (id: string, file: string) => `将会修改 ${id}：${file}`,
    next: (id: string) => `修改：tireless agent edit ${id}。立即运行：tireless agent run ${id}`,
    disabled: '已停用',
    columns: { schedule: '时间', last: '上次运行', next: '下次运行' },
    labels: {
      ...{ when: '运行', next: '接下来', workspace: '工作目录', model: '模型', watch: '关注', file: '文件' },
      ...{ prompt: '提示词', runs: '最近运行' },
    },
    ownFolder: '每次运行一个新目录',
    defaultModel: '默认模型',
    noRuns: '还没有',
    deleted: (id: string) => `已删除 ${id}。过去的运行仍保留：tireless queue list --agent ${id}`,
    keptFolder: (folder: string) => `它的说明和文件保留在：${folder}`,
    bringBack: '恢复它：',
    keptWorkspace: (folder: string) => `它的工作目录仍保留：${folder}`,
    schedules: (ids: string) => `已移除为它添加的计划：${ids}`,
  },
} as const

interface SummarizedAgent {
  readonly agent_id: string
  readonly source: string
  readonly understood?: string | undefined
  readonly dry_run: boolean
}

export function renderNewAgent({ agent_id, source, understood, dry_run }: SummarizedAgent): string {
  const texts = TEXTS[terminalLanguage()]
  return [
    (dry_run ? texts.wouldCreate : texts.created)(agent_id, source),
    ...(understood === undefined ? [] : [understood]),
    ...(dry_run ? [] : [texts.next(agent_id)]),
  ].join('\n')
}

export function renderChangedAgent({ agent_id, source, understood, dry_run }: SummarizedAgent): string {
  const texts = TEXTS[terminalLanguage()]
  const said = (dry_run ? texts.wouldChange : texts.changed)(agent_id, source)
  return [said, ...(understood === undefined ? [] : [understood])].join('\n')
}

function sayWhenOrOff(agent: ScheduledAgent & { readonly enabled: boolean }): string {
  const language = terminalLanguage()
  const when = sayWhen(agent, language)
  return agent.enabled || agent.on_call ? when : `${when} (${TEXTS[language].disabled})`
}

export function renderAgents({ items }: CommandOutput<'agent list'>): string {
  const { columns } = TEXTS[terminalLanguage()]
  return formatTable(
    items.map((agent) => ({
      agent_id: agent.agent_id,
      [columns.schedule]: sayWhenOrOff(agent),
      [columns.last]: agent.last_run_at === null ? null : `${agent.last_status ?? ''} ${sayInstant(agent.last_run_at)}`,
      [columns.next]: agent.next_at,
    })),
    ['agent_id', columns.schedule, columns.last, columns.next],
  )
}

export function renderAgent(agent: CommandOutput<'agent show'>): string {
  const { labels, ownFolder, defaultModel, noRuns } = TEXTS[terminalLanguage()]
  const line = (name: string, text: string): string => `${style('dim', `${name}:`)} ${text}`
  return [
    style('bold', agent.agent_id),
    line(labels.when, sayWhenOrOff(agent)),
    ...(agent.next.length === 0 ? [] : [line(labels.next, agent.next.map((at) => sayInstant(at)).join(', '))]),
    line(labels.workspace, agent.workspace ?? ownFolder),
    line(labels.model, agent.model ?? defaultModel),
    ...agent.watch.map((watched) => line(labels.watch, JSON.stringify(watched))),
    line(labels.file, agent.source),
    line(labels.prompt, agent.prompt),
    line(labels.runs, agent.runs.length === 0 ? noRuns : ''),
    ...(agent.runs.length === 0
      ? []
      : [formatTable(agent.runs.map(shownRun), ['dispatch_id', 'at', 'status', 'came of it'])]),
  ].join('\n')
}

const shownRun = ({ dispatch_id, created_at, status, result, error }: CommandOutput<'agent show'>['runs'][number]) => ({
  ...{ dispatch_id, at: created_at, status },
  'came of it': error ?? (result === null ? null : titleOf(result)),
})

export function renderDeletedAgent(output: CommandOutput<'agent delete'>): string {
  const { agent_id, kept, schedules_removed, bring_back } = output
  const texts = TEXTS[terminalLanguage()]
  return [
    texts.deleted(agent_id),
    texts.keptFolder(kept.folder),
    ...(kept.workspace === null ? [] : [texts.keptWorkspace(kept.workspace)]),
    ...(schedules_removed.length === 0 ? [] : [texts.schedules(schedules_removed.join(', '))]),
    texts.bringBack,
    ...bring_back.map((command) => `  ${command}`),
  ].join('\n')
}

/** One line per tool: how far it reaches, and the first sentence of what it does. */
export const renderTools = ({ items }: CommandOutput<'tools list'>): string =>
  formatTable(
    items.map(({ name, reach, offered, description }) => ({
      ...{ name, reach: reach ?? 'depends on the call', offered: offered ? 'yes' : 'by name' },
      does: titleOf(description.split(/(?<=\.)\s/)[0] ?? ''),
    })),
    ['name', 'reach', 'offered', 'does'],
  )
