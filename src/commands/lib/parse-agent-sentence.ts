/** Builds an agent from one sentence without a model: schedule, watched path, id. English and Chinese. Pure. */

import { parseDuration } from '../../domain/duration.ts'
import { languageOf } from '../../domain/language.ts'
import type { WrittenSchedule } from '../../schedule-words/reading.ts'

export interface ParsedSentence {
  /** Null: the sentence has no schedule. */
  readonly schedule: WrittenSchedule | null
  /** The path in the sentence. */
  readonly path: string | null
  /** Whether the sentence mentions a repository or commits. */
  readonly repository: boolean
  /** Whether the sentence asks to watch something. */
  readonly watches: boolean
  /** Whether the sentence refers to the current folder. */
  readonly thisFolder: boolean
  readonly id: string
}

export function parseSentence(sentence: string): ParsedSentence {
  return {
    schedule: findSchedule(sentence),
    path: PATH.exec(sentence)?.[1]?.replace(/[.,;:!?]+$/, '') ?? null,
    repository: /\b(?:repo|repos|repository|git|commits?|pull requests?|work tree)\b|仓库|代码库|提交/i.test(sentence),
    watches: /\b(?:watch|tend|look after|keep an eye on|monitor|follow)(?:es|s)?\b|监视|监控|关注|盯|看管|观察/i.test(
      sentence,
    ),
    thisFolder: /\b(?:this|the current) (?:folder|directory)\b|(?:这个|当前|本)(?:文件夹|目录)/i.test(sentence),
    id: idOf(sentence),
  }
}

const PATH = /(?:^|[\s"'`“「(])((?:~|\.{1,2})?\/[^\s"'`”」)，。；]+|~)/

const HOURS: readonly [RegExp, number][] = [
  [/\bmorning\b|早上|早晨|上午|清晨/i, 9],
  [/\bnoon\b|中午/i, 12],
  [/\bafternoon\b|下午/i, 15],
  [/\bevening\b|傍晚/i, 18],
  [/\bnight\b|晚上|夜里|每晚/i, 21],
]

const WEEKDAYS: readonly [RegExp, string][] = [
  [/\b(?:week|working |work)days?\b(?<!\bweek)|工作日/i, '1-5'],
  [/\bmondays?\b|(?:周|星期)一/i, '1'],
  [/\btuesdays?\b|(?:周|星期)二/i, '2'],
  [/\bwednesdays?\b|(?:周|星期)三/i, '3'],
  [/\bthursdays?\b|(?:周|星期)四/i, '4'],
  [/\bfridays?\b|(?:周|星期)五/i, '5'],
  [/\bsaturdays?\b|(?:周|星期)六/i, '6'],
  [/\bsundays?\b|(?:周|星期)[日天]/i, '0'],
]

const INTERVAL =
  /\bevery\s+(\d+)\s*(minute|min|hour|day|second|sec|m|h|d|s)s?\b|每(?:隔)?\s*(\d+)\s*(分钟|个?小时|天|秒)/i
const UNITS: Readonly<Record<string, string>> = {
  m: 'm',
  h: 'h',
  d: 'd',
  s: 's',
  分: 'm',
  小: 'h',
  个: 'h',
  天: 'd',
  秒: 's',
}

/** Contract: null if the text has no schedule. */
export function findSchedule(words: string): WrittenSchedule | null {
  const interval = INTERVAL.exec(words)
  if (interval) {
    const unit = UNITS[(interval[2] ?? interval[4] ?? '').charAt(0).toLowerCase()]
    return { every: `${interval[1] ?? interval[3]}${unit}` }
  }
  if (/\b(?:every|each|once an?) hour\b|\bhourly\b|每个?小时/i.test(words)) return '0 * * * *'
  if (/\b(?:every|each|once a) minute\b|每分钟/i.test(words)) return '* * * * *'
  const [hour, minute] = timeIn(words)
  const day = WEEKDAYS.find(([pattern]) => pattern.test(words))?.[1]
  if (day !== undefined && /\b(?:every|each|on)\b|days\b|每|周/i.test(words)) return `${minute} ${hour} * * ${day}`
  if (/\b(?:every|each|once a) week\b|\bweekly\b|每周|每星期/i.test(words)) return `${minute} ${hour} * * 1`
  if (/\b(?:every|each|once a) month\b|\bmonthly\b|每个?月/i.test(words)) return `${minute} ${hour} 1 * *`
  const daily = /\b(?:every|each|once a) (?:day|morning|noon|afternoon|evening|night)\b|\bdaily\b|每天|每日|每晚|每早/i
  return daily.test(words) ? `${minute} ${hour} * * *` : null
}

/** The time of day in the text; 09:00 by default. */
function timeIn(words: string): readonly [hour: number, minute: number] {
  const clock = /\bat\s+(\d{1,2})(?::(\d\d))?\s*(am|pm)?\b|(\d{1,2})\s*[点：:]\s*(\d\d)?/i.exec(words)
  const part = HOURS.find(([pattern]) => pattern.test(words))?.[1]
  if (!clock) return [part ?? 9, 0]
  const number = Number(clock[1] ?? clock[4])
  const half = clock[3]?.toLowerCase() ?? ((part ?? 0) > 12 ? 'pm' : undefined)
  const hour = half === undefined || number > 12 ? number % 24 : (number % 12) + (half === 'pm' ? 12 : 0)
  return [hour, Number(clock[2] ?? clock[5] ?? 0)]
}

/** Words that are left out of an id because they do not describe a task. */
const STOP_WORDS = new Set(
  `a an the my our your this that these those and or of to in on at for with from into every each once day days
  daily morning noon afternoon evening night hour hours hourly minute minutes week weekly month monthly
  me us it its if when then is are be any all please
  monday tuesday wednesday thursday friday saturday sunday weekday weekdays am pm`.split(/\s+/),
)
const MAX_ID_WORDS = 3

/** The id of the agent: the first words that describe the task; `agent` if none has Latin letters. */
function idOf(sentence: string): string {
  const words = sentence
    .replace(PATH, ' ')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1 && !STOP_WORDS.has(word) && !/^\d/.test(word))
  return words.slice(0, MAX_ID_WORDS).join('-').slice(0, 40).replace(/-+$/, '') || 'agent'
}

/** Reads a schedule: words, a duration or an instant. Other text is returned as a cron line, unchecked. */
export function parseScheduleOption(text: string): WrittenSchedule | null {
  const trimmed = text.trim()
  if (trimmed === 'none') return null
  if (trimmed.startsWith('@')) return trimmed
  const every = trimmed.replace(/^every\s+/i, '')
  if (parseDuration(every) !== undefined) return { every }
  if (/^\d{4}-\d\d-\d\dT/.test(trimmed)) return { at: trimmed }
  return findSchedule(trimmed) ?? trimmed
}

const SCAFFOLD = {
  en: {
    standing: 'This is your standing task, as your owner wrote it. The system starts you on schedule.',
    watched: 'What you watch, with the changes since your last run:\n{WATCHED}',
    state: 'Current state:\n{STATE}',
    goal: 'The goal of your owner:\n{GOAL}',
    now: 'Do the task now. Write a report.',
  },
  zh: {
    standing: '以上是主人交给你的长期任务。何时执行由系统安排。',
    watched: '你关注的内容，以及上次运行以来的新变化：\n{WATCHED}',
    state: '当前状态：\n{STATE}',
    goal: '主人的目标：\n{GOAL}',
    now: '现在完成任务所要求的事。生成一份简报。',
  },
} as const

/** The sentence, with the placeholders that an agent needs to act on it. */
export function writePromptForSentence(sentence: string, watches: boolean): string {
  const { standing, watched, state, goal, now } = SCAFFOLD[languageOf(sentence)]
  return `${[sentence.trim(), standing, ...(watches ? [watched] : []), state, goal, now].join('\n\n')}\n`
}
