/** What makes a reading doubtful although each word was understood: words between the times, or left over. Pure. */

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
const ZONES = /\b(?:eastern|pacific|central|mountain)\b(?: time)?/i

/** Contract: the reason to refuse, or undefined. `said`: the tokens that make the schedule. */
export function findDoubt(text: string, found: readonly FoundToken[], said: readonly FoundToken[]): Reason | undefined {
  const rest = found.reduce((left, { start, end }) => blank(left, start, end), text)
  const apart =
    findApart(rest, said, ({ kind }) => kind === 'time') ?? findApart(rest, said, ({ kind }) => DAY_KINDS.has(kind))
  if (apart) return REASONS.apart(apart[0].text, apart[1].text)
  const [first, last] = [said[0], said.at(-1)]
  const choice = first && last && CHOICE.exec(rest.slice(first.end, last.start))
  if (choice) return REASONS.choice(choice[0])
  const leftOver = LEFT_OVER.exec(rest) ?? ZONES.exec(rest)
  return leftOver ? REASONS.leftOver(leftOver[0]) : undefined
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
