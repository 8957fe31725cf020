/** Errors and titles of the server, in the words of the page: no commands for a terminal, no machine names. */

import { type Language, money } from '../format.ts'
import { describeCode } from './error-codes.ts'

/** Several parts of the page say it, so the text is the server's, word for word. */
const OUT_OF_MONEY = new RegExp(
  [
    '(?:budget_money: )?the budget is too low for another answer; got ([\\d.e-]+) USD spent, [\\d.e-]+ USD reserved, ',
    '([\\d.e-]+) USD needed; expected at most ([\\d.e-]+) USD \\(budget\\.(\\w+)\\)(?:; do this: [^\\n]*)?',
  ].join(''),
)

const PERIODS: readonly (readonly [RegExp, Readonly<Record<Language, string>>])[] = [
  [/month/, { en: 'a month', zh: '每月' }],
  [/dispatch/, { en: 'for one task', zh: '每个任务' }],
  [/agent/, { en: 'a day for this agent', zh: '这个智能体每天' }],
  [/./, { en: 'a day', zh: '每天' }],
]

const SENTENCES = {
  en: (limit: string, period: string, spent: string, needed: string) =>
    `The limit of ${limit} ${period} is reached: ${spent} is spent, and the next answer may cost ${needed}.`,
  zh: (limit: string, period: string, spent: string, needed: string) =>
    `达到了${period} ${limit} 的上限：已经花了 ${spent}，下一次回答最多还要 ${needed}。`,
} as const satisfies Record<Language, unknown>

/** Where the owner mends what an error says. */
export type Remedy = 'limit' | 'model'

const MODEL_FAILED =
  /the provider (?:refuse[sd] (?:the API|its) key|refuses the request|cannot be reached)|has no credit left/

/** Contract: where the error can be mended on the page; undefined if there is no such place. */
export function remedyOf(error: string): Remedy | undefined {
  if (OUT_OF_MONEY.test(error)) return 'limit'
  return MODEL_FAILED.test(error) ? 'model' : undefined
}

/** What to do, where the server names commands for a terminal. */
const COMMANDS: readonly (readonly [RegExp, Readonly<Record<Language, string>>])[] = [
  [
    /; do this: set a valid key, then run: tireless models test/,
    { en: '. Set a valid key in Settings, Models.', zh: '。请在“设置”的“模型”里填写正确的密钥。' },
  ],
  [
    /; do this: run tireless channels add, then tireless channels pair/,
    { en: '. Connect a chat in Settings, Channels.', zh: '。请在“设置”的“通道”里连接一个聊天。' },
  ],
]

const UNDO_REFUSED =
  /^.*?: (work is still under way|later work builds on this), so nothing was undone; got (.*?)(?:; do this: .*)?$/s

const UNDO_SENTENCES: Readonly<Record<Language, Readonly<Record<string, (what: string, runs: string) => string>>>> = {
  en: {
    'work is still under way': (_, runs) =>
      `Nothing was undone: work is still under way (${runs}). Stop it in Work, or answer it in Needs you.`,
    'later work builds on this': (what) => `Nothing was undone: later work builds on this (${what}). Undo that first.`,
  },
  zh: {
    'work is still under way': (_, runs) =>
      `没有撤销：还有工作没有结束（${runs}）。请在“工作”里停止它，或在“等你处理”里回答它。`,
    'later work builds on this': (what) => `没有撤销：后来的工作以它为基础（${what}）。请先撤销后来的工作。`,
  },
}

const UNDO_HALF_DONE = /^(\S+): the undo is half done; got (.*?)(?:; do this: .*)?$/s
const giveUp = (id: string): string => `tireless undo ${id} --give-up`
const UNDO_HALF_DONE_SENTENCES: Readonly<Record<Language, (what: string, id: string) => string>> = {
  en: (what, id) =>
    `The undo is half done (${what}). Finish it: tireless undo ${id} --yes. Or give it up: ${giveUp(id)}.`,
  zh: (what, id) => `撤销只做了一半（${what}）。完成它：tireless undo ${id} --yes；或放弃它：${giveUp(id)}。`,
}

/** The server says it in the language of the sentence, which may not be that of the page. */
const NOTHING_THERE = [
  /^there is no folder or file (.+), so there would be nothing to watch/s,
  /^没有 (.+) 这个文件夹或文件，所以没有可以关注的内容/s,
]
const NOTHING_THERE_SENTENCES: Readonly<Record<Language, (path: string) => string>> = {
  en: (path) => `There is no folder or file ${path}. Create it first, or name another one.`,
  zh: (path) => `没有 ${path} 这个文件夹或文件。请先创建它，或换一个路径。`,
}

/** Values that people typed. */
const WRONG_VALUES: readonly (readonly [RegExp, Readonly<Record<Language, string>>])[] = [
  [
    /^the (?:timeout|cooldown) is not valid; got (.+); expected .*$/s,
    { en: '“$1” is no length of time. Write it like 30m, 2h or 1d.', zh: '“$1”不是时长，请写成 30m、2h、1d 这样。' },
  ],
  [
    /^(?:channel_refused: )?the address is not valid$/,
    {
      en: 'The address is not valid. It begins with http:// or https://.',
      zh: '地址不对。它以 http:// 或 https:// 开头。',
    },
  ],
]

/** Contract: the text with an error that the page can say better in the words of the page; other text stays. */
export function explainError(given: string, language: Language): string {
  const text = COMMANDS.reduce((said, [command, place]) => said.replace(command, place[language]), given)
  const [, why, what = ''] = UNDO_REFUSED.exec(text) ?? []
  const runs = [...what.matchAll(/\brun (\w+)(?: “([^”]*)”)?/g)].map(([, id, title]) => title ?? id).join(', ')
  if (why !== undefined) return UNDO_SENTENCES[language][why]?.(what, runs) ?? text
  const [, undo, left = ''] = UNDO_HALF_DONE.exec(text) ?? []
  if (undo !== undefined) return UNDO_HALF_DONE_SENTENCES[language](left, undo)
  const path = NOTHING_THERE.map((pattern) => pattern.exec(text)?.[1]).find((found) => found !== undefined)
  if (path !== undefined) return NOTHING_THERE_SENTENCES[language](path)
  const wrong = WRONG_VALUES.find(([pattern]) => pattern.test(text))
  if (wrong) return text.replace(wrong[0], wrong[1][language])
  const said = explainBudget(text, language)
  return said === text ? describeCode(text, language) : said
}

function explainBudget(text: string, language: Language): string {
  const [error, spent, needed, limit, name = ''] = OUT_OF_MONEY.exec(text) ?? []
  if (error === undefined) return text
  const period = PERIODS.find(([pattern]) => pattern.test(name))?.[1][language] ?? ''
  const [most, used, next] = [limit, spent, needed].map((usd) => money(Number(usd), language))
  return text.replace(error, SENTENCES[language](most ?? '', period, used ?? '', next ?? ''))
}

const CHINESE_TITLES: Readonly<Record<string, string>> = {
  'your message': '你的消息',
  'a look at what is new': '看看有什么新情况',
  '(nothing but data)': '（只有数据）',
}

/** Contract: a title that the server gave to a run without a task, in the language of the page; other titles stay. */
export const sayTitle = (title: string, language: Language): string =>
  language === 'zh' ? (CHINESE_TITLES[title] ?? title) : title
