/** Three-way merge of texts by lines. If both sides add lines in the same place, both are kept, ours first. */

import { applyLineChanges, diffLines, type LineChange, linesWithBreaks } from './diff.ts'

/** Contract: returns null on a conflict: both sides changed the same lines differently. */
export function mergeText(base: string, ours: string, theirs: string): string | null {
  const lines = linesWithBreaks(base)
  const left = [...diffLines(lines, linesWithBreaks(ours))]
  const right = [...diffLines(lines, linesWithBreaks(theirs))]
  const taken: LineChange[] = []
  for (let next = takeNext(left, right); next !== undefined; next = takeNext(left, right)) {
    if (next === 'clash') return null
    taken.push(next)
  }
  const merged = applyLineChanges(lines, taken)
  // If both sides appended lines and one side has no final line break, two lines would run together.
  return merged.slice(0, -1).every((line) => line.endsWith('\n')) ? merged.join('') : null
}

function takeNext(left: LineChange[], right: LineChange[]): LineChange | 'clash' | undefined {
  const [ours, theirs] = [left[0], right[0]]
  if (ours && theirs && isSameChange(ours, theirs)) {
    right.shift()
    return left.shift()
  }
  if (!theirs || (ours && ours.to <= theirs.from)) return left.shift()
  return !ours || theirs.to <= ours.from ? right.shift() : 'clash'
}

function isSameChange(a: LineChange, b: LineChange): boolean {
  return a.from === b.from && a.to === b.to && a.lines.join('') === b.lines.join('')
}
