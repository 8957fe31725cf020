/** A sentence without the words that say when, if these stand at its beginning or its end. Pure. */

import { isDeepStrictEqual } from 'node:util'
import type { ScheduleReading, SentenceContext } from './reading.ts'
import { readSchedule, withoutTimes } from './schedule-words.ts'

/** Longer beginnings and ends are no schedule. */
const MAX_WORDS = 120

/** What may stand between the words of a schedule. */
const JOINED = /^(?:[\s,，、;；:：.。!！]|and\b|at\b|on\b|和|及|各|再)*$/i
/** Makes the schedule a part of what the task is about: 每周五的总结, "every Monday's notes". */
const BELONGS_TO_TASK = /^(?:的|时|['’]s\b)/i
/** With a part of the day beside a day: "every weekday morning, …". */
const LEADING = /^(?:\s*(?:morning|noon|afternoon|evening|night)s?(?=\s*[,:]))?(?:[\s,，、;；:：。]|[.–—-]\s)+/i
const TRAILING = /[\s,，、;；:：]+$/
const SENTENCE_END = /[.。!！]$/

/**
 * Contract: the sentence itself if other words of it say when, too, or if nothing else is left. What is left out means
 * the same schedule as the whole sentence.
 */
export function withoutSchedule(sentence: string, reader: SentenceContext): string {
  const text = sentence.trim()
  const whole = readSchedule(text, reader)
  if (whole.kind !== 'schedule') return text
  const isSchedule = (words: string, rest: string): boolean =>
    JOINED.test(withoutTimes(words)) && means(words, whole, reader) && isWhole(text, words, rest, reader)
  for (let length = 1; length < Math.min(MAX_WORDS, text.length); length += 1) {
    const [words, rest] = [text.slice(0, length), text.slice(length)]
    if (!BELONGS_TO_TASK.test(rest) && isSchedule(words, rest)) return startLike(text, rest.replace(LEADING, ''))
  }
  for (let length = 1; length < Math.min(MAX_WORDS, text.length); length += 1) {
    const [rest, words] = [text.slice(0, -length), text.slice(-length)]
    if (isSchedule(words, rest)) return `${rest.replace(TRAILING, '')}${SENTENCE_END.exec(text)?.[0] ?? ''}`
  }
  return text
}

function means(words: string, whole: ScheduleReading, reader: SentenceContext): boolean {
  const reading = readSchedule(words, reader)
  return reading.kind === 'schedule' && isDeepStrictEqual(reading, whole)
}

/** Whether the text is divided between two words, all that says when is in `words`, and `rest` says something. */
function isWhole(text: string, words: string, rest: string, reader: SentenceContext): boolean {
  const left = withoutTimes(rest)
  return (
    /\p{L}/u.test(left) &&
    !isTimed(rest, reader) &&
    lettersOf(`${left}${withoutTimes(words)}`) === lettersOf(withoutTimes(text))
  )
}

/** Whether the words say when, too. An adjective such as "weekly" does not count beside the words of a schedule. */
function isTimed(words: string, reader: SentenceContext): boolean {
  const without = words.replace(/\b(?:daily|hourly|weekly|monthly|yearly|nightly|quarterly|morning|evening)\b/gi, ' ')
  return readSchedule(without, reader).kind !== 'no_time'
}

/** Sorted: the words that say when may stand before or after the rest. */
const lettersOf = (text: string): string => [...text.replace(/[\s\p{P}]/gu, '')].sort().join('')

/** Begins with a capital letter if the other text does. */
const startLike = (model: string, text: string): string =>
  /^\p{Lu}/u.test(model) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text
