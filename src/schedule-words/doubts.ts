/** What makes a reading doubtful although each word was understood: words between the times, or left over. Pure. */

import { CHINESE_NUMBER, ENGLISH_ORDINAL } from './numerals.ts'
import { REASONS, type Reason } from './reasons.ts'
import type { FoundToken } from './tokens.ts'

const DAY_KINDS = new Set(['weekdays', 'weekdays_of_month', 'dates_of_month', 'date_of_year'])

/** Words that only join times or days. */
const JOINED =
  /^(?:[\s,、，;；/&:：\-–+.]|和|及|与|以及|还有|跟|再|又|各|就|时|的|并|and|then|plus|also|at|on|the|in|of|about|around|from|only)*$/i

/** Words between the first and the last time that give a choice or an exception. */
const CHOICE = /\b(?:but|or|unless|either|otherwise|instead|except)\b|或者?|要么|但是?|不过|否则/i

const HOURS = 'one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\\d{1,2}'
/** "half seven" is 7:30 to some and 6:30 to others. */
const LEFT_OVER = new RegExp(`\\bhalf (?:${HOURS})\\b|\\bquarters?\\b|\\bsharp\\b|\\d+ish\\b|\\barvo\\b`, 'i')
/** Days of a month that no token took, beside others that one did. */
const DATE_LEFT = new RegExp(
  [
    '\\b(?:last|final|penultimate)(?: (?:[a-z]+ )?[a-z]*day\\b| ?(?:and\\b|,|&))|\\b\\d{1,2}(?:st|nd|rd|th)\\b',
    `\\b(?:last|final|${ENGLISH_ORDINAL})\\s{2}|(?:\\band|&|,) (?:on )?(?:the )?${ENGLISH_ORDINAL}\\b`,
    `最后[一1]?[天个]|倒数|第${CHINESE_NUMBER}[天个]|头${CHINESE_NUMBER}天`,
  ].join('|'),
  'iu',
)
/** "and", and then words of a time that no token took. */
const MORE_TIME = new RegExp(
  [
    '^\\s*(?:,? ?(?:and|plus|as well as)|&) (?:also |on |at |in |the |every |each )*',
    '(?:last|first|final|morning|noon|afternoon|evening|night|week|month|weekend|quarter|year|hour|',
    '\\d{1,2}(?![\\d.]* ?[a-z]))|^(?:和|及|以及|与|跟|还有|、)(?:每|周|月[底末初中]|最后|倒数|[早晚](?!安)|[上中下]午|',
    `工作日|隔|第${CHINESE_NUMBER}|${CHINESE_NUMBER}[号日点])`,
  ].join(''),
  'iu',
)
const ZONES = /\b(?:eastern|pacific|central|mountain)\b(?: time)?/i

/** Contract: the reason to refuse, or undefined. `said`: the tokens that make the schedule. */
export function findDoubt(text: string, found: readonly FoundToken[], said: readonly FoundToken[]): Reason | undefined {
  const rest = found.reduce((left, { start, end }) => blank(left, start, end), text)
  const apart =
    findApart(rest, said, ({ kind }) => kind === 'time') ??
    findApart(rest, said, ({ kind }) => DAY_KINDS.has(kind)) ??
    (mixesDays(said) ? findApart(rest, said, isAnyDay) : undefined)
  if (apart) return REASONS.apart(apart[0].text, apart[1].text)
  const [first, last] = [said[0], said.at(-1)]
  const choice = first && last && CHOICE.exec(rest.slice(first.end, last.start))
  if (choice) return REASONS.choice(choice[0])
  const dropped = findDropped(text, said)
  if (dropped !== undefined) return REASONS.leftOver(dropped)
  const leftOver = LEFT_OVER.exec(rest) ?? ZONES.exec(rest)
  return leftOver ? REASONS.leftOver(leftOver[0]) : undefined
}

const mixesDays = (said: readonly FoundToken[]): boolean =>
  said.some(({ kind }) => DAY_KINDS.has(kind)) && !said.some(({ kind }) => kind === 'except')

const isAnyDay = (token: FoundToken): boolean =>
  DAY_KINDS.has(token.kind) ||
  (token.kind === 'period' && token.period === 'day') ||
  (token.kind === 'part' && token.repeats === true)

/** Words that name another day or time, which the schedule would leave out. */
function findDropped(text: string, said: readonly FoundToken[]): string | undefined {
  const unsaid = said.reduce((left, { start, end }) => blank(left, start, end), text)
  const more = said.flatMap(({ end }) => MORE_TIME.exec(unsaid.slice(end))?.[0] ?? [])
  const isMonthly = said.some(
    ({ kind, ...token }) => kind.endsWith('of_month') || ('period' in token && token.period === 'month'),
  )
  return more[0]?.trim() ?? (isMonthly ? DATE_LEFT.exec(unsaid)?.[0] : undefined)
}

const blank = (text: string, start: number, end: number): string =>
  `${text.slice(0, start)}${' '.repeat(end - start)}${text.slice(end)}`

/** Two tokens of one kind with other words of the sentence between them. */
function findApart(
  rest: string,
  said: readonly FoundToken[],
  isKind: (token: FoundToken) => boolean,
): readonly [FoundToken, FoundToken] | undefined {
  const tokens = said.filter(isKind)
  const at = tokens.findIndex((token, i) => {
    const before = tokens[i - 1]
    return before !== undefined && !JOINED.test(rest.slice(before.end, token.start))
  })
  const [before, token] = [tokens[at - 1], tokens[at]]
  return before && token ? [before, token] : undefined
}
