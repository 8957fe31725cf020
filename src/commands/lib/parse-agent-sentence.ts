/** Builds an agent from one sentence without a model: watched path, id, prompt. English and Chinese. Pure. */

import { type Language, languageOf } from '../../domain/language.ts'
import { STANDING_TASK } from '../../domain/title.ts'
import { withoutTimes } from '../../schedule-words/schedule-words.ts'

export interface ParsedSentence {
  /** The path in the sentence. */
  readonly path: string | null
  /** Whether the sentence mentions a repository or commits. */
  readonly repository: boolean
  /** Whether the sentence asks to watch something. */
  readonly watches: boolean
  /** Whether the sentence refers to the current folder. */
  readonly thisFolder: boolean
  /** Whether the sentence refers to the folder `inbox` of the home. */
  readonly inbox: boolean
  readonly language: Language
  readonly id: string
}

export function parseSentence(sentence: string): ParsedSentence {
  return {
    path: PATH.exec(sentence)?.[1]?.replace(/[.,;:!?]+$/, '') ?? null,
    repository: /\b(?:repo|repos|repository|git|commits?|pull requests?|work tree)\b|仓库|代码库|提交/i.test(sentence),
    watches: /\b(?:watch|tend|look after|keep an eye on|monitor|follow)(?:es|s)?\b|监视|监控|关注|盯|看管|观察/i.test(
      sentence,
    ),
    thisFolder: /\b(?:this|the current) (?:folder|directory)\b|(?:这个|当前|本)(?:文件夹|目录)/i.test(sentence),
    inbox: INBOX.test(sentence) && !MAIL.test(sentence),
    language: languageOf(sentence),
    id: idOf(sentence),
  }
}

const INBOX = /\bmy inbox\b|\binbox folder\b|收件箱|收件文件夹|收件夹/i
/** The inbox of a mail program is none of the home's folders. */
const MAIL = /\be?-?mails?\b|\b(?:gmail|outlook|imap)\b|邮/i

const PATH = /(?:^|[\s"'`“「(])((?:~|\.{1,2})?\/[^\s"'`”」)，。；、]+|~)/

/** Words that are left out of an id because they do not describe a task. */
const STOP_WORDS = new Set(
  `a an the my our your this that these those and or of to in on at for with from into every each once day days
  daily morning noon afternoon evening night hour hours hourly minute minutes week weekly month monthly
  me us it its if when then is are be any all please
  monday tuesday wednesday thursday friday saturday sunday weekday weekdays am pm`.split(/\s+/),
)
const MAX_ID_WORDS = 3

const MAX_HAN = 8

/** The id of the agent: the first words that describe the task; `agent` if there is none. */
function idOf(sentence: string): string {
  const task = withoutTimes(sentence.replace(PATH, ' '))
  const latin = task
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1 && !STOP_WORDS.has(word) && !/^\d/.test(word))
  const name = languageOf(sentence) === 'zh' ? hanName(task) : latin.slice(0, MAX_ID_WORDS).join('-')
  return name.slice(0, 40).replace(/-+$/, '') || latin.slice(0, MAX_ID_WORDS).join('-') || 'agent'
}

/** The first Chinese words that fit; words such as 请 and 我的 do not describe a task. */
function hanName(task: string): string {
  const words = [...new Intl.Segmenter('zh', { granularity: 'word' }).segment(task)].map(({ segment }) => segment)
  let name = ''
  for (const word of words) {
    if (!/^[\p{Script=Han}A-Za-z0-9]+$/u.test(word) || HAN_STOP_WORDS.has(word)) continue
    if ([...name, ...word].length > MAX_HAN) break
    name += word
  }
  return name
}

const HAN_STOP_WORDS = new Set(
  '请 我 我的 你 帮 帮我 给 给我 的 了 并 和 在 把 将 一个 一次 一下 能 要 让 麻烦 每 时 就 也'.split(' '),
)

const SCAFFOLD = {
  en: {
    standing: STANDING_TASK.en,
    watched: 'What you watch, with the changes since your last run:\n{WATCHED}',
    state: 'Current state:\n{STATE}',
    goal: 'The goal of your owner:\n{GOAL}',
    now: (report: string) => `Do the task now. Write a report${report === '' ? '' : ` to ${report}`}.`,
  },
  zh: {
    standing: STANDING_TASK.zh,
    watched: '你关注的内容，以及上次运行以来的新变化：\n{WATCHED}',
    state: '当前状态：\n{STATE}',
    goal: '主人的目标：\n{GOAL}',
    now: (report: string) => `现在完成任务所要求的事。生成一份简报${report === '' ? '' : `到 ${report}`}。`,
  },
} as const

/** The sentence, with the placeholders that an agent needs to act on it. `report`: the file of its reports. */
export function writePromptForSentence(sentence: string, watches: boolean, report = ''): string {
  const { standing, watched, state, goal, now } = SCAFFOLD[languageOf(sentence)]
  return `${[sentence.trim(), standing, ...(watches ? [watched] : []), state, goal, now(report)].join('\n\n')}\n`
}
