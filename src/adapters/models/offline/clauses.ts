/**
 * Splits a task into clauses. Quoted and fenced text is replaced by marks first, so it never counts as an instruction.
 * Pure.
 */

export interface Literal {
  readonly text: string
  /** The original text with its quotes. */
  readonly raw: string
  /**
   * Kind of a fenced block. A `data` block comes from the runtime: its text may be written to a file, and nothing else.
   */
  readonly fence?: 'shell' | 'data' | 'other'
  /** Name of a data block. */
  readonly label?: string
}

export interface Clause {
  /** The text with a mark in place of each literal. */
  readonly words: string
  /** Unquoted text after a colon, up to the end of the line. */
  readonly rest?: string
  /** True if the clause, or the heading above it, contains a word that no rule can obey (not, if, every …). */
  readonly isBeyondRules?: true
  /** True for a block that belongs to the previous clause; it is skipped together with that clause. */
  readonly belongsToPrevious?: true
}

export interface ParsedTask {
  readonly clauses: readonly Clause[]
  /** Data blocks of the runtime, in order. */
  readonly data: readonly Literal[]
  /** The day of the first timestamp outside the data blocks. */
  readonly day: string | undefined
  readonly chinese: boolean
  /** The literal for a mark; undefined if the text is not a mark. */
  literal(mark: string): Literal | undefined
  /** Replaces marks by the original literals. */
  plain(words: string): string
}

/** Private-use characters, which are removed from the task first, so a task cannot contain a mark. */
export const MARK = '\uE000\\d+\uE001'
const MARKS = /[\uE000\uE001]/g

const DATA = /<data (\S{1,64}) ([^\n>]{0,200})>\n([\s\S]*?)\n<\/data \1>/g
const INSTANT = /\b(\d{4}-\d\d-\d\d)T\d\d:\d\d/
const FENCE = /^[ \t]*```([^\n`]*)\n([\s\S]*?)^[ \t]*```[ \t]*$/gm
const QUOTED =
  /`([^`\n]+)`|"([^"\n]*)"|“([^“”\n]*)”|「([^「」\n]*)」|『([^『』\n]*)』|‘([^‘’\n]*)’|(?<!\w)'([^'\n]*)'(?!\w)/g
const ONLY_MARK = new RegExp(`^\\s*${MARK}\\s*$`)
/** A colon that is followed by unquoted text on the same line. */
const COLON = new RegExp(`[:：](?!\\s*(?:${MARK}|$))`)
const SHELLS = /^(bash|sh|shell|zsh|console)\b/i

/** Start of a line that the runtime added to a user message; such a line is no instruction. */
const FROM_RUNTIME = /^\[event\b/
/** Feedback at the end of a message, and the general requirements for unattended runs; both are no instructions. */
const REQUIREMENTS = /^\[feedback\] [\s\S]*|^(?:Execution requirements:|执行要求：)\n(?:- [^\n]*(?:\n|$))+/gm
const LIST_MARK = new RegExp(
  String.raw`^\s*(?:[-*•]\s+|(?:step\s*)?\d+\s*[.):、]\s*|[（(]\d+[)）]\s*` +
    String.raw`|第[一二三四五六七八九十\d]+步\s*[：:，,]?\s*|[一二三四五六七八九十]+、\s*)`,
  'i',
)
const HEADING = /[:：]\s*$/
const SENTENCE_END = /[;；。！!？]+|[.?]+(?=\s|$)/

const VERB =
  '(?:create|make|write|save|put|append|add|read|view|show|open|print|display|list|run|execute|wait|' +
  '创建|新建|追加|读取|查看|显示|列出|运行|执行|等待|把|将|向|在[^，,]{1,200}?(?:追加|写入))'
const CLAUSE_END = new RegExp(
  [
    '(?:[,，]\\s*)?(?:\\b(?:and\\s+)?(?:then|finally|after that)\\b|并且|然后|接着|之后|最后)(?:\\s*[,，])?',
    `[,，、]\\s*(?=(?:and\\s+|再|并)?${VERB})`,
    `\\sand\\s+(?=${VERB}\\b)`,
  ].join('|'),
  'i',
)

/**
 * Words such as not, if and each. A rule that ignored them could do the opposite, so sentences with them are skipped.
 */
const BEYOND_RULES = new RegExp(
  [
    String.raw`\b(?:not|never|no|avoid|without|\w+n['’]t|cannot|if|unless|when(?:ever)?|otherwise)\b`,
    String.raw`\b(?:in case|or|every|each|repeat|times|twice)\b`,
    '不|别|勿|禁止|如果|若|假如|要是|除非|否则|或者|的话|每(?![日周月](?:工作)?(?:简报|报告|总结|汇报))|重复|次',
  ].join('|'),
  'i',
)

export const isChinese = (words: string): boolean => /\p{Script=Han}/u.test(words)

/** The text without data blocks. */
export const withoutData = (text: string): string => text.replace(DATA, '')

type TakesRest = (words: string) => boolean

/**
 * `takesRest`: true if the words before a colon expect a text after it; that text extends to the end of the line,
 * unparsed.
 */
export function parseTask(text: string, takesRest: TakesRest): ParsedTask {
  const literals: Literal[] = []
  const replaceByMark = (literal: Literal) => `\uE000${literals.push(literal) - 1}\uE001`
  const withMarkedData = text
    .replace(MARKS, '')
    .replaceAll('\r\n', '\n')
    .replace(DATA, (raw, _, label: string, text: string) => replaceByMark({ text, raw, fence: 'data', label }))
  const data = [...literals]
  const marked = withMarkedData
    .replace(REQUIREMENTS, '')
    .replace(FENCE, (raw, info: string, text: string) =>
      replaceByMark({ text, raw, fence: SHELLS.test(info.trim()) ? 'shell' : 'other' }),
    )
    .replace(QUOTED, (raw, ...groups) =>
      replaceByMark({ text: groups.find((group) => typeof group === 'string') ?? '', raw }),
    )
  const literal = (mark: string) => literals[Number(/^\uE000(\d+)\uE001$/.exec(mark.trim())?.[1] ?? -1)]
  return {
    clauses: splitLines(joinBlocks(marked, takesRest), takesRest),
    data,
    day: INSTANT.exec(withMarkedData)?.[1],
    chinese: isChinese(withMarkedData),
    literal,
    plain: (words) => words.replace(new RegExp(MARK, 'g'), (mark) => literal(mark)?.raw ?? ''),
  }
}

/** Joins a quoted or fenced block to the line above it, unless that line already has a text after its colon. */
function joinBlocks(marked: string, takesRest: TakesRest): string[] {
  const lines: string[] = []
  let before = -1
  for (const line of marked.split('\n')) {
    const owner = lines[before]
    if (owner !== undefined && ONLY_MARK.test(line) && !splitWithRest(owner, takesRest))
      lines[before] = `${owner} ${line}`
    else if (lines.push(line) && line.trim() !== '') before = lines.length - 1
  }
  return lines
}

/** A heading such as `Never do this:` applies to the lines below it, until a paragraph that is not a list. */
function splitLines(lines: readonly string[], takesRest: TakesRest): Clause[] {
  const clauses: Clause[] = []
  let isUnderHeading = false
  let afterBlankLine = false
  for (const line of lines) {
    if (line.trim() === '') afterBlankLine = true
    else {
      if (afterBlankLine && !LIST_MARK.test(line)) isUnderHeading = false
      afterBlankLine = false
      if (isUnderHeading) clauses.push({ words: line.trim(), isBeyondRules: true })
      else if (!FROM_RUNTIME.test(line))
        clauses.push(...(splitWithRest(line, takesRest) ?? splitSentences(withoutListMark(line))))
      isUnderHeading ||= HEADING.test(line) && BEYOND_RULES.test(line)
    }
  }
  return clauses
}

const withoutListMark = (line: string) => line.replace(LIST_MARK, '').trim()

/** Contract: the clauses of a line that ends with a text after a colon; undefined for any other line. */
function splitWithRest(line: string, takesRest: TakesRest): Clause[] | undefined {
  const words = withoutListMark(line)
  const colon = COLON.exec(words)
  const head = colon ? splitSentences(words.slice(0, colon.index)) : []
  const last = head.at(-1)
  if (!colon || !last || last.isBeyondRules || !takesRest(last.words)) return undefined
  return [...head.slice(0, -1), { ...last, rest: words.slice(colon.index + 1).trim() }]
}

function splitSentences(words: string): Clause[] {
  return words
    .split(SENTENCE_END)
    .flatMap((sentence): Clause[] =>
      BEYOND_RULES.test(sentence)
        ? [{ words: sentence.trim(), isBeyondRules: true }]
        : sentence.split(CLAUSE_END).map((clause) => ({ words: clause.trim() })),
    )
    .filter((clause) => clause.words !== '')
    .map((clause, index) =>
      index > 0 && ONLY_MARK.test(clause.words) ? { ...clause, belongsToPrevious: true } : clause,
    )
}
