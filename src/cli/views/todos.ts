/** Shows todos as a table, and one todo with its checks, notes and receipts. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { shortId } from '../../domain/short-id.ts'
import type { CheckResult, TodoCheck } from '../../domain/todo.ts'
import { escapeLookalikes, style } from '../terminal.ts'
import { terminalLanguage } from './language.ts'
import { formatTable } from './table.ts'
import { sayInstant } from './times.ts'

const TEXTS = {
  en: {
    none: 'There are no todos.',
    columns: {
      ...{ code: 'code', status: 'status', proof: 'proof', attempts: 'failed', waits: 'waits for', title: 'title' },
      session: 'session',
    },
    proofs: { proved: 'proved', asserted: 'asserted' },
    labels: {
      ...{ session: 'session', waits: 'waits for', assignee: 'assigned to', attempts: 'failed', error: 'last error' },
      ...{ checks: 'checks', notes: 'notes', receipts: 'receipts' },
    },
    times: (n: number) => `${n} ${n === 1 ? 'time' : 'times'}`,
    before: 'before the work',
    after: 'after the work',
    results: { passed: 'passed', failed: 'failed', none: 'not executed' },
    refused: (kind: string) => `refused (${kind})`,
  },
  zh: {
    none: '没有待办。',
    columns: {
      ...{ code: '编号', status: '状态', proof: '证明', attempts: '失败', waits: '等待', title: '标题' },
      session: '会话',
    },
    proofs: { proved: '已证明', asserted: '仅声称' },
    labels: {
      ...{ session: '会话', waits: '等待', assignee: '分派给', attempts: '失败', error: '最近的错误' },
      ...{ checks: '检查', notes: '备注', receipts: '回执' },
    },
    times: (n: number) => `${n} 次`,
    before: '工作之前',
    after: '工作之后',
    results: { passed: '通过', failed: '未通过', none: '未执行' },
    refused: (kind: string) => `被拒绝（${kind}）`,
  },
} as const

const texts = () => TEXTS[terminalLanguage()]

export function renderTodos({ items }: CommandOutput<'todo list'>): string {
  const { none, columns, proofs } = texts()
  if (items.length === 0) return none
  const sessions = new Set(items.map(({ session_id }) => session_id))
  const rows = items.map(({ code, shown, proof, attempts, waits_for, title, session_id }) => ({
    ...{ [columns.code]: code, [columns.status]: shown, [columns.proof]: proof && proofs[proof] },
    ...{ [columns.attempts]: attempts === 0 ? null : attempts, [columns.waits]: waits_for.join(' ') || null },
    ...{ [columns.title]: title, [columns.session]: shortId(session_id) },
  }))
  const names = ['code', 'status', 'proof', 'attempts', 'waits', 'title', 'session'] as const
  return formatTable(
    rows,
    names.filter((name) => name !== 'session' || sessions.size > 1).map((name) => columns[name]),
  )
}

const line = (name: string, text: string): string => `  ${style('dim', `${name}:`)} ${escapeLookalikes(text)}`

export function renderTodo(todo: CommandOutput<'todo show'>): string {
  const { labels, proofs, times } = texts()
  const proof = todo.proof === null || todo.shown.includes('(') ? '' : ` (${proofs[todo.proof]})`
  return [
    `${style('bold', todo.code)}  ${todo.shown}${proof}  ${escapeLookalikes(todo.title)}`,
    line(labels.session, todo.session_id),
    ...(todo.waits_for.length === 0 ? [] : [line(labels.waits, todo.waits_for.join(', '))]),
    ...(todo.assignee === null ? [] : [line(labels.assignee, todo.assignee)]),
    ...(todo.attempts === 0 ? [] : [line(labels.attempts, times(todo.attempts))]),
    ...(todo.last_error === null ? [] : [line(labels.error, indent(todo.last_error))]),
    ...section(
      labels.checks,
      todo.checks.flatMap((check, at) => checkLines(check, todo, at)),
    ),
    ...section(
      labels.notes,
      todo.notes.map(({ at, verb, by, text }) => `${sayInstant(at)} ${by} ${verb}: ${indent(text)}`),
    ),
    ...section(labels.receipts, todo.receipts.toReversed().map(receiptLine)),
  ].join('\n')
}

const section = (name: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`  ${style('dim', `${name}:`)}`, ...lines.map((text) => `    ${escapeLookalikes(text)}`)]

const indent = (text: string): string => text.replaceAll('\n', '\n      ')

type Evidence = Pick<CommandOutput<'todo show'>, 'baseline' | 'evidence'>

function checkLines(check: TodoCheck, { baseline, evidence }: Evidence, at: number): readonly string[] {
  const { before, after } = texts()
  const { kind, ...rest } = check
  return [
    `${kind} ${JSON.stringify(rest)}`,
    `  ${before}: ${resultText(baseline?.[at])}`,
    `  ${after}: ${resultText(evidence?.[at])}`,
  ]
}

function resultText(result: CheckResult | undefined): string {
  const { results } = texts()
  if (!result) return results.none
  const { ok, observed, at, digest, output } = result
  const copy = digest === '' ? '' : `, sha256 ${digest.slice(0, 12)}`
  const head = `${ok ? results.passed : results.failed}: ${observed} (${sayInstant(at)}${copy})`
  return ok || output === '' ? head : `${head}\n      ${indent(output)}`
}

function receiptLine({ at, op_id, actions, changed, refusal }: CommandOutput<'todo show'>['receipts'][number]): string {
  const outcome = refusal === null ? changed.join(' ') || '=' : texts().refused(refusal.kind)
  return `${sayInstant(at)} ${op_id} ${actions.join(', ')}: ${outcome}`
}
