/** Formats times and amounts. Pure. */

export type Language = 'en' | 'zh'

const UNITS = {
  en: { ms: ' ms', s: ' s', m: ' m', h: ' h', d: ' d' },
  zh: { ms: ' 毫秒', s: ' 秒', m: ' 分', h: ' 小时', d: ' 天' },
} as const

const twoDigits = (number: number): string => String(number).padStart(2, '0')

/** A duration in its two largest units. */
export function duration(ms: number, language: Language): string {
  const unit = UNITS[language]
  const rounded = Math.max(0, Math.round(ms))
  if (rounded < 1000) return `${rounded}${unit.ms}`
  if (rounded < 60_000) return `${(Math.floor(rounded / 100) / 10).toFixed(1)}${unit.s}`
  const seconds = Math.floor(rounded / 1000)
  const [d, h, m, s] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ]
  if (d > 0) return `${d}${unit.d} ${h}${unit.h}`
  return h > 0 ? `${h}${unit.h} ${twoDigits(m)}${unit.m}` : `${m}${unit.m} ${twoDigits(s)}${unit.s}`
}

/** A duration for texts that change while people read them: whole seconds, at least one. */
export function wholeDuration(ms: number, language: Language): string {
  const seconds = Math.max(1, Math.floor(ms / 1000))
  return seconds < 60 ? `${seconds}${UNITS[language].s}` : duration(seconds * 1000, language)
}

/** Remaining time as a clock; zero when it has passed. */
export function countdown(ms: number, language: Language): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  if (seconds >= 86_400) return duration(seconds * 1000, language)
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return h > 0 ? `${h}:${twoDigits(m)}:${twoDigits(s)}` : `${twoDigits(m)}:${twoDigits(s)}`
}

const LEFT_UNITS = {
  en: { s: ' s', min: ' min', h: ' h ' },
  zh: { s: ' 秒', min: ' 分钟', h: ' 小时 ' },
} as const

/** Remaining time in words, rounded up, so that it does not look like a time of day: "8 min", "2 h 05 min". */
export function timeLeft(ms: number, language: Language): string {
  const unit = LEFT_UNITS[language]
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  if (seconds < 60) return `${seconds}${unit.s}`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return `${minutes}${unit.min}`
  if (minutes >= 24 * 60) return duration(minutes * 60_000, language)
  return `${Math.floor(minutes / 60)}${unit.h}${twoDigits(minutes % 60)}${unit.min}`
}

const LOCALES = { en: 'en-GB', zh: 'zh-CN' } as const

/** Formats are kept: making one takes far longer than using it, and lists use them in every row. */
const formats = new Map<string, unknown>()

function keepFormat<T>(key: string, make: () => T): T {
  if (!formats.has(key)) formats.set(key, make())
  return formats.get(key) as T
}

export function money(usd: number, language: Language): string {
  const digits = usd !== 0 && Math.abs(usd) < 0.1 ? 4 : 2
  const format = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const
  const make = () =>
    new Intl.NumberFormat(LOCALES[language], {
      ...format,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    })
  return keepFormat(`money ${language} ${digits}`, make).format(usd)
}

export function count(number: number, language: Language): string {
  return keepFormat(`count ${language}`, () => new Intl.NumberFormat(LOCALES[language])).format(number)
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

/** A size in its largest unit. */
export function byteSize(bytes: number, language: Language): string {
  const power = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const unit = BYTE_UNITS[power] ?? 'byte'
  const options = {
    style: 'unit',
    unit,
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
  } as const
  const make = () => new Intl.NumberFormat(LOCALES[language], options)
  return keepFormat(`bytes ${language} ${power}`, make).format(bytes / 1000 ** power)
}

/** Time of day, with the date if it is not today. */
export function clockTime(at: number, now: number, language: Language): string {
  const isToday = new Date(at).toDateString() === new Date(now).toDateString()
  const day = isToday ? {} : ({ month: 'short', day: 'numeric' } as const)
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const
  const make = () => new Intl.DateTimeFormat(LOCALES[language], { ...day, ...time })
  return keepFormat(`clock ${language} ${isToday}`, make).format(at)
}

/** Weekday, date and time of day: "Tue 17 Nov, 07:30". */
export function dayTime(at: number, language: Language): string {
  return new Intl.DateTimeFormat(LOCALES[language], {
    ...({ weekday: 'short', month: 'short', day: 'numeric' } as const),
    ...({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const),
  }).format(at)
}

/** Time of day in another zone; empty if it is the same as here. */
export function timeElsewhere(at: number, timeZone: string, language: Language): string {
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  const make = () => new Intl.DateTimeFormat(LOCALES[language], { ...time, timeZone })
  const there = keepFormat(`there ${language} ${timeZone}`, make).format(at)
  return there === timeOfDay(at, language) ? '' : there
}

/** Weekday and date: "Tue 17 Nov". */
export const dayName = (at: number, language: Language): string =>
  new Intl.DateTimeFormat(LOCALES[language], { weekday: 'short', month: 'short', day: 'numeric' }).format(at)

/** "07:30". */
export const timeOfDay = (at: number, language: Language): string =>
  new Intl.DateTimeFormat(LOCALES[language], { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at)

/** "15:39", with the day if it is another one. */
export const shortTime = (at: number, now: number, language: Language): string =>
  new Date(at).toDateString() === new Date(now).toDateString() ? timeOfDay(at, language) : dayTime(at, language)

/** The clock of the page moves in steps, so that what has just happened may be ahead of it. */
const CLOCK_STEP_MS = 10_000

/** How long ago, or how soon: from 24 hours on in days of the calendar, as people count them. */
export function relativeTime(at: number, now: number, language: Language): string {
  const seconds = at > now && at - now < CLOCK_STEP_MS ? 0 : Math.round((at - now) / 1000)
  const make = () => new Intl.RelativeTimeFormat(LOCALES[language], { numeric: 'auto' })
  const format = keepFormat(`relative ${language}`, make)
  const days = Math.abs(seconds) >= DAY_SECONDS ? calendarDay(at) - calendarDay(now) : 0
  if (days !== 0) return format.format(days, 'day')
  const [unit, size] = RELATIVE_UNITS.find(([, unitSize]) => Math.abs(seconds) >= unitSize) ?? ['second', 1]
  return format.format(Math.round(seconds / size), unit)
}

const DAY_SECONDS = 86_400

/** Number of the local day. A day of 23 or 25 hours counts as one. */
function calendarDay(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / (DAY_SECONDS * 1000)
}

const RELATIVE_UNITS = [
  ['hour', 3600],
  ['minute', 60],
] as const satisfies readonly (readonly [Intl.RelativeTimeFormatUnit, number])[]

/** Invisible characters where they belong: in emoji, in scripts that spell with joiners, in variants of Han. */
const PROPER = [
  /(?<=\p{ExtPict}|\p{EMod}|\ufe0f)\u200d(?=\p{ExtPict})/u,
  /(?<=\p{ExtPict})[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)/u,
  /(?<=[\p{sc=Arab}\p{sc=Deva}\p{sc=Beng}\p{sc=Guru}\p{sc=Gujr}\p{sc=Orya}])[\u200c\u200d]/u,
  /(?<=[\p{sc=Taml}\p{sc=Telu}\p{sc=Knda}\p{sc=Mlym}\p{sc=Sinh}])[\u200c\u200d]/u,
  /(?<=\p{sc=Han})[\u{e0100}-\u{e01ef}]/u,
]

/**
 * Characters that hide or reorder what people read: direction marks, control characters, invisible ones, foreign line
 * separators. One that is repeated is one match.
 */
const HIDING = /(?![\n\t])([\p{Cc}\p{Cf}\p{DI}\u2028\u2029\u2800])\1*/u

const HIDDEN = new RegExp([...PROPER, HIDING].map(({ source }) => source).join('|'), 'gu')

/** Contract: the text with hidden characters as visible codes, so that it says what it shows. */
export const visibleText = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(HIDDEN, (found, hidden: string | undefined) => (hidden === undefined ? found : codeOf(hidden, found)))

function codeOf(char: string, found: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  const times = found.length / char.length
  return times === 1 ? `‹U+${code}›` : `‹U+${code} ×${times}›`
}

/** Collapses whitespace, line breaks included; hidden characters become visible codes. */
export const oneLine = (text: string): string => visibleText(text).replaceAll(/\s+/g, ' ').trim()

/** Contract: arguments of a call as one line: `to: bob · text: hello`. */
export function argumentsLine(args: unknown): string {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return jsonLine(args)
  return Object.entries(args)
    .map(([name, value]) => `${name}: ${jsonLine(value)}`)
    .join(' · ')
}

export function jsonLine(value: unknown): string {
  return oneLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}
