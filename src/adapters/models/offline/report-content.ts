/** Builds the text of a report or an index from data blocks and tool results, without understanding them. Pure. */

import { truncateText } from '../../../domain/truncate.ts'
import type { ToolResult } from './next-call.ts'
import type { ReportStep } from './offline-step.ts'

const ENGLISH = {
  title: 'Report',
  files: 'Files in the workspace',
  none: '(none)',
  cut: '… (truncated)',
  index: 'Index',
  columns: ['file', 'size', 'begins with'],
  unreadable: '(not text)',
}

const CHINESE: typeof ENGLISH = {
  title: '简报',
  files: '工作区中的文件',
  none: '（无）',
  cut: '……（在此截断）',
  index: '索引',
  columns: ['文件', '大小', '开头'],
  unreadable: '（不是文本）',
}

const MAX_SECTION = 4000

export function buildReport({ chinese, day, data }: ReportStep, listed: ToolResult | undefined): string {
  const texts = chinese ? CHINESE : ENGLISH
  const files = listed?.ok && parseFileNames(listed.text).length > 0 ? listed.text : texts.none
  return [
    `# ${[texts.title, day].filter((part) => part !== undefined).join(' ')}`,
    ...data.flatMap(({ label, text }) => [`## ${label}`, formatQuote(text, texts)]),
    ...(listed ? [`## ${texts.files}`, formatQuote(files, texts)] : []),
    '',
  ].join('\n\n')
}

export function buildIndex(
  { chinese, path }: ReportStep,
  listing: string,
  firstLines: ReadonlyMap<string, ToolResult | undefined>,
): string {
  const texts = chinese ? CHINESE : ENGLISH
  const rows = parseFileNames(listing)
    .filter((name) => name !== path)
    .map(
      (name) => `| ${[name, findSize(listing, name), firstLine(firstLines.get(name), texts)].map(cell).join(' | ')} |`,
    )
  const table = [`| ${texts.columns.join(' | ')} |`, '|---|---|---|', ...rows].join('\n')
  return `# ${texts.index}\n\n${rows.length > 0 ? table : texts.none}\n`
}

const FILE_LINE = /^(.+) {2}(\d+ bytes)$/

/** File names in the output of `list_files`; a line without a size is a folder and is left out. */
export function parseFileNames(listing: string): string[] {
  return listing.split('\n').flatMap((line) => FILE_LINE.exec(line)?.[1] ?? [])
}

function findSize(listing: string, name: string): string {
  return FILE_LINE.exec(listing.split('\n').find((line) => line.startsWith(`${name}  `)) ?? '')?.[2] ?? ''
}

/** The first line with letters or digits, without heading and list marks. */
function firstLine(viewed: ToolResult | undefined, { unreadable }: typeof ENGLISH): string {
  if (!viewed) return ''
  if (!viewed.ok) return unreadable
  const line = viewed.text.split('\n').find((each) => /[\p{L}\p{N}]/u.test(each)) ?? ''
  return line.replace(/^[#>*\s-]+/, '').slice(0, 100)
}

const cell = (text: string): string => text.replaceAll('|', '\\|').trim()

/** Formats the text as a Markdown quotation. */
function formatQuote(text: string, { cut }: typeof ENGLISH): string {
  return truncateText(text, MAX_SECTION, { mark: `\n${cut}` })
    .trim()
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')
}
