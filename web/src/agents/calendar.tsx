/** The calendar: what is due in the next seven days, where it is crowded, and what it may cost. */

import { runCommand } from '../api.ts'
import type { Simulation } from '../api-types.ts'
import { Card, Empty } from '../components.tsx'
import { count, dayName, type Language, money, timeOfDay, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { CALENDAR_TEXTS } from '../texts/calendar.ts'
import { useOnce } from '../use-once.ts'
import type { ViewContext } from '../view-context.ts'
import { agentHref } from './agent-row.tsx'
import { type CalendarDay, type CalendarHour, calendarDays } from './calendar-days.ts'

/** An agent that runs more often a day is a band, not entries. */
const MOST_PER_DAY = 8
const MOST_ENTRIES = 2000

interface CalendarProps {
  readonly page: PageState
  readonly context: ViewContext
}

export function Calendar({ page, context }: CalendarProps) {
  const own = CALENDAR_TEXTS[context.language]
  const { schedules, status } = page.view
  // Simulating takes the server a moment: only other schedules are a reason to do it again.
  const key = JSON.stringify(schedules.map(({ id, words, paused, agents }) => [id, words, paused, agents]))
  const simulation = useOnce(page, key, () =>
    runCommand('simulate', { days: 7, fold: MOST_PER_DAY, limit: MOST_ENTRIES }),
  )
  if (!simulation) return null
  const residents = status?.residents ?? []
  if (simulation.total.beats === 0 && residents.length === 0)
    return (
      <Card>
        <Empty>{own.empty}</Empty>
      </Card>
    )
  const days = calendarDays(simulation, context.now)
  const spent = status?.spend.today_usd ?? 0
  const { cap_usd: cap } = simulation
  const isOverCap = cap !== null && days.some(({ usd }, at) => usd + (at === 0 ? spent : 0) > cap)
  const here = new Intl.DateTimeFormat().resolvedOptions().timeZone
  const notes = [
    ...(simulation.guessed.length > 0 ? [own.guessed] : []),
    ...(here === simulation.timezone ? [] : [own.zone(simulation.timezone)]),
    ...(simulation.beats.length >= MOST_ENTRIES ? [own.more] : []),
  ]
  return (
    <section class="flex flex-col gap-4" aria-label={own.allDay} data-calendar>
      {isOverCap && (
        <p class="border-l-3 border-fault pl-3 text-fault" data-over-cap>
          {own.overCapDays}
        </p>
      )}
      <Bands {...{ page, context, simulation }} />
      <ol class="grid gap-3 lg:grid-cols-7 lg:gap-2">
        {days.map((day, at) => (
          <Day key={day.date} {...{ context, day, simulation }} spent={at === 0 ? spent : 0} />
        ))}
      </ol>
      <p class="label">{notes.join(' ')}</p>
    </section>
  )
}

interface BandsProps extends CalendarProps {
  readonly simulation: Simulation
}

/** What is due too often to list, and residents. */
function Bands({ page, context: { language }, simulation: { frequent, only_on_change } }: BandsProps) {
  const own = CALENDAR_TEXTS[language]
  const residents = page.view.status?.residents ?? []
  if (frequent.length + residents.length === 0) return null
  return (
    <Card>
      <h2 class="label border-b border-line px-4 py-1.5">{own.allDay}</h2>
      <ul class="divide-y divide-line">
        {frequent.map(({ schedule_id, agents, words, words_zh, per_day }) => {
          const quiet = agents.filter((agent) => only_on_change.includes(agent))
          return (
            <li key={schedule_id} class="px-4 py-2" data-band={schedule_id}>
              <span class="flex flex-wrap items-baseline gap-x-3">
                <Names agents={agents} />
                <span class="text-muted">{language === 'zh' ? words_zh : words}</span>
                <span class="label figures ml-auto">{own.perDay(count(per_day, language))}</span>
              </span>
              {quiet.length > 0 && (
                <span class="label wrap-anywhere">{own.onChange(visibleText(quiet.join(', ')))}</span>
              )}
            </li>
          )
        })}
        {residents.map(({ agent_id, hz }) => (
          <li key={agent_id} class="flex flex-wrap items-baseline gap-x-3 px-4 py-2" data-band={agent_id}>
            <Names agents={[agent_id]} />
            <span class="text-muted">{own.resident(String(Number(hz.toFixed(3))))}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const Names = ({ agents }: { readonly agents: readonly string[] }) => (
  <span class="min-w-0 wrap-anywhere">
    {agents.map((id, at) => (
      <span key={id}>
        {at > 0 && ', '}
        <a class="font-medium hover:underline" href={agentHref(id)}>
          {visibleText(id)}
        </a>
      </span>
    ))}
  </span>
)

interface DayProps {
  readonly context: ViewContext
  readonly day: CalendarDay
  readonly simulation: Simulation
  /** What the day has cost so far. */
  readonly spent: number
}

function Day({ context: { language, now }, day, simulation, spent }: DayProps) {
  const own = CALENDAR_TEXTS[language]
  const isToday = now >= day.at && now < day.at + 24 * 3_600_000
  const { max_concurrent, cap_usd } = simulation
  const crowded = day.hours.filter(({ atOnce }) => atOnce > max_concurrent).length
  return (
    <li class="min-w-0 rounded-xl border border-line bg-surface" data-day={day.date} data-crowded={crowded}>
      <header class="border-b border-line px-3 py-2">
        <h2 class={isToday ? 'font-semibold' : 'font-medium'}>{isToday ? own.today : dayName(day.at, language)}</h2>
        <Money language={language} likely={day.usd} spent={spent} cap={cap_usd} />
        {crowded > 0 && <p class="text-[12px] text-wait">{own.crowdedCount(crowded)}</p>}
      </header>
      {day.hours.length === 0 && <p class="label px-3 py-2">{own.nothing}</p>}
      <ol class="flex flex-col py-1">
        {day.hours.map((hour) => (
          <Hour key={hour.at} {...{ language, hour }} most={max_concurrent} />
        ))}
      </ol>
    </li>
  )
}

interface HourProps {
  readonly language: Language
  readonly hour: CalendarHour
  readonly most: number
}

function Hour({ language, hour: { entries, atOnce }, most }: HourProps) {
  const isCrowded = atOnce > most
  return (
    <li class={`border-l-3 px-2.5 py-1 ${isCrowded ? 'border-wait' : 'border-transparent'}`}>
      <ul>
        {entries.map(({ at, schedule_id, agents }) => (
          <li key={`${schedule_id} ${at}`} class="flex flex-col" data-entry={schedule_id}>
            <span class="label figures">{timeOfDay(at, language)}</span>
            <Names agents={agents} />
          </li>
        ))}
      </ul>
      {isCrowded && <p class="text-[12px] text-wait">{CALENDAR_TEXTS[language].crowded(atOnce, most)}</p>}
    </li>
  )
}

interface MoneyProps {
  readonly language: Language
  readonly likely: number
  readonly spent: number
  readonly cap: number | null
}

function Money({ language, likely, spent, cap }: MoneyProps) {
  const own = CALENDAR_TEXTS[language]
  const share = cap === null || cap === 0 ? 0 : Math.min(1, (likely + spent) / cap)
  const isOver = cap !== null && likely + spent > cap
  return (
    <div>
      <p class="label figures">
        {own.likely(money(likely, language))} {cap === null ? own.noCap : own.ofCap(money(cap, language))}
        {spent > 0 && <span class="block">{own.spent(money(spent, language))}</span>}
      </p>
      {cap !== null && (
        <div class="mt-1 h-1 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
          <div class={`h-full ${isOver ? 'bg-fault' : 'bg-live'}`} style={{ width: `${share * 100}%` }} />
        </div>
      )}
      {isOver && <span class="sr-only">{own.overCap}</span>}
    </div>
  )
}
