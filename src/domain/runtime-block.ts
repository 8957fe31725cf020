/**
 * The runtime block: what the system writes into STATE.md, between two marks. The rest of the text is somebody else's, and may hold anything, marks included.
 *
 * In a version of ours, our block is the last pair of marks, each alone on its line, whose first line is our heading; marks that stand otherwise, and
 * earlier blocks that look like ours, are text like any other. In an edit, ours is the one that stands in its place, else an exact copy of it
 * (`liftedLike`): a block that somebody pasted is theirs, and where it was pasted behind ours, ours moves to the end (`withOursLast`). A block that
 * lost one of its marks is text too, and a new one is added: to guess where it ended would cost somebody's words.
 */

import { type Change, changesOf, linesOf } from './lines.ts'
import { markdownTable, oneLine, shortened } from './markdown-table.ts'

const START = '<!-- KERNEL_RUNTIME:START -->'
const END = '<!-- KERNEL_RUNTIME:END -->'
const HEADING = '## kernel_runtime'

/** A cycle in the history. */
export interface CycleRow {
  readonly cycle_id: string
  readonly status: string
  readonly dispatched: number
  readonly succeeded: number
  readonly failed: number
  readonly summary: string
  readonly updated_at: string
}

export interface Runtime {
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
/** Characters, as people count them. */
const MOST_VALUE = 2000

/** `history`: newest first; as many rows as `most` are shown. */
export function renderBlock(runtime: Runtime, history: readonly CycleRow[], most: number): string {
  const { failed_agents, agent_summary, error } = runtime
  const said = { ...runtime, failed_agents: failed_agents.join(', '), agent_summary, error: error ?? '' }
  return [
    START,
    HEADING,
    ...VALUES.map((key) => `- ${key}: ${shortened(oneLine(String(said[key])), MOST_VALUE) || NONE}`),
    '',
    '### cycle_history',
    markdownTable(
      COLUMNS,
      history.slice(0, most).map((row) => COLUMNS.map((key) => String(row[key]))),
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
  /** From mark to mark. */
  readonly block: string
  readonly tail: string
}

const OPENING = new RegExp(`(?<=^|\\n)${START}[ \\t]*\\r?\\n${HEADING}[ \\t]*(?=\\r?\\n)`, 'g')
const CLOSING = new RegExp(`(?<=\\n)${END}(?=[ \\t]*(?:\\r?\\n|$))`, 'g')

/** Everything that could be ours: an opening, and the first closing behind it, with no other opening between them. */
function blocksIn(text: string): readonly Parts[] {
  const openings = [...text.matchAll(OPENING)].map(({ index }) => index)
  const closings = [...text.matchAll(CLOSING)].map(({ index }) => index)
  return openings.flatMap((from, i) => {
    const closing = closings.find((index) => index > from)
    if (closing === undefined || closing > (openings[i + 1] ?? Number.POSITIVE_INFINITY)) return []
    const to = closing + END.length
    return [{ head: text.slice(0, from), block: text.slice(from, to), tail: text.slice(to) }]
  })
}

const partsOf = (text: string): Parts | undefined => blocksIn(text).at(-1)

/** Contract: `block` stands in the text once, where ours stood or at the end; everything else is as it was, byte for byte. */
export function withBlock(text: string, block: string): string {
  const ours = partsOf(text)
  return ours ? `${ours.head}${inLinesOf(ours.block, block)}${ours.tail}` : withBlockAdded(text, block)
}

function withBlockAdded(text: string, block: string): string {
  const eol = eolOf(text)
  return `${text}${text === '' ? '' : eol}${inLinesOf(text, block)}${eol}`
}

const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')
const inLinesOf = (text: string, block: string): string => block.replaceAll(/\r?\n/g, eolOf(text))

/** Contract: the text without our block; of one that it was added to, exactly the text that it was. */
export function outsideBlock(text: string): string {
  const ours = partsOf(text)
  return ours ? joined(ours, eolOf(ours.block)) : text
}

/** Between other lines our block leaves no line behind; at the end, where it was added, the line break before it goes as well. */
function joined({ head, tail }: Pick<Parts, 'head' | 'tail'>, eol: string): string {
  if (!/^[ \t]*(\r?\n)?$/.test(tail)) return head + tail.replace(/^[ \t]*\r?\n/, '')
  return head.endsWith(eol) ? head.slice(0, -eol.length) : head
}

/** No text holds it, because a document has no NUL. */
const PLACE = '\0'

export interface Lifted {
  /** The text with one line, that nobody could have written, in the place of our block. */
  readonly text: string
  readonly block: string | null
}

const liftedFrom = (text: string, ours: Parts | undefined): Lifted =>
  ours ? { text: `${ours.head}${PLACE}${ours.tail}`, block: ours.block } : { text, block: null }

/** Contract: `lowered` undoes it. What is done to a text in between happens outside our block. */
export const lifted = (text: string): Lifted => liftedFrom(text, partsOf(text))

/** More than this were not pasted by hand. */
const MOST_LOOKALIKES = 10

/**
 * Lifts our block off an edit. Contract: ours is the one that stands where it stands in `like`, the text that was edited; else an exact copy of
 * `block` that was not there before, because somebody has moved it; else there is none, and whatever looks like ours is text.
 */
export function liftedLike(text: string, like: Lifted, block: string | null = like.block): Lifted {
  const found = blocksIn(text).slice(-MOST_LOOKALIKES)
  const none: Lifted = { text, block: null }
  let [best, least] = [none, differingLines(like.text, text)]
  for (const candidate of like.block === null ? [] : found.map((one) => liftedFrom(text, one))) {
    const lines = isInPlace(candidate, like) ? differingLines(like.text, candidate.text) : least
    if (lines < least) [best, least] = [candidate, lines]
  }
  if (best.block !== null || block === null) return best
  const copies = found.filter((one) => isSameBlock(one.block, block))
  const former = blocksIn(like.text).filter((one) => isSameBlock(one.block, block))
  return copies.length > former.length ? liftedFrom(text, copies.at(-1)) : none
}

const isSameBlock = (a: string, b: string): boolean => a.replaceAll('\r\n', '\n') === b.replaceAll('\r\n', '\n')

/** An editor may change line breaks, and spaces at the end of a line. */
const comparable = (text: string): readonly string[] => linesOf(text).map((line) => line.trimEnd())
const changesBetween = (before: string, after: string): readonly Change[] =>
  changesOf(comparable(before), comparable(after))

const differingLines = (before: string, after: string): number =>
  changesBetween(before, after).reduce((sum, { from, to, lines }) => sum + to - from + lines.length, 0)

function isInPlace(lifted: Lifted, like: Lifted): boolean {
  const place = comparable(like.text).indexOf(PLACE)
  return !changesBetween(like.text, lifted.text).some(({ from, to }) => from <= place && place < to)
}

/** A block of ours in a text that has none of ours, but something that looks like it. */
const EMPTY_BLOCK = [START, HEADING, `- status: ${NONE}`, END].join('\n')

/** Contract: the text with our block, which is the last of everything that looks like it: behind a pasted one it is put at the end. */
export function withOursLast({ text, block }: Lifted): string {
  const whole = lowered({ text, block })
  if (block === null) return partsOf(whole) ? withBlockAdded(whole, EMPTY_BLOCK) : whole
  const at = text.indexOf(PLACE)
  if (at < 0 || lifted(whole).text === text) return whole
  const outside = joined({ head: text.slice(0, at), tail: text.slice(at + PLACE.length) }, eolOf(text))
  return withBlockAdded(outside, block)
}

/** Contract: a block whose place is gone is added at the end. */
export function lowered({ text, block }: Lifted): string {
  if (block === null) return text.replaceAll(PLACE, '')
  const at = text.indexOf(PLACE)
  return at < 0
    ? withBlockAdded(text, block)
    : `${text.slice(0, at)}${block}${text.slice(at + 1).replaceAll(PLACE, '')}`
}

/**
 * Contract: `change` gets what is outside our block, which it cannot touch. Where the block stands between other lines, there is a line with a NUL.
 */
export function changedOutside(text: string, change: (outside: string) => string): string {
  const { block, text: around } = lifted(text)
  if (block === null) return change(text)
  const outside = outsideBlock(text)
  const isAdded = withBlockAdded(outside, block) === text
  return lowered({ text: change(isAdded ? outside : around), block })
}

/** Whether it holds one of the marks: nobody but the system should write them. */
export const hasMark = (text: string): boolean => text.includes(START) || text.includes(END)
