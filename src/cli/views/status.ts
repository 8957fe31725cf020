/** What `status` shows to people: is it well, what runs, what waits for them, what runs next, what it costs. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { shortId } from '../../domain/short-id.ts'
import { escapeLookalikes, style } from '../terminal.ts'
import { sayConnection } from './channels.ts'
import { terminalLanguage } from './language.ts'
import { residentLines } from './residents.ts'
import { formatLabelled, shortenCell } from './table.ts'
import { sayInstant } from './times.ts'
import { workerLines } from './workers.ts'

type Status = CommandOutput<'status'>

const TEXTS = {
  en: {
    labels: {
      ...{ kernel: 'kernel', beat: 'next beat', page: 'page', health: 'health', waits: 'waits for you' },
      ...{
        runs: 'running',
        queue: 'queue',
        agents: 'agents',
        residents: 'residents',
        channels: 'channels',
        money: 'spent today',
        model: 'model',
        processes: 'processes',
      },
    },
    states: { running: 'running', paused: 'paused; run: tireless resume', stopped: 'stopped; run: tireless start' },
    noBeat: 'no agent is scheduled',
    notRunning: 'none while the kernel is stopped',
    toOpen: (page: string) => `${page}   to open it: tireless open`,
    startedBy: (run: string) => `(for ${run})`,
    well: 'ok',
    nothing: 'nothing',
    approvals: (count: number) => `${count} to approve: tireless approvals list`,
    questions: (count: number) => `${count} to answer: tireless queue list --status waiting`,
    unknowns: (count: number) => `${count} with unknown outcome: tireless unknowns list`,
    need: (title: string, id: string) => `${title}: tireless needs show ${id}`,
    queue: ({ pending, waiting, done, failed, dead }: Status['queue']) =>
      `${pending} pending, ${waiting} waiting, ${done} done, ${failed + dead} failed`,
    money: (spent: string, cap: string | undefined, calls: number) =>
      `${spent}${cap === undefined ? '' : ` of ${cap}`}, ${calls} model ${calls === 1 ? 'call' : 'calls'}`,
    noAgents: 'none; create one: tireless agent new "…"',
    next: (at: string) => `next run ${at}`,
    noNext: 'not scheduled',
    disabled: 'disabled',
    offline: 'only a stand-in; for real work set an API key: tireless models list',
  },
  zh: {
    labels: {
      ...{ kernel: '内核', beat: '下次节拍', page: '页面', health: '健康', waits: '等您处理' },
      ...{
        runs: '正在运行',
        queue: '队列',
        agents: '智能体',
        residents: '常驻智能体',
        channels: '通道',
        money: '今日花费',
        model: '模型',
        processes: '进程',
      },
    },
    states: { running: '运行中', paused: '已暂停；恢复：tireless resume', stopped: '已停止；启动：tireless start' },
    noBeat: '没有计划运行的智能体',
    notRunning: '内核停止时没有',
    toOpen: (page: string) => `${page}   打开：tireless open`,
    startedBy: (run: string) => `（由 ${run} 派出）`,
    well: '正常',
    nothing: '没有',
    approvals: (count: number) => `${count} 项待批准：tireless approvals list`,
    questions: (count: number) => `${count} 项待回答：tireless queue list --status waiting`,
    unknowns: (count: number) => `${count} 项结果不明：tireless unknowns list`,
    need: (title: string, id: string) => `${title}：tireless needs show ${id}`,
    queue: ({ pending, waiting, done, failed, dead }: Status['queue']) =>
      `排队 ${pending}，等待 ${waiting}，完成 ${done}，失败 ${failed + dead}`,
    money: (spent: string, cap: string | undefined, calls: number) =>
      `${spent}${cap === undefined ? '' : `，上限 ${cap}`}，模型调用 ${calls} 次`,
    noAgents: '没有；创建：tireless agent new "…"',
    next: (at: string) => `下次运行 ${at}`,
    noNext: '没有计划',
    disabled: '已停用',
    offline: '只是替身；要真正工作请设置 API 密钥：tireless models list',
  },
} as const

const texts = () => TEXTS[terminalLanguage()]

export function renderStatus(status: Status): string {
  const { labels, states, noBeat, notRunning, toOpen, queue } = texts()
  const { state, next_beat } = status.kernel
  return formatLabelled([
    [labels.kernel, states[state]],
    [labels.beat, next_beat === null ? (status.page === null ? notRunning : noBeat) : sayInstant(next_beat)],
    [labels.page, status.page === null ? notRunning : toOpen(status.page)],
    ...problemLines(status).map((problem) => [labels.health, problem] as const),
    ...waitingLines(status).map((waiting) => [labels.waits, waiting] as const),
    ...runLines(status).map((run) => [labels.runs, run] as const),
    [labels.queue, queue(status.queue)],
    ...agentLines(status).map((agent) => [labels.agents, agent] as const),
    ...residentLines(status).map((resident) => [labels.residents, resident] as const),
    ...status.channels.map(({ name, ...state }) => [labels.channels, `${name}  ${sayConnection(state)}`] as const),
    ...workerLines(status).map((worker) => [labels.processes, worker] as const),
    [labels.money, sayMoney(status)],
    [labels.model, `${status.model.id}${status.model.note === null ? '' : ` (${texts().offline})`}`],
  ])
}

function problemLines({ health: { ok, reasons }, degraded }: Status): readonly string[] {
  const problems = [...reasons, ...degraded]
  if (ok && problems.length === 0) return [style('green', texts().well)]
  return [...reasons.map((reason) => style('red', reason)), ...degraded.map((part) => style('yellow', part))]
}

function waitingLines({ approvals, questions, unknowns, needs }: Status): readonly string[] {
  const waiting = [
    ...(approvals === 0 ? [] : [texts().approvals(approvals)]),
    ...(questions === 0 ? [] : [texts().questions(questions)]),
    ...(unknowns === 0 ? [] : [texts().unknowns(unknowns)]),
    ...needs.map(({ id, title, title_zh }) =>
      texts().need(escapeLookalikes(terminalLanguage() === 'zh' ? title_zh : title), id),
    ),
  ]
  return waiting.length === 0 ? [texts().nothing] : waiting.map((line) => style('yellow', line))
}

function runLines({ runs }: Status): readonly string[] {
  if (runs.length === 0) return [texts().nothing]
  return runs.map(({ agent_id, dispatch_id, title, parent_id }) => {
    const parent = parent_id === null ? '' : ` ${texts().startedBy(shortId(parent_id))}`
    return `${agent_id} ${shortId(dispatch_id)}${parent}  ${shortenCell(title)}`
  })
}

function agentLines({ agents }: Status): readonly string[] {
  const { noAgents, next, noNext, disabled } = texts()
  const scheduled = agents.filter(({ on_call }) => !on_call)
  if (scheduled.length === 0) return [noAgents]
  return scheduled.map(({ agent_id, enabled, next_at }) => {
    const when = next_at === null ? noNext : next(sayInstant(next_at))
    return `${agent_id}: ${enabled ? when : disabled}`
  })
}

function sayMoney({ spend: { today_usd, cap_usd, calls } }: Status): string {
  const dollars = (usd: number): string => `$${usd.toFixed(2)}`
  const cap = cap_usd === null ? undefined : dollars(cap_usd)
  return texts().money(dollars(today_usd ?? 0), cap, calls ?? 0)
}
