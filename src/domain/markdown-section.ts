/**
 * A section of a Markdown text: a heading, and the text below it up to the next heading of the same or a higher level.
 */

import { linesWithBreaks } from './diff.ts'

export type SectionEdit =
  | { readonly kind: 'written'; readonly text: string; readonly isNew: boolean }
  | { readonly kind: 'refused'; readonly why: string }

interface Heading {
  readonly line: number
  readonly rank: number
  readonly title: string
}

/**
 * Contract: replaces the text below the heading; a missing section is added at the end. A section also ends at a line
 * with NUL, which stands for the runtime block.
 */
export function replaceSection(text: string, section: string, body: string): SectionEdit {
  const lines = linesWithBreaks(text)
  const headings = findHeadings(lines)
  const title = section.replace(/^#+/, '').trim()
  const [found, ...more] = headings.filter((heading) => heading.title === title)
  if (more.length > 0)
    return { kind: 'refused', why: `${more.length + 1} sections have the title ${JSON.stringify(title)}` }
  if (!found) return { kind: 'written', text: `${endLine(text)}## ${title}\n${endLine(body)}`, isNew: true }
  const next = headings.find(({ line, rank }) => line > found.line && rank <= found.rank)?.line ?? lines.length
  const blocked = lines.findIndex((line, i) => i > found.line && line.includes('\0'))
  const end = blocked < 0 ? next : Math.min(next, blocked)
  let bodyEnd = end
  while (bodyEnd > found.line + 1 && lines[bodyEnd - 1]?.trim() === '') bodyEnd -= 1
  const before = endLine(lines.slice(0, found.line + 1).join(''))
  return { kind: 'written', text: `${before}${endLine(body)}${lines.slice(bodyEnd).join('')}`, isNew: false }
}

/**
 * Contract: returns the text below each heading, by title, up to the next heading of any level; the text before the
 * first heading has the title ''. The texts of equal titles are joined.
 */
export function parseSections(text: string): ReadonlyMap<string, string> {
  const lines = linesWithBreaks(text)
  const found = new Map<string, string>()
  const starts = [{ line: -1, title: '' }, ...findHeadings(lines)]
  for (const [i, { line, title }] of starts.entries()) {
    const body = lines.slice(line + 1, starts[i + 1]?.line ?? lines.length).join('')
    found.set(title, `${found.get(title) ?? ''}${body}`)
  }
  return found
}

/** Titles of the sections of `after` that are new or have another text. */
export function changedSections(before: string, after: string): readonly string[] {
  const was = parseSections(before)
  return [...parseSections(after)].filter(([title, body]) => was.get(title) !== body).map(([title]) => title)
}

const endLine = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

const HEADING = /^(#{1,6})[ \t]+(.*?)[ \t]*#*\s*$/

/** Skips headings inside code fences. */
function findHeadings(lines: readonly string[]): readonly Heading[] {
  let fence: string | undefined
  return lines.flatMap((text, line) => {
    const [, mark] = /^ {0,3}(```|~~~)/.exec(text) ?? []
    if (mark !== undefined && (fence === undefined || fence === mark)) fence = fence === undefined ? mark : undefined
    const [, ranks, title = ''] = (fence === undefined && HEADING.exec(text)) || []
    return ranks === undefined ? [] : [{ line, rank: ranks.length, title }]
  })
}
