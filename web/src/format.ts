/** Times and amounts as people read them. Pure. */

export type Language = 'en' | 'zh'

const UNITS = {
  en: { ms: ' ms', s: ' s', m: ' m', h: ' h', d: ' d' },
  zh: { ms: ' 毫秒', s: ' 秒', m: ' 分', h: ' 小时', d: ' 天' },
} as const

const two = (number: number): string => String(number).padStart(2, '0')

/** How long something took: the two units that matter. */
export function duration(ms: number, language: Language): string {
  const unit = UNITS[language]
  const whole = Math.max(0, Math.round(ms))
  if (whole < 1000) return `${whole}${unit.ms}`
  if (whole < 60_000) return `${(Math.floor(whole / 100) / 10).toFixed(1)}${unit.s}`
  const seconds = Math.floor(whole / 1000)
  const [d, h, m, s] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ]
  if (d > 0) return `${d}${unit.d} ${h}${unit.h}`
  return h > 0 ? `${h}${unit.h} ${two(m)}${unit.m}` : `${m}${unit.m} ${two(s)}${unit.s}`
}

/** Until something is due, as a clock shows it; zero when it is over. */
export function countdown(ms: number, language: Language): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  if (seconds >= 86_400) return duration(seconds * 1000, language)
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${two(m)}:${two(s)}`
}

const LOCALES = { en: 'en-GB', zh: 'zh-CN' } as const

export function money(usd: number, language: Language): string {
  const digits = usd !== 0 && Math.abs(usd) < 0.1 ? 4 : 2
  const format = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const
  return new Intl.NumberFormat(LOCALES[language], {
    ...format,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(usd)
}

export function count(number: number, language: Language): string {
  return new Intl.NumberFormat(LOCALES[language]).format(number)
}

/** The time of day; with the day where it is not today's. */
export function clockTime(at: number, now: number, language: Language): string {
  const isToday = new Date(at).toDateString() === new Date(now).toDateString()
  const day = isToday ? {} : ({ month: 'short', day: 'numeric' } as const)
  return new Intl.DateTimeFormat(LOCALES[language], {
    ...day,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  }).format(at)
}

/** Contract: one line. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

export function jsonLine(value: unknown): string {
  return oneLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}
