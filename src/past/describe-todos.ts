/** Says which todos are open, failed or proved, with the command to type. Pure. */

import type { Language } from '../domain/language.ts'
import { shortId } from '../domain/short-id.ts'
import { describeTodoStatus } from '../domain/todo.ts'
import { truncateText } from '../domain/truncate.ts'
import { type ListedTodo, nameOf, type PastTodos, type TodoChoice, type TodoPlan } from './past-todos.ts'
import type { Period } from './period.ts'
import { sayPeriod, type Voice } from './say-time.ts'

interface Texts {
  readonly none: string
  readonly nothing: Readonly<Record<TodoChoice, string>>
  readonly heads: Readonly<Record<TodoChoice, string>>
  counts(counts: PastTodos['counts']): string
  plan(name: string, agent: string, task: string, session: string): string
  tried(times: number): string
  waitsFor(codes: string): string
  readonly asserted: string
  unknown(place: string, known: string): string
  leftOut(count: number): string
  readonly cut: string
  details(code: string, session: string): string
}

const TEXTS: Readonly<Record<Language, Texts>> = {
  en: {
    none: 'There are no todos.',
    nothing: {
      ...{
        open: 'No todo is open.',
        failed: 'No todo has failed.',
        done: 'No todo is done.',
        all: 'There are no todos.',
      },
      proved: 'No todo is done, so nothing has been proved.',
    },
    heads: {
      open: 'Open todos:',
      failed: 'Failed todos:',
      done: 'Todos that are done:',
      proved: 'Done:',
      all: 'Todos:',
    },
    counts: ({ all, open, failed, proved }) =>
      `In all ${all} ${all === 1 ? 'todo' : 'todos'}: ` +
      `${open} open (${failed} failed), ${all - open} done (${proved} proved).`,
    plan: (name, agent, task, session) => `${name} (${agent}: ${task}; session ${session})`,
    tried: (times) => (times === 1 ? 'failed once' : `failed ${times} times`),
    waitsFor: (codes) => `waits for ${codes}`,
    asserted: 'only asserted: no check proved it',
    unknown: (place, known) => `I know no plan named “${place}”. There are todos in: ${known}.`,
    leftOut: (count) => `… and ${count} more, which are left out here.`,
    cut: 'Only the newest todos were searched; there may be more.',
    details: (code, session) => `Details: tireless todo show ${code} --session ${session}`,
  },
  zh: {
    none: '没有待办。',
    nothing: {
      ...{ open: '没有未完成的待办。', failed: '没有失败的待办。', done: '没有已完成的待办。', all: '没有待办。' },
      proved: '没有已完成的待办，所以还没有什么得到证明。',
    },
    heads: {
      open: '未完成的待办：',
      failed: '失败的待办：',
      done: '已完成的待办：',
      proved: '已完成：',
      all: '待办：',
    },
    counts: ({ all, open, failed, proved }) =>
      `共 ${all} 项待办：${open} 项未完成（${failed} 项失败），${all - open} 项已完成（${proved} 项有证明）。`,
    plan: (name, agent, task, session) => `${name}（${agent}：${task}；会话 ${session}）`,
    tried: (times) => `失败 ${times} 次`,
    waitsFor: (codes) => `在等 ${codes}`,
    asserted: '只是声称：没有检查证明过',
    unknown: (place, known) => `没有叫“${place}”的计划。有待办的是：${known}。`,
    leftOut: (count) => `……还有 ${count} 项，这里没有列出。`,
    cut: '只查了最新的待办，可能还有更多。',
    details: (code, session) => `详情：tireless todo show ${code} --session ${session}`,
  },
}

const MAX_ERROR = 200

export function describeTodos(found: PastTodos, period: Period | undefined, voice: Voice): string {
  const texts = TEXTS[voice.language]
  const { plans, counts, choice, left_out, is_cut, unknown_place, places } = found
  if (unknown_place !== null) return texts.unknown(unknown_place, places.join(voice.language === 'zh' ? '、' : ', '))
  if (counts.all === 0) return texts.none
  const isTimed = period !== undefined && choice !== 'open'
  const when = isTimed ? [`${sayPeriod(period, voice)}${voice.language === 'zh' ? '：' : ':'}`] : []
  if (plans.length === 0) return [...when, texts.nothing[choice], texts.counts(counts)].join('\n')
  const [first] = plans
  const example = first?.todos.find(({ last_error }) => last_error !== null) ?? first?.todos[0]
  return [
    ...when,
    texts.heads[choice],
    ...plans.flatMap((plan) => describePlan(plan, texts)),
    ...(left_out > 0 ? [texts.leftOut(left_out)] : []),
    texts.counts(counts),
    ...(is_cut ? [texts.cut] : []),
    ...(first && example ? [texts.details(example.code, shortId(first.session_id))] : []),
  ].join('\n')
}

function describePlan(plan: TodoPlan, texts: Texts): readonly string[] {
  const { agent_id, title, session_id, todos } = plan
  return [
    texts.plan(nameOf(plan), agent_id, title, shortId(session_id)),
    ...todos.map((todo) => describeTodo(todo, texts)),
  ]
}

function describeTodo(todo: ListedTodo, texts: Texts): string {
  const { code, title, status, proof, attempts, last_error, waits_for } = todo
  const shown = status === 'DONE' && proof === 'proved' ? 'DONE (proved)' : describeTodoStatus(todo)
  const details = [
    ...(attempts > 0 ? [texts.tried(attempts)] : []),
    ...(waits_for.length > 0 ? [texts.waitsFor(waits_for.join(', '))] : []),
    ...(status === 'DONE' && proof !== 'proved' ? [texts.asserted] : []),
  ]
  const error = last_error === null ? '' : `\n  “${oneLine(last_error)}”`
  return `- ${code} ${shown}: ${title}${details.length > 0 ? ` — ${details.join(', ')}` : ''}${error}`
}

const oneLine = (text: string): string =>
  truncateText(text.replaceAll(/\s+/g, ' ').trim(), MAX_ERROR, { mark: '…', includesMark: true, unit: 'code_point' })

/** "2 todos are open, 1 of them failed." as one line of another answer; empty if none is open. */
export function describeOpenTodos(
  { open, failed }: { readonly open: number; readonly failed: number },
  { language }: Voice,
): readonly string[] {
  if (open === 0) return []
  const english = `${open} ${open === 1 ? 'todo is' : 'todos are'} open${failed > 0 ? `, ${failed} failed` : ''}`
  const chinese = `${open} 项待办未完成${failed > 0 ? `，其中 ${failed} 项失败` : ''}`
  return [language === 'zh' ? `${chinese}（详情：tireless todo list）。` : `${english} (tireless todo list).`]
}
