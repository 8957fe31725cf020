/** What waits for the owner, health problems and degraded parts; one line if there are none. */

import type { Status } from '../api-types.ts'
import { Dot } from '../components.tsx'
import { visibleText } from '../format.ts'
import { translateReason } from '../texts/reasons.ts'
import type { ViewContext } from '../view-context.ts'

export function Health({
  context: { texts, language },
  status,
  needCount: waiting,
}: {
  readonly context: ViewContext
  readonly status: Status | null
  readonly needCount: number
}) {
  if (!status) return null
  const { health, degraded } = status
  const lines = [
    ...(health.ok && waiting === 0 ? [{ tone: 'live' as const, text: texts.healthy }] : []),
    ...health.reasons.map((text) => ({ tone: 'fault' as const, text: translateReason(text, language) })),
    ...degraded.map((text) => ({ tone: 'wait' as const, text: translateReason(text, language) })),
  ]
  return (
    <ul
      class="flex flex-wrap gap-x-8 gap-y-1 border-t border-line px-5 py-3"
      data-health={!health.ok ? 'fault' : waiting > 0 ? 'waiting' : 'ok'}
    >
      {waiting > 0 && (
        <li class="flex items-center gap-x-2">
          <Dot tone="wait" />
          <a class="text-link underline underline-offset-2" href="/needs-you">
            {texts.waitForYou(waiting)}
          </a>
        </li>
      )}
      {lines.map(({ tone, text }) => (
        <li key={text} class="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2">
          <span class="flex h-5 items-center">
            <Dot tone={tone} />
          </span>
          <span class={`wrap-anywhere ${tone === 'fault' ? 'text-fault' : 'text-muted'}`}>{visibleText(text)}</span>
        </li>
      ))}
    </ul>
  )
}
