/** The plan of a session, ticked off as it is worked on. */

import type { MessageRun } from '../api-types.ts'
import { visibleText } from '../format.ts'
import type { ViewContext } from '../view-context.ts'

const MARKS: Readonly<Record<string, string>> = {
  ...{ WAIT: '○', IN_PROGRESS: '◐', COMPLETE: '◉', DONE: '✓', FAILED: '✕', CHECK_FAILED: '✕' },
}

const COLOURS: Readonly<Record<string, string>> = {
  ...{ WAIT: 'text-muted', IN_PROGRESS: 'text-decide', COMPLETE: 'text-live', DONE: 'text-live' },
  ...{ FAILED: 'text-fault', CHECK_FAILED: 'text-fault' },
}

export function Todos({
  context: { texts },
  todos,
}: {
  readonly context: ViewContext
  readonly todos: MessageRun['todos']
}) {
  if (todos.length === 0) return null
  return (
    <ul class="flex flex-col gap-1" aria-label={texts.talk.plan}>
      {todos.map(({ code, title, status }) => (
        <li key={code} class="flex min-w-0 items-baseline gap-2" data-todo={status}>
          <span class={`w-4 shrink-0 text-center ${COLOURS[status] ?? ''}`} aria-hidden="true">
            {MARKS[status] ?? '○'}
          </span>
          <span class={`min-w-0 wrap-anywhere ${status === 'DONE' ? 'text-muted line-through' : ''}`}>
            {visibleText(title)}
          </span>
          <span class="sr-only">{texts.talk.todoStates[status] ?? status}</span>
        </li>
      ))}
    </ul>
  )
}
