/**
 * The files that a task explicitly tells to write: "save it to report.md", 写到 report.md. Pure.
 * Must err on one side only: a file that is not recognised is not checked, but a file that is only to be read, or to be
 * written under a condition, or by someone else, must never be named.
 */

import { withoutFences } from './title.ts'

const anyOf = (...words: readonly string[]): string => `(?:${words.join('|').replaceAll(' ', '|')})`

const EXTENSION = anyOf(
  'md txt rst tex log pdf docx xlsx pptx csv tsv json jsonl ya?ml toml ini xml',
  'html? css svg png jpe?g sql sh py ipynb [jt]sx?',
)
const QUOTE = `["'“”‘’「」\`]?`
/** A relative path with a known extension. What follows must neither continue the name nor offer another one. */
const PATH = String.raw`${QUOTE}((?![~/])[\w./-]*[\w-]\.${EXTENSION})${QUOTE}(?![\w/-]|[’']s|\s*(?:or\b|或))`

const START = String.raw`(?:^(?:[-*•]\s+)?|[.;,!]\s*|\b${anyOf('and then also please now finally afterwards')}\s+)`
const THING = String.raw`(?:${anyOf('a an the new text markdown short one file named called')}\s+)*`
/** What a run has found or made: after it, "to FILE" can only be where it goes. */
const RESULT = anyOf(
  'it this them these everything all',
  String.raw`(?:${anyOf('a an the your all short brief final full one-line one-page')}\s+)+` +
    anyOf('results? findings summary report output list table overview notes totals? digest log answer') +
    String.raw`(?:\s+(?:of|about|on|for)\s+(?:(?!to\b)[\w'’-]+\s+){0,7}[\w'’-]+)?`,
)
const OTHER_CLAUSE = anyOf(
  'to into in that which who for from so with same such like than compared',
  'script program function class code tests? query command tool',
)
/** No other verb, no relative clause, no comparison, no other destination. */
const OBJECT = String.raw`(?:(?!${OTHER_CLAUSE}\b|\w+ing\b)[\w'’.,%-]+\s+){1,10}`
/** "changes to FILE", "a reply to FILE", "referred to FILE" say what the text is about. */
const ABOUT = anyOf(
  'changes? edits? updates? links? references? pointers? answers? repl(?:y|ies) responses? introduction additions?',
  String.raw`access up next close similar relative due \w+ed`,
)
const AFTER = String.raw`(?=\s*(?:$|[.,;!。，；！])|\s+${anyOf(
  'with containing that from and then in for about of listing based using by on',
)}\b)`

const ENGLISH: readonly RegExp[] = [
  // write a summary of the log to out.txt; put it in out.txt
  String.raw`(?:write|save|store|put|export|append|record)\s+${RESULT}\s+(?:to|into|in|as)\s+${THING}${PATH}`,
  // save what you find to report.md
  String.raw`(?:save|store|export|append)\s+${OBJECT}(?<!\b${ABOUT}\s+)(?:to|into|as)\s+${THING}${PATH}`,
  // write the plan into plan.md
  String.raw`(?:write|put|record)\s+${OBJECT}into\s+${THING}${PATH}`,
  // create report.md with two lines
  String.raw`(?:create|write|produce|generate)\s+${THING}${PATH}${AFTER}`,
].map((source) => new RegExp(START + source, 'giu'))

const ZH_START = String.raw`(?:^(?:[-*•]\s*|\d+[.、)]\s*)?|[，、；,;]\s*|并且?|然后|接着|最后|再|请|后)(?:请|再|都)*`
const ZH_OBJECT = `(?:(?:[每今明][^，。；把将]{0,12})?(?:把|将)[^，。；！？,;!?]{1,40}?)?`
const ZH_PATH = String.raw`\s*${PATH}(?!\s*(?:文件)?(?:的|里的|中的|之|后|前|时))`
const CHINESE: readonly RegExp[] = [
  // 写到 report.md，把结果保存为 report.md
  `${ZH_OBJECT}(?:写|保存|储存|存|导出|输出|记录)(?:入|到|进|成|为)(?:文件)?${ZH_PATH}`,
  // 创建 report.md
  String.raw`(?:创建|新建|生成)(?:文件|一个|一份|名为|叫|\s)*${ZH_PATH}`,
].map((source) => new RegExp(ZH_START + source, 'giu'))

const wholeWords = (...words: readonly string[]): RegExp => new RegExp(String.raw`\b${anyOf(...words)}\b`, 'i')

/** Anywhere in a task: parts of it may be void, and which ones only a reader can tell. */
const CONDITION = [
  wholeWords('if unless when whenever otherwise optional optionally maybe perhaps may might could until try whether'),
  /\b(?:in case|as needed|where needed|where necessary)\b/i,
  /如果|若|假如|要是|每当|一旦|否则|除非|可选|也许|视情况|必要|的话|时[，,候]|有.{0,8}[才就]|尝试|试着|试试|是否|能否/,
]
/** In a sentence: it is no plain order to write. */
const NO_ORDER = [
  wholeWords("not never no don't don’t doesn't doesn’t without nothing avoid stop already existing"),
  wholeWords('can should would will said says? told was were has had'),
  /\b(?:how to|instead of)\b|\?/i,
  /不|别|勿|禁止|无需|没|未|可以|如何|怎么|为什么|怎样|谁|哪|吗|呢|？|已|会|能|应该|它|曾|昨天/,
  /程序|脚本|函数|代码|工具|系统|服务/,
]
/** In English, what stands before a weak start ("and write to b.txt") may be a clause about something else. */
const RELATIVE = wholeWords('that which who whose where why how what it they he she program script tool')
const PLACEHOLDER = /(?:^|[-_./])(?:Y{2,4}|MM|DD|HH|N+|X+|date|time|name|id|today|yesterday|tomorrow)(?=[-_.])/i
/** Names of libraries and hosts that look like files. */
const LIBRARY = /^(?:[A-Z][a-z]+|node|vue|next|nuxt|react|express|three|d3|chart|p5|discord|socket)\.js$/
const HOST = /^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|cn|de|uk|example|localhost)\//i
const CODE_BLOCK = /^```[\s\S]*?^```/gm
/** Quoted text of several words is content, not an order. */
const QUOTED_TEXT = new RegExp(
  [
    String.raw`"[^"\n]*\s[^"\n]*"`,
    String.raw`“[^”\n]*[\s\p{Script=Han}][^”\n]*”`,
    String.raw`「[^」\n]*[\s\p{Script=Han}][^」\n]*」`,
    String.raw`‘[^’\n]*\s[^’\n]*’(?!\w)`,
    String.raw`(?<!\w)'[^'\n]*\s[^'\n]*'(?!\w)`,
    String.raw`\x60[^\x60\n]*\s[^\x60\n]*\x60`,
  ].join('|'),
  'gu',
)

/** Contract: pure; relative paths without duplicates, sorted. */
export function namedOutputs(task: string): readonly string[] {
  const own = withoutFences(task).replaceAll(CODE_BLOCK, '…').replaceAll(QUOTED_TEXT, '…')
  if (isConditional(own) || hasVoidedList(own)) return []
  const sentences = own
    .split(/(?<=[.!?。！？])\s+|(?<=[。！？])|\n/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => !sentence.startsWith('>') && !NO_ORDER.some((words) => words.test(sentence)))
  const names = sentences.flatMap((sentence) => [...englishNames(sentence), ...matches(CHINESE, sentence)])
  return [...new Set(names)].filter(isOutputName).sort()
}

const matches = (patterns: readonly RegExp[], sentence: string): readonly string[] =>
  patterns.flatMap((pattern) => [...sentence.matchAll(pattern)].map(([, name = '']) => name))

function englishNames(sentence: string): readonly string[] {
  return ENGLISH.flatMap((pattern) =>
    [...sentence.matchAll(pattern)]
      .filter(({ index, 0: found }) => !/^(?:and|also|,)/i.test(found) || !RELATIVE.test(sentence.slice(0, index)))
      .map(([, name = '']) => name),
  )
}

const isOutputName = (name: string): boolean =>
  !PLACEHOLDER.test(name) && !LIBRARY.test(name) && !HOST.test(name) && !name.includes('..')

/** Whether the task leaves it open what has to be done, or only asks to try something. */
export const isConditional = (task: string): boolean => CONDITION.some((words) => words.test(withoutFences(task)))

/** "Never do this:" and the like: the orders below it are none. */
const hasVoidedList = (task: string): boolean =>
  task.split('\n').some((line) => /[:：]\s*$/.test(line) && NO_ORDER.some((words) => words.test(line)))

/** Tools that write no file, or only the one that they name. Any other tool may have written any file. */
const WRITES_ONLY_WHAT_IT_NAMES: ReadonlySet<string> = new Set([
  ...['create_file', 'edit_file', 'view_file', 'list_files', 'search_files', 'fetch', 'read_state', 'edit_state'],
  ...['remember', 'recall', 'forget', 'read_skill', 'send_message', 'ask_user', 'wait', 'finish', 'tool_search'],
])

/** Whether a successful call may have written the file, or has shown that it exists. */
export function mayHaveWritten(call: { readonly tool: string; readonly args: unknown }, file: string): boolean {
  const name = file.slice(file.lastIndexOf('/') + 1)
  return !WRITES_ONLY_WHAT_IT_NAMES.has(call.tool) || JSON.stringify(call.args).includes(name)
}
