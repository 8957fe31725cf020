/** A task as clauses. What is quoted or fenced is put aside first, so that nothing in it is ever taken for an instruction. Pure. */

export interface Literal {
  readonly text: string
  /** As it stood, with its quotes. */
  readonly raw: string
  /** A fenced block; of shell commands, as its first line says. `data`: shown by the runtime; it can be written down, and nothing else. */
  readonly fence?: 'shell' | 'data' | 'other'
  /** Of data: what it is. */
  readonly label?: string
}

export interface Clause {
  /** The words, with a mark in the place of each literal. */
  readonly words: string
  /** What stood after a colon, to the end of the line, unquoted. */
  readonly rest?: string
  /** It holds a word that no rule knows how to honour, or stands under a line that does. */
  readonly beyond?: true
  /** A block that belongs to the clause before it, and shares its fate. */
  readonly belongs?: true
}

export interface Task {
  readonly clauses: readonly Clause[]
  /** What the runtime shows, in the order in which it stands there. */
  readonly data: readonly Literal[]
  /** The first instant that stands outside of that, as a day: what is shown decides nothing. */
  readonly day: string | undefined
  readonly chinese: boolean
  /** The literal behind a mark, if it is one. */
  literal(mark: string): Literal | undefined
  /** The words again, with the literals in their places. */
  plain(words: string): string
}

/** Characters for private use, taken out of the task before: nobody can write a mark. */
export const MARK = '\uE000\\d+\uE001'
const MARKS = /[\uE000\uE001]/g

const DATA = /<data (\S{1,64}) ([^\n>]{0,200})>\n([\s\S]*?)\n<\/data \1>/g
const INSTANT = /\b(\d{4}-\d\d-\d\d)T\d\d:\d\d/
const FENCE = /^[ \t]*```([^\n`]*)\n([\s\S]*?)^[ \t]*```[ \t]*$/gm
const QUOTED =
  /`([^`\n]+)`|"([^"\n]*)"|“([^“”\n]*)”|「([^「」\n]*)」|『([^『』\n]*)』|‘([^‘’\n]*)’|(?<!\w)'([^'\n]*)'(?!\w)/g
const ONLY_MARK = new RegExp(`^\\s*${MARK}\\s*$`)
/** One with something unquoted after it. */
const COLON = new RegExp(`[:：](?!\\s*(?:${MARK}|$))`)
const SHELLS = /^(bash|sh|shell|zsh|console)\b/i

/** What the runtime itself says in a user message is no instruction. */
const FROM_RUNTIME = /^\[event\b/
/** Feedback is the last thing in a message; what every unattended run has to do is a list under a heading of its own. */
const REQUIREMENTS = /^\[feedback\] [\s\S]*|^(?:Execution requirements:|执行要求：)\n(?:- [^\n]*(?:\n|$))+/gm
const LIST_MARK =
  /^\s*(?:[-*•]\s+|(?:step\s*)?\d+\s*[.):、]\s*|[（(]\d+[)）]\s*|第[一二三四五六七八九十\d]+步\s*[：:，,]?\s*|[一二三四五六七八九十]+、\s*)/i
const HEADING = /[:：]\s*$/
const SENTENCE_END = /[;；。！!？]+|[.?]+(?=\s|$)/

const VERB =
  '(?:create|make|write|save|put|append|add|read|view|show|open|print|display|list|run|execute|wait|创建|新建|追加|读取|查看|显示|列出|运行|执行|等待|把|将|向|在[^，,]{1,200}?(?:追加|写入))'
const CLAUSE_END = new RegExp(
  [
    '(?:[,，]\\s*)?(?:\\b(?:and\\s+)?(?:then|finally|after that)\\b|并且|然后|接着|之后|最后)(?:\\s*[,，])?',
    `[,，、]\\s*(?=(?:and\\s+|再|并)?${VERB})`,
    `\\sand\\s+(?=${VERB}\\b)`,
  ].join('|'),
  'i',
)

/** Not, if, each: a rule that overlooks such a word does the opposite, or too much. Whole sentences with one are left alone. */
const BEYOND_RULES =
  /\b(?:not|never|no|avoid|without|\w+n['’]t|cannot|if|unless|when(?:ever)?|otherwise|in case|or|every|each|repeat|times|twice)\b|不|别|勿|禁止|如果|若|假如|要是|除非|否则|或者|的话|每(?![日周月](?:工作)?(?:简报|报告|总结|汇报))|重复|次/i

export const isChinese = (words: string): boolean => /\p{Script=Han}/u.test(words)

/** What was said, without what was shown. */
export const withoutData = (text: string): string => text.replace(DATA, '')

type TakesRest = (words: string) => boolean

/** `takesRest`: whether these words want a text after a colon; then it runs, unread, to the end of the line. */
export function taskOf(text: string, takesRest: TakesRest): Task {
  const literals: Literal[] = []
  const aside = (literal: Literal) => `\uE000${literals.push(literal) - 1}\uE001`
  const own = text
    .replace(MARKS, '')
    .replaceAll('\r\n', '\n')
    .replace(DATA, (raw, _, label: string, text: string) => aside({ text, raw, fence: 'data', label }))
  const data = [...literals]
  const marked = own
    .replace(REQUIREMENTS, '')
    .replace(FENCE, (raw, info: string, text: string) =>
      aside({ text, raw, fence: SHELLS.test(info.trim()) ? 'shell' : 'other' }),
    )
    .replace(QUOTED, (raw, ...groups) => aside({ text: groups.find((group) => typeof group === 'string') ?? '', raw }))
  const literal = (mark: string) => literals[Number(/^\uE000(\d+)\uE001$/.exec(mark.trim())?.[1] ?? -1)]
  return {
    clauses: clausesOf(linesOf(marked, takesRest), takesRest),
    data,
    day: INSTANT.exec(own)?.[1],
    chinese: isChinese(own),
    literal,
    plain: (words) => words.replace(new RegExp(MARK, 'g'), (mark) => literal(mark)?.raw ?? ''),
  }
}

/** A block belongs to the line before it, unless that one has its text already. */
function linesOf(marked: string, takesRest: TakesRest): string[] {
  const lines: string[] = []
  let before = -1
  for (const line of marked.split('\n')) {
    const owner = lines[before]
    if (owner !== undefined && ONLY_MARK.test(line) && !withRest(owner, takesRest)) lines[before] = `${owner} ${line}`
    else if (lines.push(line) && line.trim() !== '') before = lines.length - 1
  }
  return lines
}

/** `Never do this:` speaks for the lines below it, up to a paragraph that is no list. */
function clausesOf(lines: readonly string[], takesRest: TakesRest): Clause[] {
  const clauses: Clause[] = []
  let shadow = false
  let gap = false
  for (const line of lines) {
    if (line.trim() === '') gap = true
    else {
      if (gap && !LIST_MARK.test(line)) shadow = false
      gap = false
      if (shadow) clauses.push({ words: line.trim(), beyond: true })
      else if (!FROM_RUNTIME.test(line)) clauses.push(...(withRest(line, takesRest) ?? split(bareLine(line))))
      shadow ||= HEADING.test(line) && BEYOND_RULES.test(line)
    }
  }
  return clauses
}

const bareLine = (line: string) => line.replace(LIST_MARK, '').trim()

/** The clauses of a line that ends in a text of its own after a colon. */
function withRest(line: string, takesRest: TakesRest): Clause[] | undefined {
  const words = bareLine(line)
  const colon = COLON.exec(words)
  const head = colon ? split(words.slice(0, colon.index)) : []
  const last = head.at(-1)
  if (!colon || !last || last.beyond || !takesRest(last.words)) return undefined
  return [...head.slice(0, -1), { ...last, rest: words.slice(colon.index + 1).trim() }]
}

function split(words: string): Clause[] {
  return words
    .split(SENTENCE_END)
    .flatMap((sentence): Clause[] =>
      BEYOND_RULES.test(sentence)
        ? [{ words: sentence.trim(), beyond: true }]
        : sentence.split(CLAUSE_END).map((clause) => ({ words: clause.trim() })),
    )
    .filter((clause) => clause.words !== '')
    .map((clause, index) => (index > 0 && ONLY_MARK.test(clause.words) ? { ...clause, belongs: true } : clause))
}
