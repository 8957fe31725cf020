/** When an agent is to run: read from its sentence or option, and said back with the next times and the cost. */

import { parseDuration } from '../../domain/duration.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import { type Language, languageOf } from '../../domain/language.ts'
import { formatDollars, type Price } from '../../domain/money.ts'
import type { ScheduleSpec } from '../../domain/schedule.ts'
import { callWithinBudget } from '../../engine/request/budget-reservation.ts'
import { proposeSchedule } from '../../kernel/schedule/propose-schedule.ts'
import { parseSchedule } from '../../kernel/schedule/schedule.ts'
import { localZone, wallTime } from '../../kernel/schedule/time-zone.ts'
import { iso } from '../../ports/clock.ts'
import { describeSchedule } from '../../schedule-words/describe-schedule.ts'
import type { ScheduleReading, SentenceContext } from '../../schedule-words/reading.ts'
import { readSchedule } from '../../schedule-words/schedule-words.ts'
import { withoutSchedule } from '../../schedule-words/without-schedule.ts'
import type { Needs } from './context.ts'
import { runCost } from './forecast.ts'

/** How many of the next times are said in the text, and how many are listed. */
const SAID_TIMES = 3
export const LISTED_TIMES = 5
const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS
/** A run every minute of a week, and some more. */
const MOST_TIMES = 11_000
/** More runs a day than this need a yes if they cost money. */
const MOST_UNASKED = 24

/** What a command needs to understand a schedule. */
export const SCHEDULE_NEEDS = [
  ...(['clock', 'settings', 'models', 'store', 'budgetLimits', 'signals', 'ids', 'kernelId'] as const),
] as const

type ScheduleContext = Needs<(typeof SCHEDULE_NEEDS)[number]>

/** `null`: no time is named. `proposed`: a model read the sentence, so the owner must agree. */
interface UnderstoodSchedule {
  readonly spec: ScheduleSpec | null
  readonly proposed: boolean
}

const zoneOf = ({ settings }: Needs<'settings'>): string => settings().timezone ?? localZone()

/** Contract: throws `usage` if the sentence says when in words that have two readings or none. */
async function understandSentence(context: ScheduleContext, sentence: string): Promise<UnderstoodSchedule> {
  const reading = readWords(context, sentence)
  if (reading.kind !== 'unclear') return { spec: specOf(reading), proposed: false }
  const spec = await askForSchedule(context, sentence)
  if (spec !== undefined) return { spec, proposed: true }
  const language = languageOf(sentence)
  const { what, expected, fix } = REFUSAL[language]
  throw new TirelessError('usage', { what, got: reading.why[language], expected, fix })
}

const REFUSAL = {
  en: {
    what: 'the sentence does not say clearly when to run',
    expected: 'for example "every weekday at 9:00", "every 2 hours", "tomorrow at 15:00"',
    fix: 'say it so, or add --schedule "0 9 * * 1-5"; --schedule none: only if something changes',
  },
  zh: {
    what: '这句话没有说清什么时候运行',
    expected: '例如“每个工作日九点”“每两小时”“明天下午三点”',
    fix: '这样说，或加上 --schedule "0 9 * * 1-5"；--schedule none 表示只在有变化时运行',
  },
} as const

/** Reads the option --schedule: `none`, a cron line, a duration, an instant, or words. Contract: throws `usage`. */
function understandOption(context: ScheduleContext, option: string): ScheduleSpec | null {
  const text = option.trim()
  if (text === 'none') return null
  const every = parseDuration(text.replace(/^every\s+/i, ''))
  if (every !== undefined && every > 0) return { every }
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return { at: text }
  const looksLikeCron = /^@|^[\d*]/.test(text)
  const reading = looksLikeCron ? undefined : readWords(context, text)
  if (reading?.kind === 'schedule') return specOf(reading)
  // An invalid cron line gets the error of the cron parser.
  if (reading === undefined) parseSchedule(text, zoneOf(context))
  if (reading?.kind !== 'unclear' && reading?.kind !== 'no_time') return text
  throw new TirelessError('usage', {
    what: 'the schedule is not understood',
    got: reading.kind === 'unclear' ? reading.why[languageOf(text)] : JSON.stringify(text),
    expected: 'words such as "every weekday at 9:00", a cron line, a duration such as 2h, an instant, or none',
  })
}

const readWords = (context: ScheduleContext, text: string): ScheduleReading => readSchedule(text, readerOf(context))

function readerOf(context: Needs<'clock' | 'settings'>): SentenceContext {
  const now = context.clock.now()
  const [year = 0, month = 0, date = 0, hour = 0, minute = 0] = wallTime(now, zoneOf(context)).split(/\D/).map(Number)
  return { today: { year, month, date, hour, minute }, now }
}

/** Contract: what is to be done; the schedule keeps the words that say when. */
export const taskOf = (context: Needs<'clock' | 'settings'>, sentence: string): string =>
  withoutSchedule(sentence, readerOf(context))

function specOf(reading: ScheduleReading): ScheduleSpec | null {
  if (reading.kind !== 'schedule') return null
  const { schedule } = reading
  if (typeof schedule === 'string' || 'at' in schedule) return schedule
  return { every: parseDuration(schedule.every) ?? DAY_MS }
}

/** Undefined: there is no model that understands language, or its proposal is invalid. */
async function askForSchedule(context: ScheduleContext, sentence: string): Promise<ScheduleSpec | undefined> {
  const { models, clock, signals, ids, budgetLimits, kernelId: kernel_id } = context
  const { id: model } = await models.choice()
  if (model.startsWith('offline/')) return undefined
  const dispatch_id = ids.next()
  const spender = { kernel_id, agent_id: 'agent new', dispatch_id, model, day: budgetLimits.dayOf(clock.budgetNow()) }
  const question = { sentence, now: clock.now(), timezone: zoneOf(context), id: dispatch_id }
  try {
    return await proposeSchedule(question, async (request) => {
      const call = { model: models.get(model), request, signal: signals.abort, spender }
      return (await callWithinBudget(context, call)).text
    })
  } catch (thrown) {
    // A provider that fails, or a budget that is used up, leaves the refusal of the rules.
    if (asTirelessError(thrown).code === 'internal') throw thrown
    return undefined
  }
}

interface ScheduleSummary {
  readonly understood: string
  /** ISO instants. */
  readonly next: string[]
  readonly runs_per_day: number
  /** Null: the price is unknown. */
  readonly usd_per_run: number | null
  readonly usd_per_day: number | null
}

const TEXTS = {
  en: {
    changes: 'No time named: runs once at the next beat, then only if something it sees changes.',
    when: (words: string, next: string) => `Runs ${words}. Next: ${next}.`,
    often: (runs: number, span: 'day' | 'week') => `About ${runs} ${runs === 1 ? 'run' : 'runs'} a ${span}`,
    join: ', ',
    space: ' ',
    end: '.',
  },
  zh: {
    changes: '没有说时间：下一次节拍时运行一次，之后只在它看到的内容有变化时运行。',
    when: (words: string, next: string) => `运行时间：${words}。接下来：${next}。`,
    often: (runs: number, span: 'day' | 'week') => `大约每${span === 'day' ? '天' : '周'} ${runs} 次`,
    join: '、',
    space: '',
    end: '。',
  },
} as const

/** Tells a schedule in the language of the sentence. `runUsd`: the cost of one run; null: unknown. */
function summarizeSchedule(
  { clock, settings }: Needs<'clock' | 'settings'>,
  spec: ScheduleSpec | null,
  sentence: string,
  runUsd: number | null,
): ScheduleSummary {
  const language: Language = languageOf(sentence)
  const texts = TEXTS[language]
  if (spec === null)
    return { understood: texts.changes, next: [], runs_per_day: 0, usd_per_run: runUsd, usd_per_day: null }
  const zone = zoneOf({ settings })
  const times = nextTimes(spec, zone, clock.now())
  const said = times.slice(0, SAID_TIMES).map((at) => wallTime(at, zone))
  const summary = texts.when(describeSchedule(spec, language), said.join(texts.join))
  const isOnce = typeof spec === 'object' && 'at' in spec
  const cost = isOnce ? '' : describeCost(times, clock.now(), runUsd, language)
  const runs_per_day = Math.round((times.filter((at) => at <= clock.now() + WEEK_MS).length / 7) * 100) / 100
  return {
    understood: `${summary}${cost}`,
    next: times.slice(0, LISTED_TIMES).map((at) => iso(at)),
    runs_per_day,
    usd_per_run: runUsd,
    usd_per_day: runUsd === null ? null : runUsd * runs_per_day,
  }
}

/** Per day if there are several runs a day, else per week. */
function describeCost(times: readonly number[], now: number, runUsd: number | null, language: Language): string {
  const { often, join, space, end } = TEXTS[language]
  const [day, week] = [DAY_MS, WEEK_MS].map((span) => times.filter((at) => at <= now + span).length)
  const isDaily = (day ?? 0) >= 1 && (week ?? 0) >= 7
  const runs = (isDaily ? day : week) ?? 0
  const usd = runUsd === null || runUsd === 0 ? '' : `${join}${formatDollars(runUsd * runs)}`
  return runs === 0 ? '' : `${space}${often(runs, isDaily ? 'day' : 'week')}${usd}${end}`
}

/** The times of the next week, at least as many as are listed. */
function nextTimes(spec: ScheduleSpec, timezone: string, now: number): readonly number[] {
  const schedule = parseSchedule(spec, timezone)
  const times: number[] = []
  for (let at = schedule.next(now); at !== undefined && times.length < MOST_TIMES; at = schedule.next(at)) {
    if (times.length >= LISTED_TIMES && at > now + WEEK_MS) break
    times.push(at)
  }
  return times
}

/** Why the owner must agree first: a model read the sentence, or the agent would run often and cost money. */
type AgreementReason = 'proposed' | 'often'

const AGREEMENT_TEXTS: Readonly<Record<AgreementReason, { readonly what: string; readonly fix: string }>> = {
  proposed: {
    what: 'the model understands the sentence like this',
    fix: 'add --yes if that is right, or say when with --schedule',
  },
  often: {
    what: 'the agent would run more often than every hour, with a model that is not free',
    fix: 'add --yes if that is right, or choose a longer interval',
  },
}

interface WantedSchedule {
  readonly sentence: string
  /** The option --schedule. */
  readonly schedule?: string | undefined
  readonly model?: string | undefined
  readonly prompt: string
  readonly yes: boolean
}

interface PlannedSchedule extends ScheduleSummary {
  readonly spec: ScheduleSpec | null
  /** Null: nothing needs the owner's agreement. */
  readonly needs_yes: AgreementReason | null
}

/** Contract: throws `usage` if it is unclear when the agent runs, and `confirmation_needed` if the owner must agree. */
export async function planSchedule(
  context: ScheduleContext,
  { sentence, schedule, model, prompt, yes }: WantedSchedule,
): Promise<PlannedSchedule> {
  const { spec, proposed } =
    schedule === undefined
      ? await understandSentence(context, sentence)
      : { spec: understandOption(context, schedule), proposed: false }
  const price = await priceOf(context, model)
  const summary = summarizeSchedule(context, spec, sentence, price && runCost({ prompt }, price))
  const isPaid = price === null || price.input + price.output > 0
  const needs_yes = proposed ? 'proposed' : isPaid && summary.runs_per_day > MOST_UNASKED ? 'often' : null
  if (needs_yes !== null && !yes)
    throw new TirelessError('confirmation_needed', { got: summary.understood, ...AGREEMENT_TEXTS[needs_yes] })
  return { spec, ...summary, needs_yes }
}

/** Null: the price is unknown. */
async function priceOf({ models }: ScheduleContext, wanted: string | undefined): Promise<Price | null> {
  const id = wanted === undefined || wanted === 'none' ? (await models.choice()).id : wanted
  return (await models.list()).find((entry) => entry.id === id)?.price ?? null
}
