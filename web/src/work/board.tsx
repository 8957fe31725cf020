/** The todos of all sessions, or of one. */

import { visibleText } from '../format.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { BOARD_TEXTS } from '../texts/work-board.ts'
import { useViewContext } from '../view-context.ts'
import { WorkFrame } from './frame.tsx'
import { TodoColumns } from './todo-columns.tsx'

export function Board(props: PlaceProps) {
  const { page, language, query } = props
  const own = BOARD_TEXTS[language]
  const context = useViewContext(props, 30_000)
  const session = query.get('session') || undefined
  return (
    <WorkFrame language={language} tab="board">
      {session !== undefined && (
        <p class="-my-2 flex flex-wrap gap-x-3">
          <span class="text-muted">{own.onlySession}</span>
          <a class="text-link underline underline-offset-2" href={`/work/sessions/${encodeURIComponent(session)}`}>
            {own.openSession}
            <span class="sr-only"> {visibleText(session)}</span>
          </a>
          <a class="text-link underline underline-offset-2" href="/work">
            {own.allSessions}
          </a>
        </p>
      )}
      <TodoColumns {...{ context, page, session, query }} path="/work" />
    </WorkFrame>
  )
}
