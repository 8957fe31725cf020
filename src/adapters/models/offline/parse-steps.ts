/** The sentences that the offline model knows, in English and Chinese. A clause must match one completely. Pure. */

import { type Clause, type Literal, MARK, type ParsedTask, parseTask } from './clauses.ts'

export type OfflineStep =
  | { readonly kind: 'create'; readonly path: string; readonly content: string; readonly replace: boolean }
  | { readonly kind: 'append'; readonly path: string; readonly line: string }
  | { readonly kind: 'view'; readonly path: string }
  | { readonly kind: 'list'; readonly path: string }
  | { readonly kind: 'run'; readonly command: string }
  | { readonly kind: 'wait'; readonly for: string; readonly until?: string }
  | ReportStep
  | { readonly kind: 'unknown'; readonly words: string }

/** Creates a file: a report of data blocks and files, or an index of the files. */
export interface ReportStep {
  readonly kind: 'report' | 'index'
  readonly path: string
  readonly day: string | undefined
  readonly chinese: boolean
  readonly data: readonly Literal[]
  /** The part of the sentence that no rule understands. */
  readonly beyond: string
}

/** The groups of a matched pattern; `text` is a literal or unquoted words. */
interface Match {
  readonly verb: string
  readonly path: string
  readonly named: boolean
  readonly text: string | undefined
  readonly until: string | undefined
  /** True if `text` is a data block of the runtime. */
  readonly data: boolean
  readonly task: ParsedTask
}

interface Rule {
  readonly patterns: readonly RegExp[]
  step(match: Match): OfflineStep | undefined
}

// In the patterns: P is a path, T a quoted text, W a quoted or unquoted text.
const P = `(?<path>${MARK}|它|该文件|这个文件|[\\w.~@+/-]*[\\w/])`
const T = `(?<text>${MARK})`
const W = `(?<text>${MARK}|.+)`
const FILE = '(?<named>file)'
const FILE_PHRASE = `(?:(?:a|the|new)\\s+)*(?:${FILE}\\s+)?(?:called\\s+|named\\s+)?`
const WITH = '(?:with|containing|that\\s+(?:says|contains)|and\\s+(?:put|write))'
const CONTENT = '(?:(?:the|its|this|following)\\s+)*(?:contents?|text|line|body)?(?:\\s+(?:is|in\\s+it))?'
const ZH_FILE = '\\s*(?<named>文件)?\\s*(?:，|,)?\\s*(?:名为|叫做?|名称为)?\\s*'
const ZH_IN = '\\s*(?:文件)?的?(?:末尾|最后|结尾|后面|里面|中|里)?\\s*'
const UNIT = '(?:milliseconds?|seconds?|secs?|minutes?|mins?|hours?|days?|ms|s|m|h|d|毫秒|秒钟?|分钟?|个?小时|天)'

const rule = (patterns: readonly string[], step: Rule['step']): Rule => ({
  patterns: patterns.map((pattern) => new RegExp(`^(?:${pattern})$`, 'i')),
  step,
})

/** Rules for sentences that continue with a text after a colon. */
const REST_RULES: readonly Rule[] = [
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

const RULES: readonly Rule[] = [
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
        `(?:简报|报告|日报|周报|月报|汇报)(?:到|至|，?\\s*写入|，?\\s*保存到|，?\\s*保存为)?(?:${ZH_FILE}${P})?`,
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
      `(?:生成|更新|整理|写)(?:一份)?(?:所有|全部)?文件的?(?:索引|清单)(?:到|至|，?\\s*写入|，?\\s*保存到)?(?:${ZH_FILE}${P})?`,
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

function createStep({ verb, path, named, text = '' }: Match): OfflineStep | undefined {
  const isCreation = /^(create|make|创建|新建|建立)$/i.test(verb)
  // `write a poem` names no file, so it matches no rule. Verbs other than `create` and `make` need a text.
  if (!isPath(path, named) || (!isCreation && text === '')) return undefined
  return { kind: 'create', path, content: text, replace: !isCreation }
}

function appendStep({ path, named, text }: Match): OfflineStep | undefined {
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

const POLITE_PREFIX = new RegExp(
  String.raw`^(?:(?:please|now|first|next|also|and|then|finally|(?:could|can|would)\s+you` +
    String.raw`|i\s+want\s+you\s+to|let['’]s)\b|请你?|帮我|麻烦你?|首先|先|然后|接着|最后|再|并)[\s,，]*`,
  'i',
)

/** Collapses white space: the patterns expect single blanks, and long runs would make them backtrack endlessly. */
function stripPoliteWords(words: string): string {
  let rest = words.replace(/\s+/g, ' ')
  for (let before = ''; before !== rest; rest = rest.replace(POLITE_PREFIX, '')) before = rest
  return rest
}

function takesRest(words: string): boolean {
  const sentence = stripPoliteWords(words)
  return REST_RULES.some(({ patterns }) => patterns.some((pattern) => pattern.test(sentence)))
}

const DATA_LINE = new RegExp(`^(?:([^\\uE000]{0,200})[:：])?\\s*(${MARK})$`)

export function parseSteps(text: string): OfflineStep[] {
  const task = parseTask(text, takesRest)
  const steps: OfflineStep[] = []
  let lastPath: string | undefined
  for (const clause of task.clauses) {
    const isOrphan = clause.belongsToPrevious && steps.at(-1)?.kind === 'unknown'
    const knownStep = isOrphan ? undefined : matchClause(clause, task, lastPath)
    if (!knownStep && isHeading(clause, task)) continue
    const step = knownStep ?? unknownStep(clause, task)
    if ('path' in step && step.kind !== 'list') lastPath = step.path
    steps.push(step)
  }
  return steps
}

/** A heading such as `State:` above a data block, or the block alone, is no instruction. */
function isHeading({ words, rest }: Clause, task: ParsedTask): boolean {
  const [, above = '', mark = ''] = DATA_LINE.exec(words) ?? []
  return rest === undefined && task.literal(mark)?.fence === 'data' && !takesRest(above)
}

function unknownStep({ words, rest }: Clause, task: ParsedTask): OfflineStep {
  return { kind: 'unknown', words: task.plain(rest === undefined ? words : `${words}: ${rest}`) }
}

function matchClause(clause: Clause, task: ParsedTask, lastPath: string | undefined): OfflineStep | undefined {
  if (clause.isBeyondRules) return undefined
  const words = stripPoliteWords(clause.words)
  const soleLiteral = task.literal(words)
  if (soleLiteral) return soleLiteral.fence === 'shell' ? { kind: 'run', command: soleLiteral.text.trim() } : undefined
  for (const { patterns, step } of clause.rest === undefined ? RULES : REST_RULES) {
    for (const pattern of patterns) {
      const match = pattern.exec(words)
      const matched = match && step(readGroups(match.groups ?? {}, clause, task, lastPath))
      if (matched) return matched
    }
  }
  return undefined
}

type Groups = Readonly<Record<string, string | undefined>>

function readGroups(groups: Groups, clause: Clause, task: ParsedTask, lastPath: string | undefined): Match {
  const { verb = '', path = '', named, until } = groups
  const text = clause.rest ?? groups.text ?? groups.quoted
  const literal = text === undefined ? undefined : task.literal(text)
  const pathLiteral = task.literal(path)
  const pronoun = /^(it|它|该文件|这个文件)$/i.test(path) ? lastPath : undefined
  return {
    verb,
    path: pronoun ?? (pathLiteral?.fence === 'data' ? '' : (pathLiteral?.text ?? path)),
    named: named !== undefined || pronoun !== undefined || pathLiteral !== undefined,
    text: text === undefined ? undefined : (literal?.text ?? task.plain(text)),
    until,
    data: literal?.fence === 'data',
    task,
  }
}
