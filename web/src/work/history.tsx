/** Who changed a workspace, newest first: each change with its files, and undone where it was made. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import type { WorkspaceWrite } from '../api-types.ts'
import { Button, Card, Empty } from '../components.tsx'
import { clockTime, oneLine, relativeTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { WORK_TEXTS } from '../texts/work.ts'
import { useFetched } from '../use-fetched.ts'
import type { ViewContext } from '../view-context.ts'
import { Changes } from './changes.tsx'
import { NotFetched } from './frame.tsx'

interface HistoryProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly workspace: string
}

export function History({ context, page, workspace }: HistoryProps) {
  const { language } = context
  const state = useFetched(page, workspace, () => readCommand('workspace log', { workspace, limit: 50 }))
  if (state.kind !== 'ready') return <NotFetched language={language} state={state} />
  const { items } = state.data
  if (items.length === 0)
    return (
      <Card>
        <Empty>{WORK_TEXTS[language].workspaces.noHistory}</Empty>
      </Card>
    )
  return (
    <ol class="flex flex-col gap-2">
      {items.map((write) => (
        <li key={write.run_id}>
          <Write context={context} page={page} write={write} />
        </li>
      ))}
    </ol>
  )
}

interface WriteProps extends Pick<HistoryProps, 'context' | 'page'> {
  readonly write: WorkspaceWrite
}

function Write({ context: { language, now }, page, write }: WriteProps) {
  const own = WORK_TEXTS[language].workspaces
  const [isOpen, setOpen] = useState(false)
  const { run_id, title, at } = write
  const when = Date.parse(at)
  return (
    <Card class="px-4 py-3">
      <div class="flex flex-wrap items-baseline justify-between gap-x-3">
        <a class="min-w-0 font-medium hover:underline wrap-anywhere" href={`/runs/${encodeURIComponent(run_id)}`}>
          {visibleText(oneLine(title))}
        </a>
        <time class="label" dateTime={at} title={clockTime(when, now, language)}>
          {relativeTime(when, now, language)}
        </time>
      </div>
      <p class="label">
        {(['added', 'changed', 'removed', 'repositories'] as const)
          .filter((kind) => write[kind].length > 0)
          .map((kind) => `${own.counts[kind]}: ${write[kind].length}`)
          .join(' · ')}
      </p>
      <div class="mt-2 flex gap-2">
        <Button onClick={() => setOpen(!isOpen)}>{isOpen ? own.hideChanges : own.showChanges}</Button>
      </div>
      {isOpen && (
        <div class="mt-3">
          <Changes page={page} language={language} run={run_id} />
        </div>
      )}
    </Card>
  )
}
