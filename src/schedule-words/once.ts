/** Puts tokens together into one instant: "tomorrow at 3pm", 下周一上午十点, "in 20 minutes". Pure. */

import { type CalendarTime, isCalendarDate, shiftDate, weekdayOf, writeCalendarTime } from './calendar-time.ts'
import { type ScheduleReading, type SentenceContext, unclear } from './reading.ts'
import { REASONS, type Reason } from './reasons.ts'
import { resolveTimes } from './resolve-times.ts'
import { type FoundToken, UNIT_LENGTH_MS } from './tokens.ts'

const isInstant = (token: FoundToken): boolean =>
  token.kind.startsWith('relative') ||
  token.kind === 'delay' ||
  (token.kind === 'date_of_year' && token.yearly !== true)

/** Whether the sentence names one moment and nothing that repeats. */
export function namesOneMoment(tokens: readonly FoundToken[], isReminder: boolean): boolean {
  const rest = tokens.filter(
    (token) => !isInstant(token) && token.kind !== 'time' && !(token.kind === 'part' && token.repeats !== true),
  )
  const [only] = rest
  if (rest.length < tokens.length && rest.length === 0) return tokens.some(isInstant)
  return (
    isReminder &&
    rest.length === 1 &&
    only?.kind === 'weekdays' &&
    !only.repeats &&
    !only.listed &&
    !tokens.some(isInstant)
  )
}

export function assembleOnce(tokens: readonly FoundToken[], { today, now }: SentenceContext): ScheduleReading {
  const [named, ...more] = tokens.filter((token) => isInstant(token) || token.kind === 'weekdays')
  if (!named || more.length > 0) return unclear(REASONS.severalDays())
  const resolved = resolveTimes(tokens)
  if ('why' in resolved) return unclear(resolved.why)
  const [time, ...others] = resolved.times
  if (others.length > 0) return unclear(REASONS.severalTimes())
  if (named.kind === 'delay' && !(time && isWholeDays(named.ms)))
    return time
      ? unclear(REASONS.delayAndTime(named.text))
      : { kind: 'schedule', schedule: { at: new Date(now + named.ms).toISOString() } }
  const day = dayOf(named, today)
  if ('why' in day) return unclear(day.why)
  if (time?.past_midnight) return unclear(REASONS.midnight())
  if (!time && named.kind === 'relative_day' && named.days === 0) return unclear(REASONS.timeMissing())
  const at = { ...day, hour: time?.hour ?? 9, minute: time?.minute ?? 0 }
  const written = writeCalendarTime(at)
  if (written <= writeCalendarTime(today)) return unclear(REASONS.hasPassed(written.replace('T', ' ')))
  return { kind: 'schedule', schedule: { at: written } }
}

const isWholeDays = (ms: number): boolean => ms % UNIT_LENGTH_MS.day === 0

type Day = CalendarTime | { readonly why: Reason }

function dayOf(token: FoundToken, today: CalendarTime): Day {
  if (token.kind === 'relative_day') return shiftDate(today, token.days)
  if (token.kind === 'delay') return shiftDate(today, token.ms / UNIT_LENGTH_MS.day)
  if (token.kind === 'weekdays') return shiftDate(today, (((token.days[0] ?? 0) - weekdayOf(today) + 6) % 7) + 1)
  if (token.kind === 'relative_weekday') return relativeWeekday(token, today)
  if (token.kind !== 'date_of_year') return { why: REASONS.noDay(token.text) }
  const { month, date } = token
  const isPast = month < today.month || (month === today.month && date < today.date)
  const year = token.year ?? (isPast ? today.year + 1 : today.year)
  return isCalendarDate(year, month, date)
    ? { ...today, year, month, date }
    : { why: REASONS.noDay(`${token.text} ${year}`) }
}

type RelativeWeekday = Extract<FoundToken, { readonly kind: 'relative_weekday' }>

/** Weeks begin on Monday. "next Friday" said before Friday has two readings, 下周五 has one. */
function relativeWeekday({ weekday, weeks, text }: RelativeWeekday, today: CalendarTime): Day {
  const monday = shiftDate(today, -((weekdayOf(today) + 6) % 7))
  const thisWeek = shiftDate(monday, (weekday + 6) % 7)
  const nextWeek = shiftDate(thisWeek, 7)
  const isAhead = dateOf(thisWeek) > dateOf(today)
  if (weeks === 0) return isAhead || !/coming/i.test(text) ? thisWeek : nextWeek
  if (/next/i.test(text) && isAhead) return { why: REASONS.twoDates(text, dateOf(thisWeek), dateOf(nextWeek)) }
  return nextWeek
}

const dateOf = (day: CalendarTime): string => writeCalendarTime(day).slice(0, 10)
