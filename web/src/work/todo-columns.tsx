/** Todos in columns by status, of one session or of all; they tick over as they are worked on. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import type { Todo } from '../api-types.ts'
import { Card, Empty } from '../components.tsx'
import { oneLine, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { plainLine } from '../plain-line.ts'
import { navigate } from '../shell/router.ts'
import { NotFetched } from '../tabbed-place.tsx'
import { describeError } from '../texts/error-reasons.ts'
import { sayTitle } from '../texts/errors.ts'
import { BOARD_TEXTS } from '../texts/work-board.ts'
import { useFetched, useKept } from '../use-fetched.ts'
import type { ViewContext } from '../view-context.ts'
import { withQuery } from './filters.tsx'
import { TodoDialog } from './todo-dialog.tsx'

const COLUMNS = [
  { name: 'open', statuses: ['WAIT'] },
  { name: 'working', statuses: ['IN_PROGRESS'] },
  { name: 'checking', statuses: ['COMPLETE'] },
  { name: 'wrong', statuses: ['CHECK_FAILED', 'FAILED'] },
  { name: 'done', statuses: ['DONE'] },
] as const

type ColumnName = (typeof COLUMNS)[number]['name']

interface Column {
  readonly name: ColumnName
  readonly items: readonly Todo[]
  readonly total: number
}

const PAGE_TODOS = 20

interface TodoColumnsProps {
  readonly context: ViewContext
  readonly page: PageState
  /** Only of this session. */
  readonly session?: string | undefined
  /** The address at which the columns are; it names the todo that is open. */
  readonly path: string
  readonly query: URLSearchParams
}

export function TodoColumns({ context, page, session, path, query }: TodoColumnsProps) {
  const { language } = context
  const own = BOARD_TEXTS[language]
  const [limits, setLimits] = useState<Partial<Record<ColumnName, number>>>({})
  const state = useFetched(page, `${session} ${JSON.stringify(limits)}`, async () =>
    dropMoved(await Promise.all(COLUMNS.map((each) => fetchColumn(each, session, limits[each.name])))),
  )
  const columns = useKept(state, session ?? '')
  if (!columns) return <NotFetched language={language} state={state} />
  const opened = query.get('todo')
  const of = query.get('of') ?? session ?? ''
  return (
    <>
      {columns.every(({ total }) => total === 0) ? (
        <Card>
          <Empty>{session === undefined ? own.empty : own.emptySession}</Empty>
        </Card>
      ) : (
        <div class="grid items-start gap-3 md:grid-cols-2 lg:grid-cols-5" data-board>
          {columns.map((column) => (
            <ColumnView
              key={column.name}
              {...{ context, column }}
              isOfAll={session === undefined}
              addressOf={({ code, session_id }) => withQuery(path, query, { todo: code, of: session_id })}
              onMore={(limit) => setLimits({ ...limits, [column.name]: limit })}
            />
          ))}
        </div>
      )}
      {opened !== null && (
        <TodoDialog
          {...{ context, page, code: opened, session: of }}
          onClose={() => navigate(withQuery(path, query, { todo: '', of: '' }), { replace: true })}
        />
      )}
    </>
  )
}

async function fetchColumn(
  { name, statuses }: (typeof COLUMNS)[number],
  session: string | undefined,
  limit = PAGE_TODOS,
): Promise<Column> {
  const lists = await Promise.all(statuses.map((status) => readCommand('todo list', { session, status, limit })))
  return {
    name,
    items: lists.flatMap(({ items }) => items).slice(0, limit),
    total: lists.reduce((sum, { total }) => sum + total, 0),
  }
}

const idOf = ({ session_id, code }: Todo): string => `${session_id} ${code}`

/** Contract: a todo that moved while the columns were read is only in the one to which it came last. */
function dropMoved(columns: readonly Column[]): readonly Column[] {
  const newest = new Map<string, Todo>()
  for (const todo of columns.flatMap(({ items }) => items)) {
    const known = newest.get(idOf(todo))
    if (!known || known.updated_at <= todo.updated_at) newest.set(idOf(todo), todo)
  }
  return columns.map(({ name, items, total }) => {
    const kept = items.filter((todo) => newest.get(idOf(todo)) === todo)
    return { name, items: kept, total: total - (items.length - kept.length) }
  })
}

interface ColumnProps {
  readonly context: ViewContext
  readonly column: Column
  /** Codes of several sessions stand side by side. */
  readonly isOfAll: boolean
  addressOf(todo: Todo): string
  onMore(limit: number): void
}

function ColumnView({ context, column: { name, items, total }, isOfAll, addressOf, onMore }: ColumnProps) {
  const own = BOARD_TEXTS[context.language]
  const rest = total - items.length
  return (
    <section class="min-w-0 rounded-xl bg-sunken p-2" data-column={name} aria-label={own.columns[name]}>
      <h3 class="flex items-baseline justify-between px-1.5 pb-1.5 font-medium">
        {own.columns[name]} <span class="label figures">{total}</span>
      </h3>
      {total === 0 && <p class="label px-1.5 pb-1">{own.emptyColumn}</p>}
      <ul class="flex flex-col gap-1.5">
        {items.map((todo) => (
          <li key={idOf(todo)}>
            <TodoCard {...{ context, todo, isOfAll }} href={addressOf(todo)} />
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <button
          type="button"
          class="mt-1.5 w-full cursor-pointer rounded-md px-1.5 py-1 text-link hover:underline"
          onClick={() => onMore(items.length + PAGE_TODOS)}
        >
          {own.more(Math.min(rest, PAGE_TODOS))}
        </button>
      )}
    </section>
  )
}

interface TodoCardProps {
  readonly context: ViewContext
  readonly todo: Todo
  readonly isOfAll: boolean
  readonly href: string
}

function TodoCard({ context: { language }, todo, isOfAll, href }: TodoCardProps) {
  const own = BOARD_TEXTS[language]
  const { code, title, type, status, last_error, attempts, assignee, waits_for, proof } = todo
  const facts = [
    ...(type === 'Bench' ? [own.bench] : []),
    ...(status === 'CHECK_FAILED' ? [own.statuses[status]] : []),
    ...(waits_for.length === 0 || status === 'DONE' ? [] : [own.waitsFor(waits_for.join(', '))]),
    ...(assignee === null ? [] : [own.assignee(visibleText(assignee))]),
    ...checkFacts(todo, own),
    ...(attempts === 0 ? [] : [own.attempts(attempts)]),
    ...(proof === null ? [] : [own.proofs[proof]]),
  ]
  return (
    <a
      class="block rounded-lg border border-line bg-surface px-2.5 py-2 hover:border-other"
      href={href}
      data-todo={code}
      data-status={status}
    >
      <span class={`line-clamp-4 wrap-anywhere ${status === 'DONE' ? 'text-muted' : ''}`}>
        <span class="label figures font-mono">{visibleText(code)}</span> {visibleText(oneLine(title))}
      </span>
      {isOfAll && (
        <span class="label block truncate" data-todo-session>
          {plainLine(sayTitle(todo.session_title ?? todo.session_id, language))}
        </span>
      )}
      {facts.length > 0 && <span class="label block wrap-anywhere">{facts.join(' · ')}</span>}
      {last_error !== null && status !== 'DONE' && (
        <span class="mt-0.5 line-clamp-2 text-[13px] wrap-anywhere text-fault">
          {oneLine(describeError(last_error, language))}
        </span>
      )}
    </a>
  )
}

function checkFacts({ checks, checks_passed }: Todo, own: (typeof BOARD_TEXTS)['en']): readonly string[] {
  if (checks.length === 0) return []
  return [checks_passed === null ? own.unchecked(checks.length) : own.checks(checks_passed, checks.length)]
}
