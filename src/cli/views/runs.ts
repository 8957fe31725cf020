/** Shows what came of tasks: result, files and trace, or what they wait for and what to type. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { shortId } from '../../domain/short-id.ts'
import { style } from '../terminal.ts'
import { renderApproval, sayContinues } from './approvals.ts'
import { terminalLanguage } from './language.ts'
import { formatTable } from './table.ts'
import { sayInstant } from './times.ts'

type RunOutput = CommandOutput<'run'>

const TEXTS = {
  en: {
    noAnswer: 'no answer',
    notUnderstood: {
      all: 'NOTHING WAS DONE: the offline model did not understand the task. Done means only that it ended.',
      part: 'NOT ALL WAS DONE: the offline model did not understand a part of the task, see above.',
    },
    stopped: (id: string) =>
      `Stopped before its end; nothing is lost. To go on with ${id}: tireless start --until-idle`,
    parked: (reason: string) => `parked: ${reason}`,
    needsApproval: 'parked: it needs your approval',
    resolve: 'to say what happened',
    answer: 'to answer',
    columns: { outcome: 'outcome', title: 'title' },
    labels: {
      ...{ folder: 'folder', session: 'session', task: 'task', unread: 'unread messages', wrote: 'wrote' },
      ...{ trace: 'trace', parent: 'started by run', child: 'sub-agent' },
    },
    since: (at: string) => `since ${at}`,
    undone: (status: string) => `${status} (undone)`,
    held: {
      ...{ paused: 'paused: tireless queue resume', no_kernel: 'starts when a kernel runs: tireless start' },
      ...{ workspace: 'another run works in its folder', slot: 'waits for its turn' },
    },
    away: (host: string) => `waits for ${host}, which has its files`,
    lastSeen: (seen: string) => `; last seen ${seen}`,
  },
  zh: {
    noAnswer: '没有答复',
    notUnderstood: {
      all: '什么也没有做：离线模型没有看懂这个任务。状态为“完成”只表示运行已经结束。',
      part: '没有全部做完：任务有一部分离线模型没有看懂，见上文。',
    },
    stopped: (id: string) => `尚未完成就停止了，没有丢失任何内容。继续 ${id}：tireless start --until-idle`,
    parked: (reason: string) => `已停下等待：${reason}`,
    needsApproval: '已停下等待：需要您的批准',
    resolve: '说明发生了什么',
    answer: '回答',
    columns: { outcome: '结果', title: '任务' },
    labels: {
      ...{ folder: '目录', session: '会话', task: '任务', unread: '未读消息', wrote: '写入' },
      ...{ trace: '轨迹', parent: '派出它的运行', child: '子智能体' },
    },
    since: (at: string) => `始于 ${at}`,
    undone: (status: string) => `${status}（已撤销）`,
    held: {
      ...{ paused: '已暂停：tireless queue resume', no_kernel: '内核启动后开始：tireless start' },
      ...{ workspace: '另一次运行正在使用它的文件夹', slot: '正在排队' },
    },
    away: (host: string) => `在等机器 ${host}，文件在那里`,
    lastSeen: (seen: string) => `；上次出现：${seen}`,
  },
} as const

const texts = () => TEXTS[terminalLanguage()]

export function renderRun(output: RunOutput): string {
  const { answer, error, wait, status, dispatch_id, not_understood } = output
  if (answer !== null)
    return not_understood === null ? answer : `${answer}\n${style('yellow', texts().notUnderstood[not_understood])}`
  if (wait) return renderParked(output, wait)
  if (status === 'pending' || status === 'running') return texts().stopped(shortId(dispatch_id))
  return `${status}: ${error ?? texts().noAnswer}`
}

function renderParked({ approvals, session_id }: RunOutput, wait: NonNullable<RunOutput['wait']>): string {
  const { parked, needsApproval, resolve, answer } = texts()
  if (approvals.length > 0)
    return [style('yellow', needsApproval), ...approvals.map(renderApproval), sayContinues()].join('\n')
  const waits = style('yellow', parked(wait.reason))
  if (wait.kind === 'unknown')
    return [waits, detail(resolve, `tireless unknowns resolve ${wait.unknown_id} --as happened|not|recheck`)].join('\n')
  if (wait.kind === 'observation')
    return [waits, detail(answer, `tireless send --session ${session_id} "…"`), sayContinues()].join('\n')
  return waits
}

/** Contract: the status in words; says if the run's work was taken back. */
export const statusOf = ({
  status,
  undone_by,
}: {
  readonly status: string
  readonly undone_by: string | null
}): string => (undone_by === null ? status : texts().undone(status))

function sayHeld({ kind, machine }: NonNullable<CommandOutput<'queue list'>['items'][number]['held_by']>): string {
  const { held, away, lastSeen } = texts()
  if (kind !== 'away') return held[kind]
  const seen = machine?.last_seen ?? null
  return `${away(machine?.host ?? '')}${seen === null ? '' : lastSeen(sayInstant(seen))}`
}

/** What came of each dispatch, then what its task was. */
export function renderQueue({ items }: CommandOutput<'queue list'>): string {
  const { columns } = texts()
  const rows = items.map(({ outcome, title, held_by, ...item }) => ({
    ...{ ...item, status: statusOf(item) },
    ...{ [columns.outcome]: held_by ? sayHeld(held_by) : outcome, [columns.title]: title },
  }))
  return formatTable(rows, ['dispatch_id', 'agent_id', 'status', columns.outcome, columns.title])
}

export function renderDispatch(dispatch: CommandOutput<'queue show'>): string {
  const { labels } = texts()
  const { dispatch_id, agent_id, session_id, status, title, result, error, wait, workspace, files } = dispatch
  const { parent_id, children, undone_by } = dispatch
  return [
    `${style('bold', dispatch_id)}  ${statusOf({ status, undone_by })}  ${agent_id}`,
    ...detailLines({ files, dispatch_id }),
    ...(workspace === null ? [] : [detail(labels.folder, workspace)]),
    detail(labels.session, session_id),
    detail(labels.task, title),
    ...familyLines({ parent_id, children }),
    ...[error, result ?? wait?.reason ?? null].flatMap((text) => (text === null ? [] : ['', text])),
  ].join('\n')
}

export function renderSession(session: CommandOutput<'sessions show'>): string {
  const { labels, since } = texts()
  const { session_id, agent_id, status, workspace, created_at, unread, runs } = session
  return [
    `${style('bold', session_id)}  ${status}  ${agent_id}  ${since(sayInstant(created_at))}`,
    detail(labels.folder, workspace),
    ...(unread.length === 0 ? [] : [detail(labels.unread, String(unread.length))]),
    ...runs.flatMap(({ dispatch_id, title, outcome, files, parent_id, children, ...run }) => [
      '',
      `${style('bold', dispatch_id)}  ${statusOf(run)}  ${title}`,
      ...(outcome === null ? [] : [`  ${outcome.replaceAll('\n', '\n  ')}`]),
      ...familyLines({ parent_id, children }),
      ...detailLines({ files, dispatch_id }),
    ]),
  ].join('\n')
}

const familyLines = ({
  parent_id,
  children,
}: Pick<CommandOutput<'queue show'>, 'parent_id' | 'children'>): string[] => [
  ...(parent_id === null ? [] : [detail(texts().labels.parent, parent_id)]),
  ...children.map(({ dispatch_id, agent_id, status, title }) =>
    detail(texts().labels.child, `${dispatch_id}  ${status}  ${agent_id}  ${title}`),
  ),
]

const detailLines = ({ files, dispatch_id }: { files: readonly string[]; dispatch_id: string }): string[] => [
  ...files.map((file) => detail(texts().labels.wrote, file)),
  detail(texts().labels.trace, `tireless trace show ${dispatch_id}`),
]

const detail = (name: string, text: string): string => `  ${style('dim', `${name}:`)} ${text}`
