/** What a report and an index are made of: the data that was shown, and what the tools showed, put in order and understood by nobody. Pure. */

import type { Result } from './moves.ts'
import type { Gathering } from './rules.ts'

const ENGLISH = {
  title: 'Report',
  by: 'Put together by the built-in offline model from what it was shown. It understands none of it: set an API key or a local model for a real report.',
  files: 'Files in the workspace',
  none: '(none)',
  cut: '… (cut here)',
  index: 'Index',
  columns: ['file', 'size', 'begins with'],
  unreadable: '(no text)',
}

const CHINESE: typeof ENGLISH = {
  title: '简报',
  by: '由内置的离线模型根据所给数据拼成；它并不理解内容。要得到真正的简报，请设置 API 密钥或本地模型。',
  files: '工作区中的文件',
  none: '（无）',
  cut: '……（在此截断）',
  index: '索引',
  columns: ['文件', '大小', '开头'],
  unreadable: '（不是文本）',
}

const MOST_OF_A_SECTION = 4000

export function reportText({ chinese, day, data }: Gathering, listed: Result | undefined): string {
  const words = chinese ? CHINESE : ENGLISH
  const files = listed?.ok && namesIn(listed.text).length > 0 ? listed.text : words.none
  return [
    `# ${[words.title, day].filter((part) => part !== undefined).join(' ')}`,
    words.by,
    ...data.flatMap(({ label, text }) => [`## ${label}`, quoted(text, words)]),
    ...(listed ? [`## ${words.files}`, quoted(files, words)] : []),
    '',
  ].join('\n\n')
}

export function indexText(
  { chinese, path }: Gathering,
  listing: string,
  begins: ReadonlyMap<string, Result | undefined>,
): string {
  const words = chinese ? CHINESE : ENGLISH
  const rows = namesIn(listing)
    .filter((name) => name !== path)
    .map((name) => `| ${[name, sizeIn(listing, name), beginning(begins.get(name), words)].map(cell).join(' | ')} |`)
  const table = [`| ${words.columns.join(' | ')} |`, '|---|---|---|', ...rows].join('\n')
  return `# ${words.index}\n\n${rows.length > 0 ? table : words.none}\n`
}

const FILE_LINE = /^(.+) {2}(\d+ bytes)$/

/** As `list_files` shows them; folders end in a slash and have no size. */
export function namesIn(listing: string): string[] {
  return listing.split('\n').flatMap((line) => FILE_LINE.exec(line)?.[1] ?? [])
}

function sizeIn(listing: string, name: string): string {
  return FILE_LINE.exec(listing.split('\n').find((line) => line.startsWith(`${name}  `)) ?? '')?.[2] ?? ''
}

/** Its first line that says something, without what makes it a heading. */
function beginning(seen: Result | undefined, { unreadable }: typeof ENGLISH): string {
  if (!seen) return ''
  if (!seen.ok) return unreadable
  const line = seen.text.split('\n').find((each) => /[\p{L}\p{N}]/u.test(each)) ?? ''
  return line.replace(/^[#>*\s-]+/, '').slice(0, 100)
}

const cell = (text: string): string => text.replaceAll('|', '\\|').trim()

/** As a quotation: what was shown stays apart from what is said. */
function quoted(text: string, { cut }: typeof ENGLISH): string {
  const some = text.length > MOST_OF_A_SECTION ? `${text.slice(0, MOST_OF_A_SECTION)}\n${cut}` : text
  return some
    .trim()
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')
}
