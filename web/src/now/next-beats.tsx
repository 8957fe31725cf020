/** The next beats: what is due when, in words. */

import type { Schedule } from '../api-types.ts'
import { Card, Empty, Section } from '../components.tsx'
import { clockTime, oneLine, relativeTime, visibleText } from '../format.ts'
import type { ViewContext } from '../view-context.ts'

const MAX_SCHEDULES = 6

export function NextBeats({
  context,
  schedules,
}: {
  readonly context: ViewContext
  readonly schedules: readonly Schedule[]
}) {
  const { texts } = context
  const wakingSomeone = schedules.filter(({ agents }) => agents.length > 0)
  const sorted = wakingSomeone.toSorted((a, b) => (a.next ?? '~').localeCompare(b.next ?? '~'))
  return (
    <Section title={texts.nextBeats}>
      <Card>
        {sorted.length === 0 && <Empty>{texts.noSchedules}</Empty>}
        <ul class="divide-y divide-line">
          {sorted.slice(0, MAX_SCHEDULES).map((schedule) => (
            <Row key={schedule.id} context={context} schedule={schedule} />
          ))}
          {sorted.length > MAX_SCHEDULES && (
            <li class="label px-4 py-2">{texts.more(sorted.length - MAX_SCHEDULES)}</li>
          )}
        </ul>
      </Card>
    </Section>
  )
}

function Row({ context, schedule }: { readonly context: ViewContext; readonly schedule: Schedule }) {
  const { texts, language, now } = context
  const { id, agents, prompt, paused, next, words, words_zh } = schedule
  const at = next === null ? null : Date.parse(next)
  return (
    <li class="flex min-w-0 flex-col gap-0.5 px-4 py-2.5" data-schedule={id}>
      <span class="flex items-baseline justify-between gap-3">
        <span class="min-w-0 wrap-anywhere first-letter:uppercase">{language === 'zh' ? words_zh : words}</span>
        <span class="label figures shrink-0" title={at === null ? '' : clockTime(at, now, language)}>
          {paused || at === null ? texts.schedulePaused : relativeTime(at, now, language)}
        </span>
      </span>
      <span class="label line-clamp-2 wrap-anywhere">
        {agents.join(', ')}
        {prompt !== null && ` · ${visibleText(oneLine(prompt))}`}
      </span>
    </li>
  )
}
