/** The next times of an agent: local time, and how soon. */

import { dayTime, relativeTime } from '../format.ts'
import type { ViewContext } from '../view-context.ts'

interface TimesProps {
  readonly context: ViewContext
  /** ISO instants. */
  readonly times: readonly string[]
}

export const NextTimes = ({ context: { language, now }, times }: TimesProps) => (
  <ol class="figures" data-next-times>
    {times.map((at) => (
      <li key={at}>
        {dayTime(Date.parse(at), language)} <span class="label">{relativeTime(Date.parse(at), now, language)}</span>
      </li>
    ))}
  </ol>
)
