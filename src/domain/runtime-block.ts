/**
 * The runtime block: the part of STATE.md that the system writes, between two marks. The rest of the text belongs to
 * the owner and may contain anything, marks included.
 *
 * "Our block" below is the real one. In a stored version it is the last pair of marks, each alone on its line, whose
 * first line is our heading. All other marks, and earlier blocks that look the same, are ordinary text. In an edited
 * text, our block is the one at its old position, or else an exact copy of it (`extractEditedBlock`). A pasted block is
 * ordinary text; if it was pasted below our block, our block moves to the end (`placeBlockLast`). A block that lost one
 * of its marks is ordinary text, and a new block is added: guessing where it ended could delete the owner's text.
 */

import { diffLines, type LineChange, linesWithBreaks } from './diff.ts'
import { markdownTable, toOneLine, truncateWithEllipsis } from './markdown-table.ts'

const START = '<!-- KERNEL_RUNTIME:START -->'
const END = '<!-- KERNEL_RUNTIME:END -->'
const HEADING = '## kernel_runtime'

/** One row of the cycle history. */
export interface CycleRow {
  readonly cycle_id: string
  readonly status: string
  readonly dispatched: number
  readonly succeeded: number
  readonly failed: number
  readonly summary: string
  readonly updated_at: string
}

export interface RuntimeValues {
  readonly updated_at: string
  readonly cycle_id: string
  readonly status: string
  readonly dispatched: number
  readonly succeeded: number
  readonly failed: number
  readonly failed_agents: readonly string[]
  readonly agent_summary: string
  readonly duration_ms: number
  readonly error: string | null
}

const NONE = '(none)'
/** The longest value, in code points. */
const MAX_VALUE = 2000

/** `history`: newest first; at most `maxRows` rows are shown. */
export function renderRuntimeBlock(runtime: RuntimeValues, history: readonly CycleRow[], maxRows: number): string {
  const { failed_agents, agent_summary, error } = runtime
  const values = { ...runtime, failed_agents: failed_agents.join(', '), agent_summary, error: error ?? '' }
  return [
    START,
    HEADING,
    ...VALUES.map((key) => `- ${key}: ${truncateWithEllipsis(toOneLine(String(values[key])), MAX_VALUE) || NONE}`),
    '',
    '### cycle_history',
    markdownTable(
      COLUMNS,
      history.slice(0, maxRows).map((row) => COLUMNS.map((key) => String(row[key]))),
    ),
    END,
  ].join('\n')
}

const VALUES = [
  ...(['updated_at', 'cycle_id', 'status', 'dispatched', 'succeeded', 'failed', 'failed_agents'] as const),
  ...(['agent_summary', 'duration_ms', 'error'] as const),
]
const COLUMNS = ['cycle_id', 'status', 'dispatched', 'succeeded', 'failed', 'summary', 'updated_at'] as const

interface Parts {
  readonly head: string
  /** Including both marks. */
  readonly block: string
  readonly tail: string
}

const OPENING = new RegExp(`(?<=^|\\n)${START}[ \\t]*\\r?\\n${HEADING}[ \\t]*(?=\\r?\\n)`, 'g')
const CLOSING = new RegExp(`(?<=\\n)${END}(?=[ \\t]*(?:\\r?\\n|$))`, 'g')

/** All candidates for our block: an opening mark and the next closing mark, without another opening between them. */
function findBlocks(text: string): readonly Parts[] {
  const openings = [...text.matchAll(OPENING)].map(({ index }) => index)
  const closings = [...text.matchAll(CLOSING)].map(({ index }) => index)
  return openings.flatMap((from, i) => {
    const closing = closings.find((index) => index > from)
    if (closing === undefined || closing > (openings[i + 1] ?? Number.POSITIVE_INFINITY)) return []
    const to = closing + END.length
    return [{ head: text.slice(0, from), block: text.slice(from, to), tail: text.slice(to) }]
  })
}

const splitAtBlock = (text: string): Parts | undefined => findBlocks(text).at(-1)

/**
 * Contract: returns the text with `block` in it once, at the position of the old block or at the end; every other byte
 * is unchanged.
 */
export function replaceBlock(text: string, block: string): string {
  const ours = splitAtBlock(text)
  return ours ? `${ours.head}${withLineBreaksOf(ours.block, block)}${ours.tail}` : appendBlock(text, block)
}

function appendBlock(text: string, block: string): string {
  const eol = lineBreakOf(text)
  return `${text}${text === '' ? '' : eol}${withLineBreaksOf(text, block)}${eol}`
}

const lineBreakOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')
const withLineBreaksOf = (text: string, block: string): string => block.replaceAll(/\r?\n/g, lineBreakOf(text))

/** Contract: returns the text without our block; if the block was appended, exactly the text as it was before. */
export function textOutsideBlock(text: string): string {
  const ours = splitAtBlock(text)
  return ours ? removeBlock(ours, lineBreakOf(ours.block)) : text
}

/** Removes the block's own line; at the end of the text, also the line break before it. */
function removeBlock({ head, tail }: Pick<Parts, 'head' | 'tail'>, eol: string): string {
  if (!/^[ \t]*(\r?\n)?$/.test(tail)) return head + tail.replace(/^[ \t]*\r?\n/, '')
  return head.endsWith(eol) ? head.slice(0, -eol.length) : head
}

/** Stands for the block in a text. Documents contain no NUL, so it cannot be confused with their text. */
const BLOCK_POSITION = '\0'

interface ExtractedBlock {
  /** The text with a NUL line in place of our block. */
  readonly text: string
  readonly block: string | null
}

const extractFrom = (text: string, ours: Parts | undefined): ExtractedBlock =>
  ours ? { text: `${ours.head}${BLOCK_POSITION}${ours.tail}`, block: ours.block } : { text, block: null }

/**
 * Contract: takes the block out; `insertBlock` puts it back. In between, the text can be changed without touching the
 * block.
 */
export const extractBlock = (text: string): ExtractedBlock => extractFrom(text, splitAtBlock(text))

/** Of the blocks that look like ours, only this many are considered; more cannot come from pasting by hand. */
const MAX_LOOKALIKES = 10

/**
 * Extracts our block from an edited text. Contract: our block is the one at the position that it has in `before`, the
 * unedited text; else an exact copy of `block` that is not in `before` (it was moved); else there is none (null), and
 * every block that looks like it is ordinary text.
 */
export function extractEditedBlock(
  text: string,
  before: ExtractedBlock,
  block: string | null = before.block,
): ExtractedBlock {
  const found = findBlocks(text).slice(-MAX_LOOKALIKES)
  const none: ExtractedBlock = { text, block: null }
  let [best, fewest] = [none, differingLines(before.text, text)]
  for (const candidate of before.block === null ? [] : found.map((one) => extractFrom(text, one))) {
    const lines = isAtOldPosition(candidate, before) ? differingLines(before.text, candidate.text) : fewest
    if (lines < fewest) [best, fewest] = [candidate, lines]
  }
  if (best.block !== null || block === null) return best
  const copies = found.filter((one) => isSameBlock(one.block, block))
  const earlierCopies = findBlocks(before.text).filter((one) => isSameBlock(one.block, block))
  return copies.length > earlierCopies.length ? extractFrom(text, copies.at(-1)) : none
}

const isSameBlock = (a: string, b: string): boolean => a.replaceAll('\r\n', '\n') === b.replaceAll('\r\n', '\n')

/** Compared without line breaks and trailing spaces, which editors may change. */
const trimmedLines = (text: string): readonly string[] => linesWithBreaks(text).map((line) => line.trimEnd())
const changesBetween = (before: string, after: string): readonly LineChange[] =>
  diffLines(trimmedLines(before), trimmedLines(after))

const differingLines = (before: string, after: string): number =>
  changesBetween(before, after).reduce((sum, { from, to, lines }) => sum + to - from + lines.length, 0)

function isAtOldPosition(lifted: ExtractedBlock, before: ExtractedBlock): boolean {
  const place = trimmedLines(before.text).indexOf(BLOCK_POSITION)
  return !changesBetween(before.text, lifted.text).some(({ from, to }) => from <= place && place < to)
}

/** Added to a text in which another block would be the last, so that the last block is ours. */
const EMPTY_BLOCK = [START, HEADING, `- status: ${NONE}`, END].join('\n')

/**
 * Contract: returns the text with our block as the last one; if another block follows our block, ours moves to the end.
 */
export function placeBlockLast({ text, block }: ExtractedBlock): string {
  const whole = insertBlock({ text, block })
  if (block === null) return splitAtBlock(whole) ? appendBlock(whole, EMPTY_BLOCK) : whole
  const at = text.indexOf(BLOCK_POSITION)
  if (at < 0 || extractBlock(whole).text === text) return whole
  const outside = removeBlock(
    { head: text.slice(0, at), tail: text.slice(at + BLOCK_POSITION.length) },
    lineBreakOf(text),
  )
  return appendBlock(outside, block)
}

/** Contract: puts the block back; if its position is lost, at the end. */
export function insertBlock({ text, block }: ExtractedBlock): string {
  if (block === null) return text.replaceAll(BLOCK_POSITION, '')
  const at = text.indexOf(BLOCK_POSITION)
  return at < 0
    ? appendBlock(text, block)
    : `${text.slice(0, at)}${block}${text.slice(at + 1).replaceAll(BLOCK_POSITION, '')}`
}

/**
 * Contract: `change` gets the text outside our block and cannot touch the block. If other lines follow the block, the
 * text has a NUL line in place of the block.
 */
export function changeOutsideBlock(text: string, change: (outside: string) => string): string {
  const { block, text: textWithMark } = extractBlock(text)
  if (block === null) return change(text)
  const outside = textOutsideBlock(text)
  const isAdded = appendBlock(outside, block) === text
  return insertBlock({ text: change(isAdded ? outside : textWithMark), block })
}

/** True if the text contains one of the marks, which only the system may write. */
export const hasBlockMark = (text: string): boolean => text.includes(START) || text.includes(END)
