/** The next times of an agent: local time, the time in the zone of its schedule, and how soon. */

import { dayTime, relativeTime, timeElsewhere, visibleText } from '../format.ts'
import { AGENTS_TEXTS } from '../texts/agents.ts'
import type { ViewContext } from '../view-context.ts'

interface TimesProps {
  readonly context: ViewContext
  /** ISO instants. */
  readonly times: readonly string[]
  /** Of the schedule. */
  readonly zone: string
}

export const NextTimes = ({ context, times, zone }: TimesProps) => (
  <ol class="figures" data-next-times>
    {times.map((at) => (
      <NextTime key={at} {...{ context, zone }} at={Date.parse(at)} />
    ))}
  </ol>
)

function NextTime({ context: { language, now }, at, zone }: Omit<TimesProps, 'times'> & { readonly at: number }) {
  const own = AGENTS_TEXTS[language]
  const there = timeElsewhere(at, zone, language)
  return (
    <li>
      {dayTime(at, language)}
      {there !== '' && ` ${own.yourTime} · ${there} ${visibleText(zone)}`}{' '}
      <span class="label">{relativeTime(at, now, language)}</span>
    </li>
  )
}
