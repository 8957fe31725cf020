/** Which days go with which times: "weekdays at 8 and 10" is one schedule, "weekdays at 8, Sundays at 9" are two. */

import type { FoundToken } from './tokens.ts'

export interface Group {
  readonly days: readonly FoundToken[]
  readonly times: readonly FoundToken[]
}

const isTime = ({ kind }: FoundToken): boolean => kind === 'time' || kind === 'part'

/** Whether the token only says how often: every day, every week. */
export const isGeneral = (token: FoundToken): boolean => token.kind === 'period'

const isSpecific = (token: FoundToken): boolean => !isTime(token) && !isGeneral(token) && token.kind !== 'except'

/** "every morning" is a day and a time. */
function splitPart(token: FoundToken): readonly FoundToken[] {
  if (token.kind !== 'part' || token.repeats !== true) return [token]
  return [{ ...token, kind: 'period', period: 'day' } as FoundToken, { ...token, joined: false }]
}

/** The tokens, cut at each "and". */
export function segmentsOf(tokens: readonly FoundToken[]): readonly (readonly FoundToken[])[] {
  const segments: FoundToken[][] = []
  for (const token of tokens) {
    const last = segments.at(-1)
    if (last && token.joined !== true) last.push(token)
    else segments.push([token])
  }
  return segments
}

/** Contract: undefined if days and times cannot be paired. */
export function pairDaysWithTimes(tokens: readonly FoundToken[]): readonly Group[] | undefined {
  const said = tokens.filter(({ kind }) => kind !== 'count').flatMap(splitPart)
  if (said.some(isGeneral) && said.some(isSpecific) && !said.some(({ kind }) => kind === 'except')) {
    const segments = segmentsOf(said).filter((segment) => !segment.every(isTime))
    if (segments.length > 1) return pairSegments(said)
    if (hasTwoDaySets(said)) return undefined
  }
  return sharesPart(said) ? undefined : pairBlocks(said)
}

/** Days of different sets, joined by "and": each needs its own time. A time alone belongs to the days before it. */
function pairSegments(said: readonly FoundToken[]): readonly Group[] | undefined {
  const groups: { days: FoundToken[]; times: FoundToken[] }[] = []
  for (const segment of segmentsOf(said)) {
    const [days, times] = [segment.filter((token) => !isTime(token)), segment.filter(isTime)]
    const last = groups.at(-1)
    if (days.length > 0) groups.push({ days, times })
    else if (last) last.times.push(...times)
    else return undefined
  }
  const isWhole = said[0] !== undefined && !isTime(said[0])
  const hasTimes = groups.every(({ times }) => times.length > 0)
  const isOnly = segmentsOf(said).length === groups.length
  return hasTimes && (isWhole || isOnly) ? groups : undefined
}

/** "every weekday morning, every evening": times of their own for days of different sets, without an "and". */
function hasTwoDaySets(said: readonly FoundToken[]): boolean {
  const blocks = blocksOf(said)
  const count = (kind: FoundToken['kind']): number =>
    blocks.filter((block) => block.some((token) => token.kind === kind)).length
  const days = blocks.filter(([first]) => first && !isTime(first))
  return days.length > 1 && (count('part') > 1 || count('time') > 1)
}

/** "every weekday and every Sunday evening": whether the evening is meant for both is unclear. */
function sharesPart(said: readonly FoundToken[]): boolean {
  const segments = segmentsOf(said).filter((segment) => segment.some(isSpecific))
  const isClock = ({ kind }: FoundToken): boolean => kind === 'time'
  return segments.length > 1 && segments.some((one) => !one.some(isTime)) && said.some(isTime) && !said.some(isClock)
}

function blocksOf(said: readonly FoundToken[]): readonly (readonly FoundToken[])[] {
  const blocks: FoundToken[][] = []
  for (const token of said) {
    const last = blocks.at(-1)
    const [first] = last ?? []
    if (last && first && isTime(first) === isTime(token)) last.push(token)
    else blocks.push([token])
  }
  return blocks
}

function pairBlocks(said: readonly FoundToken[]): readonly Group[] | undefined {
  const blocks = blocksOf(said)
  const days = blocks.filter(([first]) => first && !isTime(first))
  const times = blocks.filter(([first]) => first && isTime(first))
  const clocks = times.filter((block) => block.some(({ kind }) => kind === 'time'))
  const specific = days.filter((block) => block.some(isSpecific))
  const isOneSchedule = days.length <= 1 || (specific.length <= 1 && clocks.length <= 1)
  if (isOneSchedule) return [{ days: days.flat(), times: times.flat() }]
  // Exceptions belong to the days before them, wherever the times stand.
  if (said.some(({ kind }) => kind === 'except'))
    return times.length <= 1 ? [{ days: days.flat(), times: times.flat() }] : undefined
  if (days.length !== times.length) return undefined
  return days.map((block, i) => ({ days: block, times: times[i] ?? [] }))
}
