/** What the owner decided in a run about calls that needed approval. */

import type { MessageRun } from '../api-types.ts'
import { Dot, type Tone } from '../components.tsx'
import { visibleText } from '../format.ts'
import { sayTool } from '../texts/tools.ts'
import type { ViewContext } from '../view-context.ts'

const TONES: Readonly<Record<string, Tone>> = { allowed: 'live', denied: 'fault' }

interface DecisionsProps {
  readonly context: ViewContext
  readonly decisions: MessageRun['decisions']
}

export function Decisions({ context: { texts, language }, decisions }: DecisionsProps) {
  if (decisions.length === 0) return null
  return (
    <ul class="flex flex-col gap-1">
      {decisions.map(({ id, tool, status, reason }) => (
        <li key={id} class="flex min-w-0 items-baseline gap-2 text-muted" data-decision={status}>
          <Dot tone={TONES[status] ?? 'other'} />
          <span class="min-w-0 wrap-anywhere">
            {texts.talk.decided[status]?.(sayTool(tool, language)) ?? status}
            {reason !== null && ` · ${visibleText(reason)}`}
          </span>
        </li>
      ))}
    </ul>
  )
}
