/** What was said to a session and what its runs made of it, oldest first. */

import type { ThreadRun } from '../api-types.ts'
import { Card, Dot, toneOf } from '../components.tsx'
import { clockTime, money, relativeTime, visibleText } from '../format.ts'
import { Markdown } from '../markdown.tsx'
import type { PageState } from '../page-state.ts'
import { Files } from '../talk/files.tsx'
import { UndoButton } from '../talk/undo.tsx'
import { SESSION_TEXTS } from '../texts/work-sessions.ts'
import type { ViewContext } from '../view-context.ts'
import { Why } from './why.tsx'

interface ThreadRunProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly session: string
  readonly run: ThreadRun
}

const ENDED = ['done', 'failed', 'dead', 'cancelled']

export function ThreadRunView({ context, page, session, run }: ThreadRunProps) {
  const own = SESSION_TEXTS[context.language]
  const { dispatch_id, status, task, received, text, question, files, undone_by } = run
  const isEnded = ENDED.includes(status)
  return (
    <li class="flex min-w-0 flex-col gap-3" data-thread-run={dispatch_id} data-status={status}>
      {task !== null && <Said label={own.you} text={task} />}
      {received.map(({ id, kind, text: words }) =>
        kind === 'message' ? (
          <Said key={id} label={own.you} text={words} />
        ) : (
          <p key={id} class="label wrap-anywhere">
            {own.event(visibleText(words))}
          </p>
        ),
      )}
      <Card class="flex min-w-0 flex-col gap-3 px-4 py-3">
        <Heading context={context} run={run} />
        {question !== null && (
          <div class="rounded-lg border border-wait px-3 py-2" data-question>
            <span class="label text-wait">{own.asks}</span>
            <Markdown text={question} />
          </div>
        )}
        {question === null && !isEnded && <Why {...{ context, page }} run={{ ...run, session_id: session }} />}
        {text !== null && (
          <div class={undone_by === null ? '' : 'opacity-60'}>
            <Markdown text={text} />
          </div>
        )}
        {files.length > 0 && undone_by === null && <Files context={context} run={{ session_id: session, files }} />}
        <footer class="flex flex-wrap items-center gap-x-3 gap-y-2">
          {undone_by !== null && <span class="label">{own.wasUndone}</span>}
          {isEnded && <UndoButton {...{ context, page, run }} />}
          <a class="label text-link underline underline-offset-2" href={`/runs/${encodeURIComponent(dispatch_id)}`}>
            {own.openRun}
          </a>
        </footer>
      </Card>
    </li>
  )
}

function Heading({ context: { language, now }, run }: Pick<ThreadRunProps, 'context' | 'run'>) {
  const own = SESSION_TEXTS[language]
  const { status, updated_at, steps, cost_usd } = run
  const at = Date.parse(updated_at)
  return (
    <header class="flex min-w-0 flex-wrap items-center gap-x-2.5">
      <Dot tone={toneOf(status)} pulsing={status === 'running'} />
      <span class="label flex flex-wrap gap-x-2.5">
        <span>{own.statesOfRuns[status] ?? status}</span>
        <time dateTime={updated_at} title={clockTime(at, now, language)}>
          {relativeTime(at, now, language)}
        </time>
        <span>{own.steps(steps)}</span>
        {cost_usd !== null && <span class="figures">{money(cost_usd, language)}</span>}
      </span>
    </header>
  )
}

interface SaidProps {
  readonly label: string
  readonly text: string
  readonly note?: string
}

/** Longer texts of the owner are cut; the run has them whole. */
const MAX_CHARS = 4000

/** Words of the owner. */
export function Said({ label, text, note = '' }: SaidProps) {
  return (
    <div class="ml-auto max-w-[85%] rounded-2xl bg-sunken px-4 py-2.5" data-said>
      <span class="sr-only">{label}: </span>
      <p class="wrap-anywhere whitespace-pre-wrap" dir="auto">
        {visibleText(text.slice(0, MAX_CHARS))}
        {text.length > MAX_CHARS && ' …'}
      </p>
      {note !== '' && <p class="label text-right">{note}</p>}
    </div>
  )
}
