/** Why a run does not go on, or has failed. */

import type { PageState } from '../page-state.ts'
import { plainLine } from '../plain-line.ts'
import { QUEUE_TEXTS } from '../texts/work-queue.ts'
import type { ViewContext } from '../view-context.ts'
import { reasonOf } from './reasons.ts'

interface WhyProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly run: Parameters<typeof reasonOf>[0]
}

export function Why({ context: { language, now }, page, run }: WhyProps) {
  const own = QUEUE_TEXTS[language]
  const reason = reasonOf(run, { language, now, approvals: page.view.approvals })
  if (!reason) return null
  const { text, detail, isForOwner } = reason
  return (
    <div class="mt-0.5 flex flex-wrap gap-x-2 wrap-anywhere" data-reason>
      <p class="line-clamp-3 min-w-0">
        {text} {detail !== '' && <span class="text-muted">{plainLine(detail)}</span>}
      </p>
      {isForOwner && (
        <a class="text-link underline underline-offset-2" href="/needs-you">
          {own.answerHere}
        </a>
      )}
    </div>
  )
}
