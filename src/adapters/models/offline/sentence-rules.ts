/** The sentences that the offline model knows, in English and Chinese. A clause must match one completely. Pure. */

import { MARK, type ParsedTask } from './clauses.ts'
import type { OfflineStep, ReportStep } from './offline-step.ts'

/** The groups of a matched pattern; `text` is a literal or unquoted words. */
export interface SentenceMatch {
  readonly verb: string
  readonly path: string
  readonly named: boolean
  readonly text: string | undefined
  readonly until: string | undefined
  /** True if `text` is a data block of the runtime. */
  readonly data: boolean
  readonly task: ParsedTask
}

interface SentenceRule {
  readonly patterns: readonly RegExp[]
  step(match: SentenceMatch): OfflineStep | undefined
}

// In the patterns: P is a path, T a quoted text, W a quoted or unquoted text.
const LATIN = '\\p{Script=Latin}\\p{M}\\p{N}_'
/** Without blanks between words, only an ending such as `.md` shows where a name ends. */
const NAME_WITH_ENDING = `[\\p{L}\\p{M}\\p{N}_.~@+/-]+?\\.[A-Za-z0-9]{1,8}(?![${LATIN}.-])`
const P = `(?<path>${MARK}|它|该文件|这个文件|[${LATIN}.~@+/-]*[${LATIN}/]|${NAME_WITH_ENDING})`
/** After a word such as 报告, a name has to begin visibly: 整理报告模板.md names one file and asks for no report. */
const BEGINS = '(?<=[^\\p{Script=Han}]|[到至入为件])'
const T = `(?<text>${MARK})`
const W = `(?<text>${MARK}|.+)`
const FILE = '(?<named>file)'
const FILE_PHRASE = `(?:(?:a|the|new)\\s+)*(?:${FILE}\\s+)?(?:called\\s+|named\\s+)?`
const WITH = '(?:with|containing|that\\s+(?:says|contains)|and\\s+(?:put|write))'
const CONTENT = '(?:(?:the|its|this|following)\\s+)*(?:contents?|text|line|body)?(?:\\s+(?:is|in\\s+it))?'
const ZH_FILE = '\\s*(?<named>文件(?!夹))?\\s*(?:，|,)?\\s*(?:名为|叫做?|名称为)?\\s*'
const ZH_IN = '\\s*(?:文件)?的?(?:末尾|最后|结尾|后面|里面|中|里)?\\s*'
const UNIT = '(?:milliseconds?|seconds?|secs?|minutes?|mins?|hours?|days?|ms|s|m|h|d|毫秒|秒钟?|分钟?|个?小时|天)'

const rule = (patterns: readonly string[], step: SentenceRule['step']): SentenceRule => ({
  patterns: patterns.map((pattern) => new RegExp(`^(?:${pattern})$`, 'iu')),
  step,
})

/** Rules for sentences that continue with a text after a colon. */
export const REST_RULES: readonly SentenceRule[] = [
  rule(
    [
      '(?<verb>create|make|write|save|overwrite)\\s+(?:an?\\s+|the\\s+|new\\s+|text\\s+)*' +
        `(?:${FILE}\\s+)?(?:called\\s+|named\\s+)?${P}(?:\\s+${WITH}\\s+${CONTENT})?`,
      `(?<verb>write|save|put)\\s+(?:this\\s+|the\\s+following\\s+)?(?:text\\s+)?(?:to|into|in)\\s+${FILE_PHRASE}${P}`,
      `(?<verb>创建|新建|建立|生成|写)(?:一个|个)?(?:新的?)?(?:文本)?${ZH_FILE}${P}\\s*(?:[,，]?\\s*(?:其?内容(?:为|是)?|并?写入|包含))?`,
      `(?<verb>在|向|往)${ZH_FILE}${P}${ZH_IN}(?:写入|写上|写)`,
    ],
    createStep,
  ),
  rule(
    [
      'append\\s+(?:(?:a|the|one|this)\\s+)?(?:new\\s+)?' +
        '(?:line\\s+|text\\s+)?to\\s+(?:the\\s+end\\s+of\\s+)?' +
        `${FILE_PHRASE}${P}`,
      `追加(?:一行|内容)?到${ZH_FILE}${P}${ZH_IN}`,
      `(?:在|向|往|给)${ZH_FILE}${P}${ZH_IN}(?:追加|添加|加上)(?:一行|一条|内容|文字)*`,
    ],
    appendStep,
  ),
  rule(
    [
      '(?:run|execute)(?:\\s+(?:the|this|following|shell|bash|command))*',
      '(?:运行|执行)(?:一下)?(?:以下|下面的?|这个|如下)?(?:命令)?',
    ],
    ({ text, data }) => (text && !data ? { kind: 'run', command: text.trim() } : undefined),
  ),
]

export const SENTENCE_RULES: readonly SentenceRule[] = [
  rule(
    [
      '(?<verb>create|make|write|save|overwrite)\\s+' +
        `(?:an?\\s+|the\\s+|new\\s+|text\\s+|empty\\s+)*(?:${FILE}\\s+)?` +
        `(?:called\\s+|named\\s+)?${P}(?:\\s*,?\\s+${WITH}\\s+${CONTENT}` +
        `\\s*[:：]?\\s*${W})?`,
      '(?<verb>create|make|write|save|overwrite)\\s+' +
        `(?:an?\\s+|the\\s+|new\\s+|text\\s+)*(?:${FILE}\\s+)?` +
        `(?:called\\s+|named\\s+)?${P}\\s*[:：]?\\s*${T}`,
      '(?<verb>write|put|save|store)\\s+(?:the\\s+)?' +
        `(?:text\\s+|words?\\s+|line\\s+|content\\s+)?${T}\\s+` +
        `(?:to|into|in|as)\\s+${FILE_PHRASE}${P}`,
      `(?<verb>创建|新建|建立|生成|写)(?:一个|个)?(?:新的?|空的?)?(?:文本)?${ZH_FILE}${P}\\s*(?:[,，]?\\s*` +
        `(?:其?内容(?:为|是)?|并?写入|包含)\\s*[:：]?\\s*${W}|[:：]?\\s*${T.replace('text', 'quoted')})?`,
      `(?<verb>把|将)\\s*(?:内容|文字|文本)?\\s*${T}\\s*(?:写入|写到|写进|保存到|存到|存入|保存为)${ZH_FILE}${P}${ZH_IN}`,
      `(?<verb>在|向|往)${ZH_FILE}${P}${ZH_IN}(?:写入|写上|写)\\s*[:：]?\\s*${W}`,
    ],
    createStep,
  ),
  rule(
    [
      '(?:append|add)\\s+(?:(?:a|the|one|another|this)\\s+)?(?:new\\s+)?' +
        '(?:line|text|row|entry)?(?:\\s+(?:saying|with|containing))?\\s*[:：]?\\s*' +
        `${T}\\s+(?:to|at|in|into)\\s+(?:the\\s+end\\s+of\\s+)?${FILE_PHRASE}${P}`,
      `append\\s+(?:the\\s+)?(?:line|text)\\s+(?<text>.+?)\\s+to\\s+(?:the\\s+end\\s+of\\s+)?${FILE_PHRASE}${P}`,
      'append\\s+(?:(?:a|the|one|this)\\s+)?(?:line\\s+|text\\s+)?to\\s+' +
        `(?:the\\s+end\\s+of\\s+)?${FILE_PHRASE}${P}\\s*[:：]?\\s*${T}`,
      `(?:在|向|往|给)${ZH_FILE}${P}${ZH_IN}(?:追加|添加|加上)(?:一行|一条|内容|文字)*\\s*[:：]?\\s*${W}`,
      `(?:把|将)\\s*(?:这?一行)?\\s*${T}\\s*(?:追加|添加|加)到${ZH_FILE}${P}${ZH_IN}`,
      `追加(?:一行|一条|内容)?\\s*${T}\\s*到${ZH_FILE}${P}${ZH_IN}`,
    ],
    appendStep,
  ),
  rule(
    [
      '(?:list|show)\\s+(?:me\\s+)?(?:all\\s+)?(?:of\\s+)?(?:the\\s+)?' +
        '(?:files|folder|directory|workspace)(?:\\s+(?:here|there))?',
      '(?:list|show)\\s+(?:me\\s+)?(?:all\\s+)?(?:of\\s+)?(?:the\\s+)?(?:files|contents)\\s+' +
        '(?:in|of|under|inside)\\s+(?:the\\s+)?(?:(?:current\\s+|this\\s+)?' +
        `(?:folder|directory|workspace)|(?:(?:folder|directory)\\s+)?${P}(?:\\s+` +
        '(?:folder|directory))?)',
      `list\\s+(?:the\\s+)?(?:folder|directory)\\s+${P}`,
      '(?:列出|显示|查看)(?:一下)?(?:当前|工作)?(?:目录|文件夹|工作区)?(?:下|中|里|里面)?的?(?:所有|全部)?文件(?:列表)?',
      `(?:列出|显示|查看)(?:一下)?(?:目录|文件夹)?\\s*${P}\\s*(?:目录|文件夹)?(?:下|中|里|里面)的?(?:所有|全部)?(?:文件|内容)(?:列表)?`,
      `(?:列出|查看)(?:目录|文件夹)\\s*${P}`,
    ],
    ({ path }) => ({ kind: 'list', path: path || '.' }),
  ),
  rule(
    [
      '(?:read|view|show|open|print|display|cat)\\s+(?:me\\s+)?' +
        `(?:the\\s+)?(?:contents?\\s+of\\s+|text\\s+of\\s+)?${FILE_PHRASE}` +
        `${P}`,
      `(?:读取?|查看|显示|打开|看看|看一下|阅读)(?:一下)?${ZH_FILE}${P}\\s*(?:文件)?(?:的?(?:全部)?内容)?`,
    ],
    ({ path, named }) => (isPath(path, named) ? { kind: 'view', path } : undefined),
  ),
  rule(
    [
      `(?:run|execute)(?:\\s+(?:the|this|following|shell|bash|command|commands|script))*\\s*[:：]?\\s*${T}`,
      `(?:do|try)\\s+(?:this|the\\s+following)\\s*[:：]?\\s*${T}`,
      `(?:运行|执行)(?:一下)?(?:以下|下面的?|这个|如下)?(?:命令|脚本)?\\s*[:：]?\\s*${T}`,
    ],
    ({ text, data }) => (text?.trim() && !data ? { kind: 'run', command: text.trim() } : undefined),
  ),
  rule(
    [
      `wait\\s+(?:for\\s+)?(?<until>\\d+(?:\\.\\d+)?\\s*${UNIT})`,
      'wait\\s+until\\s+(?<until>\\d{4}-\\d\\d-\\d\\d\\S*)',
      `(?:等待|等)\\s*(?<until>\\d+(?:\\.\\d+)?\\s*${UNIT})`,
      '(?:等待到|等到|等待至)\\s*(?<until>\\d{4}-\\d\\d-\\d\\d\\S*)',
      `wait\\s+(?:for|until)\\s+${W}\\s*,?\\s+` +
        '(?:until|at\\s+most|up\\s+to)\\s+(?<until>\\d{4}-\\d\\d-\\d\\d\\S*|\\d+' +
        `(?:\\.\\d+)?\\s*${UNIT})`,
      `wait\\s+(?:for|until)\\s+${W}`,
      `(?:等待|等到)\\s*${W}`,
    ],
    ({ text, until }) => ({
      kind: 'wait',
      for: text === undefined ? 'the given time' : normalizeEvent(text),
      ...(until === undefined ? {} : { until: normalizeDuration(until) }),
    }),
  ),
  rule(
    [
      '(?:write|make|prepare|create|generate|compile|draft)\\s+(?:me\\s+)?(?:' +
        `(?!report\\b)[\\w'’-]{1,20}\\s+){0,5}(?:report|briefing|brief)(?:\\s+` +
        `(?<text>.{1,300}?))??(?:\\s+(?:to|into|as)\\s+${FILE_PHRASE}${P})?`,
      '(?:(?:根据|基于|结合|依据|按照?)[^，,]{1,60}?)?(?:生成|撰写|编写|写|准备|整理|制作)(?:[^，,]{0,20}?)' +
        `(?:简报|报告|日报|周报|月报|汇报)(?:到|至|，?\\s*写入|，?\\s*保存到|，?\\s*保存为)?(?:${ZH_FILE}${BEGINS}${P})?`,
    ],
    ({ path, named, text = '', task }) =>
      path === '' || isPath(path, named)
        ? { ...reportFields(task, text), kind: 'report', path: path || `report${task.day ? `-${task.day}` : ''}.md` }
        : undefined,
  ),
  rule(
    [
      '(?:write|make|keep|update|bring)\\s+(?:an?\\s+|the\\s+)?' +
        '(?:index|catalogue|catalog|inventory)(?:\\s+of\\s+(?:' +
        '(?:all|the|your|files|folder|workspace)\\s*){1,4})?(?:\\s*(?:to|into|as|in)\\s+' +
        `${FILE_PHRASE}${P})?(?:\\s*up\\s+to\\s+date)?`,
      `(?:生成|更新|整理|写)(?:一份)?(?:所有|全部)?文件的?(?:索引|清单)(?:到|至|，?\\s*写入|，?\\s*保存到)?(?:${ZH_FILE}${BEGINS}${P})?`,
    ],
    ({ path, named, task }) =>
      path === '' || isPath(path, named)
        ? { ...reportFields(task, ''), kind: 'index', path: path || 'INDEX.md' }
        : undefined,
  ),
]

const reportFields = ({ data, day, chinese }: ParsedTask, beyond: string): Omit<ReportStep, 'kind' | 'path'> => ({
  ...{ data, day, chinese },
  beyond,
})

function createStep({ verb, path, named, text = '' }: SentenceMatch): OfflineStep | undefined {
  const isCreation = /^(create|make|创建|新建|建立)$/i.test(verb)
  // `write a poem` names no file, so it matches no rule. Verbs other than `create` and `make` need a text.
  if (!isPath(path, named) || (!isCreation && text === '')) return undefined
  return { kind: 'create', path, content: text, replace: !isCreation }
}

function appendStep({ path, named, text }: SentenceMatch): OfflineStep | undefined {
  return text && isPath(path, named) ? { kind: 'append', path, line: text.replace(/\n+$/, '') } : undefined
}

/** A bare word counts as a path only if the sentence calls it a file. */
const isPath = (path: string, named: boolean) => path !== '' && (named || /[./]/.test(path))

const UNITS: readonly [RegExp, string][] = [
  [/^(ms|milli|毫)/i, 'ms'],
  [/^(s|秒)/i, 's'],
  [/^(mi|m$|分)/i, 'm'],
  [/^(h|个?小)/i, 'h'],
  [/^(d|天)/i, 'd'],
]

function normalizeDuration(words: string): string {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)\s*([^\d\s-]\S*)$/.exec(words) ?? []
  const short = UNITS.find(([pattern]) => pattern.test(unit))?.[1]
  return count && short ? `${count}${short}` : words
}

function normalizeEvent(words: string): string {
  if (
    /^(?:a|my|the|another)?\s*(?:user\s+)?(?:message|reply|answer)s?$|^(?:用户|我)?的?(?:消息|回复|答复)$/i.test(words)
  ) {
    return 'user_message'
  }
  const event = /^(?:the\s+)?event:?\s*(\S+)$|^事件\s*(\S+)$/i.exec(words)
  return event ? `event:${event[1] ?? event[2]}` : words
}
