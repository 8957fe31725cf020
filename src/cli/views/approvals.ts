/** Shows an approval with its complete arguments, escaped so that the terminal hides nothing, and what to type. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { shortId } from '../../domain/short-id.ts'
import { escapeLookalikes, style } from '../terminal.ts'
import { terminalLanguage } from './language.ts'
import { formatTable } from './table.ts'
import { sayInstant } from './times.ts'

type Approval = CommandOutput<'approvals allow'>

const TEXTS = {
  en: {
    states: { open: 'open', allowed: 'allowed', denied: 'denied', expired: 'expired' },
    until: (at: string) => `until ${at}`,
    labels: {
      ...{ tool: 'tool', arguments: 'arguments', destination: 'destination', why: 'why', by: 'requested by' },
      ...{ answer: 'answer', allow: 'to allow it', deny: 'to deny it' },
    },
    effect: (reach: string, recovery: string) => `(reach ${reach}, recovery ${recovery})`,
    from: (source: string, trusted: boolean) => `(from ${source}${trusted ? '' : ', not trusted'})`,
    origin: (run: string, step: number) => `run ${run}, step ${step}`,
    continues: 'Then it continues: at once while the kernel runs, otherwise with tireless start --until-idle',
    goesOn: 'It continues at once while the kernel runs, otherwise with: tireless start --until-idle',
    noneOpen: 'Nothing waits for your approval.',
    answered: 'Answered:',
    columns: { status: 'status', tool: 'tool', at: 'answered' },
  },
  zh: {
    states: { open: '待批准', allowed: '已允许', denied: '已拒绝', expired: '已过期' },
    until: (at: string) => `截止 ${at}`,
    labels: {
      ...{ tool: '工具', arguments: '参数', destination: '目的地', why: '原因', by: '请求者' },
      ...{ answer: '答复', allow: '允许', deny: '拒绝' },
    },
    effect: (reach: string, recovery: string) => `（影响范围 ${reach}，恢复方式 ${recovery}）`,
    from: (source: string, trusted: boolean) => `（来自 ${source}${trusted ? '' : '，不可信'}）`,
    origin: (run: string, step: number) => `运行 ${run}，第 ${step} 步`,
    continues: '之后它会继续：内核运行时立即继续，否则用 tireless start --until-idle',
    goesOn: '内核运行时它立即继续，否则用：tireless start --until-idle',
    noneOpen: '没有等待批准的调用。',
    answered: '已答复：',
    columns: { status: '状态', tool: '工具', at: '答复时间' },
  },
} as const

const texts = () => TEXTS[terminalLanguage()]

const line = (name: string, text: string): string => `  ${style('dim', `${name}:`)} ${text}`

export function renderApproval(approval: Approval): string {
  const { states, until, labels, effect: sayEffect, from: sayFrom, origin: sayOrigin } = texts()
  const { id, tool, args, effect, sinks, reason, origin, expires_at, status, answer_reason } = approval
  const isOpen = status === 'open'
  return [
    `${style('bold', id)}  ${states[status]}${isOpen ? ` ${until(sayInstant(expires_at))}` : ''}`,
    line(labels.tool, `${escapeLookalikes(tool)} ${sayEffect(effect.reach, effect.recovery)}`),
    line(labels.arguments, escapeLookalikes(JSON.stringify(args, null, 2)).replaceAll('\n', '\n  ')),
    ...sinks.map(({ to, from, trusted }) =>
      line(labels.destination, `${escapeLookalikes(to)}  ${sayFrom(escapeLookalikes(from), trusted)}`),
    ),
    line(labels.why, escapeLookalikes(reason)),
    line(labels.by, sayOrigin(origin.run_id, origin.step)),
    ...(answer_reason === null ? [] : [line(labels.answer, escapeLookalikes(answer_reason))]),
    ...(isOpen ? whatToType(id) : []),
  ].join('\n')
}

const whatToType = (id: string): readonly string[] => [
  line(texts().labels.allow, `tireless approvals allow ${id}`),
  line(texts().labels.deny, `tireless approvals deny ${id}`),
]

/** An approval that was just answered. */
export const renderAnswered = (approval: Approval): string => `${renderApproval(approval)}\n${texts().goesOn}`

/** Contract: what happens after the answer. */
export const sayContinues = (): string => texts().continues

/** Open ones in full; answered ones, which need nothing any more, in a line each. */
export function renderApprovals({ items }: CommandOutput<'approvals list'>): string {
  const { noneOpen, answered, columns, states } = texts()
  const open = items.filter(({ status }) => status === 'open').map(renderApproval)
  const rows = items
    .filter(({ status }) => status !== 'open')
    .map(({ id, tool, status, answered_at }) => ({
      id: shortId(id),
      [columns.status]: states[status],
      [columns.tool]: escapeLookalikes(tool),
      [columns.at]: answered_at,
    }))
  const table = formatTable(rows, ['id', columns.status, columns.tool, columns.at])
  return [...(open.length === 0 ? [noneOpen] : open), ...(rows.length === 0 ? [] : [`${answered}\n${table}`])].join(
    '\n\n',
  )
}
