/** One run of the queue: its state, why it is in it, and what can be done. */

import type { Dispatch } from '../api-types.ts'
import { Dot, toneOf } from '../components.tsx'
import { clockTime, relativeTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { plainLine } from '../plain-line.ts'
import { sayTitle } from '../texts/errors.ts'
import { QUEUE_TEXTS } from '../texts/work-queue.ts'
import type { ViewContext } from '../view-context.ts'
import { QueueButtons } from './queue-actions.tsx'
import { Why } from './why.tsx'

interface QueueRowProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly run: Dispatch
  readonly isSelected: boolean
  onSelect(isSelected: boolean): void
}

const ROW_CLASSES = [
  'grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 border-b border-line px-4 py-2.5',
  'sm:grid-cols-[auto_minmax(0,1fr)_auto]',
].join(' ')

export function QueueRow({ context, page, run, isSelected, onSelect }: QueueRowProps) {
  const { language } = context
  const own = QUEUE_TEXTS[language]
  const { dispatch_id, status } = run
  const title = plainLine(sayTitle(run.title, language))
  return (
    <div class={ROW_CLASSES} data-queue={dispatch_id} data-status={status}>
      <input
        type="checkbox"
        class="mt-1 size-4 accent-(--ink)"
        aria-label={own.select(title)}
        checked={isSelected}
        onChange={({ currentTarget }) => onSelect(currentTarget.checked)}
      />
      <div class="min-w-0">
        <p class="flex min-w-0 items-center gap-2">
          <Dot tone={run.paused ? 'wait' : toneOf(status)} pulsing={status === 'running'} />
          <a class="truncate font-medium hover:underline" href={`/runs/${encodeURIComponent(dispatch_id)}`}>
            {title}
          </a>
        </p>
        <Facts context={context} run={run} />
        <Why context={context} page={page} run={run} />
      </div>
      <div class="col-start-2 mt-1.5 flex flex-wrap items-start gap-1.5 sm:col-start-3 sm:row-start-1 sm:mt-0">
        <QueueButtons {...{ page, language }} runs={[run]} name={`queue ${dispatch_id}`} />
      </div>
    </div>
  )
}

function Facts({ context: { language, now }, run }: Pick<QueueRowProps, 'context' | 'run'>) {
  const own = QUEUE_TEXTS[language]
  const { status, paused, agent_id, session_id, priority, attempts, undone_by, updated_at } = run
  const changed = Date.parse(updated_at)
  return (
    <p class="label flex flex-wrap gap-x-2.5">
      <span class={status === 'failed' || status === 'dead' ? 'text-fault' : ''}>
        {own.statuses[status] ?? status}
        {paused && status !== 'running' && ` · ${own.paused}`}
      </span>
      <span class="wrap-anywhere">{visibleText(agent_id)}</span>
      <time dateTime={updated_at} title={clockTime(changed, now, language)}>
        {relativeTime(changed, now, language)}
      </time>
      {priority !== 0 && <span>{own.priority(priority)}</span>}
      {attempts > 1 && <span>{own.attempt(attempts)}</span>}
      {undone_by !== null && <span>{own.undone}</span>}
      <a class="underline underline-offset-2 hover:text-ink" href={`/work/sessions/${encodeURIComponent(session_id)}`}>
        {own.session}
      </a>
    </p>
  )
}
