/**
 * Requirements: which tests cite which row of docs/requirements.md, whether each citation has a row, and the parts of
 * the page that follow from the citations.
 */

import { literalText, type ParsedFile, type SyntaxNode, visitNodes } from './parse.ts'

export interface Citation {
  readonly id: string
  readonly path: string
  readonly title: string
}

interface Row {
  readonly id: string
  readonly state: string
}

/** Everything after this line is written by `withTests`. */
const MARK = '<!-- written by npm run requirements -->'
const ROW = /^\| ([A-Z]\d+|case \d+) \| (.+) \| ([^|]+) \|[^|]*\|$/gm
const STATE = /^(built|part: .+|open|open: .+|dropped)$/
const ID = '(?:[A-Z]\\d{1,2}|case \\d{1,3})'
/** The ids at the start of a title, `E8, case 137: …`, or at its end, `… (E8, case 137)`. */
const CITED = new RegExp(`^(${ID}(?:, ${ID})*): |\\((${ID}(?:, ${ID})*)\\)$`)
const TITLED = new Set(['test', 'it', 'describe'])

export const requirementRows = (markdown: string): readonly Row[] =>
  [...markdown.matchAll(ROW)].map(([, id = '', , state = '']) => ({ id, state }))

/** The citations in the titles of tests and conformance suites, and in the invariants of the simulator. */
export function findCitations(files: readonly ParsedFile[]): readonly Citation[] {
  const found = new Map<string, Citation>()
  const add = (path: string, title: string, ids: string): void => {
    for (const id of ids.split(', ')) found.set(`${id} ${path} ${title}`, { id, path, title })
  }
  for (const { path, root } of files.filter(({ path }) => hasTitles(path)))
    visitNodes(root, (node, around) => {
      const text = literalText(node)
      const [matched = '', first, last] = CITED.exec(text ?? '') ?? []
      const ids = first ?? last
      if (text !== undefined && ids !== undefined) add(path, text.replace(matched, '').trim(), ids)
      else if (text !== undefined && isInvariantOfWorlds(path, node, around.at(-1)))
        add(path, 'checked in every simulated world', text)
    })
  return [...found.values()]
}

const hasTitles = (path: string): boolean => /\.test\.ts$|^test\/sim\/|^src\/testing\/.*conformance/.test(path)

/** `world.fail('I4', …)`. */
function isInvariantOfWorlds(path: string, node: SyntaxNode, call: SyntaxNode | undefined): boolean {
  if (!path.startsWith('test/sim/') || !Array.isArray(call?.arguments) || call.arguments[0] !== node) return false
  return new RegExp(`^${ID}$`).test(literalText(node) ?? '')
}

/** Citations without a row: in titles, in comments, and in `pages`, by path. */
export function unknownCitations(
  rows: readonly Row[],
  files: readonly ParsedFile[],
  pages: ReadonlyMap<string, string>,
): readonly string[] {
  const known = new Set(rows.map(({ id }) => id))
  const unknown = (path: string, text: string, letters: string): readonly string[] => {
    const ids = text.matchAll(new RegExp(`\\b(?:[${letters}]\\d{1,2}|case \\d{1,3})\\b|\\bcases \\d+`, 'g'))
    return [...ids].filter(([id]) => !known.has(id)).map(([id]) => `${path} cites ${id}, which is no requirement`)
  }
  return [
    ...files.flatMap(({ path, root }) => titlesIn(path, root).flatMap((title) => unknown(path, title, 'A-Z'))),
    ...files.flatMap(({ path, comments }) => comments.flatMap((comment) => unknown(path, comment, 'EKQOI'))),
    ...[...pages].flatMap(([path, text]) => unknown(path, text, 'EKQOI')),
  ]
}

/** Of a title that cites something, the ids; of another one, all of it. */
function titlesIn(path: string, root: SyntaxNode): readonly string[] {
  const titles: string[] = []
  if (!hasTitles(path)) return titles
  visitNodes(root, (node, around) => {
    const text = literalText(node)
    const cited = CITED.exec(text ?? '')?.[0]
    const call = around.at(-1)
    const callee = call?.callee as SyntaxNode | undefined
    if (cited !== undefined) titles.push(cited)
    else if (text !== undefined && TITLED.has(String(callee?.name)) && /\bcases? \d/.test(text)) titles.push(text)
  })
  return titles
}

/** Rows whose state contradicts the citations, rows that stand twice, and unknown states. */
export function stateViolations(rows: readonly Row[], citations: readonly Citation[]): readonly string[] {
  const cited = new Set(citations.map(({ id }) => id))
  const ids = rows.map(({ id }) => id)
  return [
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id} has two rows`),
    ...rows.flatMap(({ id, state }) => {
      const isOpen = /^(open|dropped)/.test(state)
      if (!STATE.test(state)) return [`${id} reads "${state}"; write built, part: what is missing, or open`]
      if (isOpen && cited.has(id)) return [`${id} reads "${state}", but tests cite it`]
      return isOpen || cited.has(id) ? [] : [`${id} reads "${state}", but no test cites it; write open`]
    }),
  ]
}

/** The page with its column of tests and its last section written anew. */
export function withTests(markdown: string, citations: readonly Citation[]): string {
  const byId = Map.groupBy(citations, ({ id }) => id)
  const table = markdown
    .slice(0, markdown.indexOf(MARK))
    .replace(ROW, (_row, id: string, requirement: string, state: string) => {
      const tests = byId.get(id)?.length
      const link = tests === undefined ? '' : `[${tests}](#${id.replace(' ', '-').toLowerCase()}) `
      return `| ${id} | ${requirement} | ${state} | ${link}|`
    })
  const sections = requirementRows(markdown).flatMap(({ id }) => {
    const tests = byId.get(id)
    return tests === undefined ? [] : [`### ${id}\n\n${listOf(tests)}`]
  })
  return `${table}${MARK}\n\n${sections.join('\n\n')}\n`
}

function listOf(citations: readonly Citation[]): string {
  const byPath = [...Map.groupBy(citations, ({ path }) => path)].sort(([a], [b]) => (a < b ? -1 : 1))
  return byPath
    .map(([path, tests]) => {
      const titles = tests.map(({ title }) => `  - ${title.replace(/[*_<>[\]]/g, '\\$&')}`).sort()
      return [`- [${path}](../${path})`, ...titles].join('\n')
    })
    .join('\n')
}
