/** Recognises what a question about the past asks for, in English and Chinese. Pure. */

import { type Language, languageOf } from '../domain/language.ts'
import { type PeriodReading, readPeriod } from './period.ts'
import type { WallClock } from './wall-clock.ts'

export const QUESTION_KINDS = ['did', 'cost', 'waits', 'why', 'changed', 'failed', 'next'] as const
export type QuestionKind = (typeof QUESTION_KINDS)[number]

export interface PastQuestion {
  readonly text: string
  readonly language: Language
  /** Undefined: not understood. */
  readonly kind: QuestionKind | undefined
  readonly period: PeriodReading
}

/** The first row that fits decides. `not`: then it does not fit. */
interface KindRule {
  readonly kind: QuestionKind
  readonly pattern: RegExp
  readonly not?: RegExp
}

const FILE_NAME = '[\\w-]\\.[a-z]\\w{0,7}\\b'

/** Sources of expressions that begin and end at word boundaries. */
const english = (kind: QuestionKind, ...sources: readonly string[]): KindRule => ({
  kind,
  pattern: new RegExp(`(?<!\\w)(?:${sources.join('|')})(?!\\w)`),
  // "What did you plan" asks for what happened.
  ...(kind === 'next' ? { not: /\b(?:did|was|were|have)\b/ } : {}),
})

const chinese = (kind: QuestionKind, ...sources: readonly string[]): KindRule => ({
  kind,
  pattern: new RegExp(sources.join('|')),
  ...(kind === 'next' ? { not: /做了|干了|完成了/ } : {}),
})

const ENGLISH: readonly KindRule[] = [
  english('why', 'why', 'how come', 'what made you', 'reasons? (?:for|why|behind)', 'for what reason', 'explain'),
  english('why', 'how did .*\\b(?:fail|break|crash|go wrong)'),
  english('cost', 'costs?', 'spen(?:d|t|ding|se)s?', 'expens\\w+', 'bills?', 'invoice', 'money', 'dollars?', 'usd'),
  english('cost', 'cents?', 'budget', 'charged?', 'pa(?:y|id)', 'burn(?:ed|t)?', '\\$'),
  english(
    'waits',
    'wait(?:s|ing)?',
    'approv\\w+',
    'permission',
    'sign.?off',
    'stuck',
    'blocked',
    'pending',
    'to-?dos?',
  ),
  english('waits', 'needs? (?:from )?(?:me|my|us)', 'i need to', 'for me to', 'needs? a decision', 'questions? for me'),
  english('waits', 'my (?:attention|answer|decision|input|ok|okay|reply|response|help|side|turn)'),
  english('waits', '(?:do|should|must|can) i (?:have to|need|must|do|answer|decide)'),
  english('waits', 'open (?:questions?|matters?|items?|points?|issues?)'),
  english('failed', 'fail\\w*', 'errors?', 'wrong', 'problems?', 'issues?', 'br(?:o|ea)ken?', 'crash\\w*', 'trouble'),
  english('failed', 'unsuccessful', 'not work', 'mistakes?', 'mishaps?'),
  english(
    'next',
    'next',
    'going to',
    'will you',
    'plans?',
    'planned',
    'planning',
    'upcoming',
    'scheduled?',
    'coming up',
  ),
  english('next', 'about to', 'agenda', 'later today', 'tomorrow'),
  english('changed', 'files?', 'diff', 'changes', 'history of'),
  english(
    'changed',
    '(?:what|who|which|anything|something|documents?|folders?)\\b.*\\b(?:chang|modif|edit|touch|alter)\\w*',
  ),
  english('changed', `(?:chang|modif|edit|touch|writ|wrote|updat|creat|alter)\\w*\\b.*${FILE_NAME}`),
  english(
    'did',
    'did',
    'done',
    'do',
    'doing',
    'happen\\w*',
    'up to',
    'work(?:ed|ing|s)?',
    'accomplish\\w*',
    'achiev\\w*',
  ),
  english(
    'did',
    'finish\\w*',
    'complet\\w*',
    'rundown',
    'summar\\w+',
    'recap',
    'report',
    'progress',
    'busy',
    "what'?s new",
  ),
  english('did', 'activit\\w+', 'runs?', 'tasks?', 'cycles?', 'news'),
]

const CHINESE: readonly KindRule[] = [
  chinese('why', '为什么', '为何', '为啥', '什么原因', '啥原因', '原因', '怎么会', '干嘛要', '何故'),
  chinese('why', '怎么(?:就)?(?:失败|出错|挂|没成|坏)'),
  chinese(
    'cost',
    '多少钱',
    '花了多少',
    '花费',
    '花销',
    '费用',
    '成本',
    '开销',
    '账单',
    '支出',
    '美元',
    '美金',
    '烧了',
    '烧钱',
  ),
  chinese('cost', '消费', '预算', '花钱', '贵不贵'),
  chinese(
    'waits',
    '等着?我',
    '等待',
    '等.{0,6}批',
    '需要我',
    '要我',
    '批准',
    '审批',
    '没批',
    '未批',
    '待批',
    '拍板',
    '待办',
  ),
  chinese('waits', '问我', '卡住', '卡在', '悬而未决', '待处理', '同意', '授权'),
  chinese('waits', '我(?:来|去)?(?:处理|决定|确认|回答|回复|定夺|做主|答复)'),
  chinese('waits', '我(?:现在)?(?:该|得|还要|还得)(?:做|干|办)什么'),
  chinese(
    'failed',
    '失败',
    '出错',
    '错误',
    '报错',
    '岔子',
    '问题',
    '故障',
    '异常',
    '没有?成功',
    '未成功',
    '不成功',
    '没做成',
  ),
  chinese('failed', '没有?完成', '未完成', '搞砸', '挂了', '崩', '不顺', '差错', '毛病'),
  chinese(
    'next',
    '接下来',
    '下一步',
    '打算',
    '计划',
    '将要',
    '准备(?:做|干)',
    '明天',
    '待会',
    '安排',
    '日程',
    '下次',
    '下周',
  ),
  chinese('next', '之后要', '将会', '今后'),
  chinese(
    'changed',
    '改',
    '变化',
    '变动',
    '变更',
    '动过',
    '更新了(?:什么|哪)',
    '文件',
    '文档',
    '写了哪',
    '谁写',
    '有什么不同',
  ),
  chinese('changed', `${FILE_NAME}.*(?:动|变|写|更新|建)`, `(?:动|变|写|更新|建).*${FILE_NAME}`),
  chinese(
    'did',
    '做了',
    '做过',
    '做完',
    '做什么',
    '做啥',
    '做些',
    '干了',
    '干过',
    '干什么',
    '干啥',
    '干嘛',
    '干活',
    '干些',
  ),
  chinese(
    'did',
    '完成',
    '忙',
    '进展',
    '工作',
    '汇报',
    '总结',
    '发生',
    '成果',
    '任务',
    '跑了',
    '运行',
    '弄了',
    '搞了',
    '情况',
  ),
  chinese('did', '动静', '周报', '日报'),
]

/** A question that is nothing but a period: "And yesterday?", 上周呢. */
const SMALL_WORDS = new RegExp(
  '\\b(?:and|what|about|how|so|then|okay|ok|please|tell|me|the|in|on|of|for|during|from|to|since)\\b' +
    '|呢|那|么|吗|嘛|的|请|说说|讲讲|怎么样|如何|以来|[\\s\\p{P}]',
  'giu',
)

export function readQuestion(text: string, now: number, clock: WallClock): PastQuestion {
  const language = languageOf(text)
  const period = readPeriod(text, now, clock)
  return { text, language, period, kind: kindOf(text, language, period) }
}

function kindOf(text: string, language: Language, period: PeriodReading): QuestionKind | undefined {
  const plain = text
    .normalize('NFKC')
    .replaceAll('’', "'")
    .toLowerCase()
    // The words of a file name say nothing: "What changed in costs.csv?"
    .replace(/(?:[\w.-]*\/)*[\w-]+\.[a-z]\w{0,7}\b/g, 'x.md')
  const isPast = period.kind === 'period'
  const fits = ({ kind, pattern, not }: KindRule): boolean =>
    pattern.test(plain) && !(not?.test(plain) ?? false) && !(kind === 'next' && isPast)
  const found = (language === 'zh' ? CHINESE : ENGLISH).find(fits)?.kind
  if (found !== undefined) return found
  if (period.kind === 'future') return 'next'
  if (period.kind !== 'period') return undefined
  const rest = plain.replace(period.period.said.toLowerCase(), '').replace(SMALL_WORDS, '')
  return rest === '' ? 'did' : undefined
}
