/** Errors and titles of the server, in the words of the page: no commands for a terminal, no machine names. */

import { type Language, money } from '../format.ts'

/** Several parts of the page say it, so the text is the server's, word for word. */
const OUT_OF_MONEY = new RegExp(
  [
    'budget_money: the budget is too low for another answer; got ([\\d.e-]+) USD spent, [\\d.e-]+ USD reserved, ',
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

/** Contract: whether the text says that a limit of money is reached. */
export const isOutOfMoney = (text: string): boolean => OUT_OF_MONEY.test(text)

/** Contract: the text with an error that the page can say better in the words of the page; other text stays. */
export function explainError(text: string, language: Language): string {
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
