/** A unified diff as rows to show: numbered lines, pairs side by side, and which part of a line changed. Pure. */

interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  /** Number of the line before and after; null on the side that does not have it. */
  readonly before: number | null
  readonly after: number | null
  readonly text: string
  /** The changed part, from its first character up to its last; the whole line if undefined. */
  readonly changed?: readonly [from: number, to: number]
}

/** Changed lines with their surroundings; lines between two hunks are the same on both sides. */
export interface DiffHunk {
  /** Lines that are left out before it; null: unknown. */
  readonly skipped: number
  readonly lines: readonly DiffLine[]
}

/** One row of two columns; null: the side has no line here. */
export interface DiffPair {
  readonly left: DiffLine | null
  readonly right: DiffLine | null
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/** Contract: the hunks of `diff -u`; what it does not understand is left out. */
export function parseDiff(diff: string): readonly DiffHunk[] {
  const hunks: DiffHunk[] = []
  let lines: DiffLine[] | undefined
  let [before, after] = [1, 1]
  for (const row of diff.split('\n')) {
    const head = HUNK.exec(row)
    if (head) {
      // A side without lines names the line before it.
      const [from, to] = [startOf(head[1], head[2]), startOf(head[3], head[4])]
      const skipped = Math.max(0, from - before)
      lines = []
      hunks.push({ skipped, lines })
      ;[before, after] = [from, to]
    } else if (lines) {
      const [sign, text] = [row[0], row.slice(1)]
      if (sign === ' ') lines.push({ kind: 'same', before: before++, after: after++, text })
      else if (sign === '-') lines.push({ kind: 'removed', before: before++, after: null, text })
      else if (sign === '+') lines.push({ kind: 'added', before: null, after: after++, text })
    }
  }
  return hunks.map(({ skipped, lines: all }) => ({ skipped, lines: withChangedParts(all) }))
}

const startOf = (start = '1', count = '1'): number => Number(start) + (count === '0' ? 1 : 0)

/** Contract: how many lines were added and removed. */
export function countChanges(hunks: readonly DiffHunk[]): { readonly added: number; readonly removed: number } {
  const all = hunks.flatMap(({ lines }) => lines)
  const countOf = (kind: DiffLine['kind']): number => all.filter((line) => line.kind === kind).length
  return { added: countOf('added'), removed: countOf('removed') }
}

/** Contract: removed lines stand beside the added ones that follow them. */
export function pairLines(lines: readonly DiffLine[]): readonly DiffPair[] {
  return blocksOf(lines).flatMap(({ same, removed, added }) => [
    ...Array.from({ length: Math.max(removed.length, added.length) }, (_, at) => ({
      left: removed[at] ?? null,
      right: added[at] ?? null,
    })),
    ...same.map((line) => ({ left: line, right: line })),
  ])
}

interface Block {
  readonly removed: DiffLine[]
  readonly added: DiffLine[]
  /** The unchanged lines after them. */
  readonly same: DiffLine[]
}

function blocksOf(lines: readonly DiffLine[]): readonly Block[] {
  const blocks: Block[] = []
  for (const line of lines) {
    const last = blocks.at(-1)
    const startsNew = line.kind !== 'same' && (last?.same.length || (line.kind === 'removed' && last?.added.length))
    const block = last && !startsNew ? last : { removed: [], added: [], same: [] }
    if (block !== last) blocks.push(block)
    block[line.kind].push(line)
  }
  return blocks
}

/** Lines of which less is the same were rewritten: marking a part would only confuse. */
const MIN_SHARED = 0.3

/** Marks what differs in lines that stand beside each other. */
function withChangedParts(lines: readonly DiffLine[]): readonly DiffLine[] {
  return blocksOf(lines).flatMap(({ removed, added, same }) => {
    const parts = removed.map(({ text }, at) => changedPart(text, added[at]?.text ?? ''))
    const marked = (side: readonly DiffLine[], which: 0 | 1): readonly DiffLine[] =>
      side.map((line, at) => {
        const part = parts[at]
        return part ? { ...line, changed: part[which] } : line
      })
    return [...marked(removed, 0), ...marked(added, 1), ...same]
  })
}

type Range = readonly [from: number, to: number]

/** Contract: undefined if the two have too little in common. */
function changedPart(a: string, b: string): readonly [Range, Range] | undefined {
  const shorter = Math.min(a.length, b.length)
  let head = 0
  while (head < shorter && a[head] === b[head]) head += 1
  let tail = 0
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1
  // A pair of surrogates is one character.
  if (head > 0 && isHighSurrogate(a.charCodeAt(head - 1))) head -= 1
  if (tail > 0 && isHighSurrogate(a.charCodeAt(a.length - tail - 1))) tail -= 1
  if ((head + tail) / Math.max(1, a.length, b.length) < MIN_SHARED) return undefined
  return [
    [head, a.length - tail],
    [head, b.length - tail],
  ]
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
