/** Who changed a workspace or a file, newest first: each change with its lines, undone where it is shown. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import type { WorkspaceWrite } from '../api-types.ts'
import { Button, Card, Empty } from '../components.tsx'
import { clockTime, oneLine, relativeTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { NotFetched } from '../tabbed-place.tsx'
import { UndoButton } from '../talk/undo.tsx'
import { WORK_TEXTS } from '../texts/work.ts'
import { useFetched, useKept } from '../use-fetched.ts'
import type { ViewContext } from '../view-context.ts'
import { Changes } from './changes.tsx'

interface HistoryProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly workspace: string
  /** Only of this file, or of this folder. */
  readonly path?: string | undefined
}

const PAGE_WRITES = 30

export function History({ context, page, workspace, path }: HistoryProps) {
  const { language } = context
  const own = WORK_TEXTS[language].workspaces
  const [limit, setLimit] = useState(PAGE_WRITES)
  const subject = JSON.stringify([workspace, path])
  const state = useFetched(page, `${subject} ${limit}`, () => readCommand('workspace log', { workspace, path, limit }))
  const shown = useKept(state, subject)
  if (!shown) return <NotFetched language={language} state={state} />
  if (shown.items.length === 0)
    return (
      <Card>
        <Empty>{path === undefined ? own.noHistory : own.noFileHistory}</Empty>
      </Card>
    )
  return (
    <div class="flex flex-col gap-2">
      <ol class="flex flex-col gap-2">
        {shown.items.map((write) => (
          <li key={write.run_id}>
            <Write {...{ context, page, write, path }} />
          </li>
        ))}
      </ol>
      {shown.more && (
        <span>
          <Button onClick={() => setLimit(limit + PAGE_WRITES)}>{own.earlier}</Button>
        </span>
      )}
    </div>
  )
}

interface WriteProps extends Pick<HistoryProps, 'context' | 'page' | 'path'> {
  readonly write: WorkspaceWrite
}

function Write({ context, page, write, path }: WriteProps) {
  const { language, now } = context
  const own = WORK_TEXTS[language].workspaces
  const [isOpen, setOpen] = useState(false)
  const { run_id, kind, agent_id, at, undone_by } = write
  const when = Date.parse(at)
  return (
    <Card class="px-4 py-3">
      <div class="flex flex-wrap items-baseline justify-between gap-x-3" data-write={run_id}>
        <WriteTitle write={write} kinds={own.kinds} />
        <time class="label" dateTime={at} title={clockTime(when, now, language)}>
          {relativeTime(when, now, language)}
        </time>
      </div>
      <p class="label flex flex-wrap gap-x-2.5">
        {agent_id !== null && <span class="wrap-anywhere">{visibleText(agent_id)}</span>}
        {(['added', 'changed', 'removed', 'repositories'] as const)
          .filter((each) => write[each].length > 0)
          .map((each) => (
            <span key={each}>{own.counts[each](write[each].length)}</span>
          ))}
        {undone_by !== null && <span>{own.undone}</span>}
      </p>
      <div class="mt-2 flex flex-wrap gap-2">
        <Button onClick={() => setOpen(!isOpen)}>{isOpen ? own.hideChanges : own.showChanges}</Button>
        {kind === 'run' && <UndoButton {...{ context, page }} run={{ dispatch_id: run_id, undone_by }} />}
      </div>
      {isOpen && (
        <div class="mt-3">
          <Changes page={page} language={language} of={{ run: run_id }} path={path} />
        </div>
      )}
    </Card>
  )
}

interface WriteTitleProps {
  readonly write: WorkspaceWrite
  readonly kinds: { readonly undo: string; readonly merge: string }
}

function WriteTitle({ write: { run_id, kind, title }, kinds }: WriteTitleProps) {
  if (kind !== 'run') return <span class="font-medium">{kinds[kind]}</span>
  return (
    <a class="min-w-0 font-medium wrap-anywhere hover:underline" href={`/runs/${encodeURIComponent(run_id)}`}>
      {visibleText(oneLine(title))}
    </a>
  )
}
