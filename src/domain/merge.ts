/** Merging what two made of one text, line by line. What both added in the same place is kept, the first one's before the other's. */

import { type Change, changed, changesOf, linesOf } from './lines.ts'

/** Contract: null where they clash: both changed the same lines, and not alike. */
export function merge(base: string, ours: string, theirs: string): string | null {
  const lines = linesOf(base)
  const left = [...changesOf(lines, linesOf(ours))]
  const right = [...changesOf(lines, linesOf(theirs))]
  const taken: Change[] = []
  for (let next = take(left, right); next !== undefined; next = take(left, right)) {
    if (next === 'clash') return null
    taken.push(next)
  }
  const merged = changed(lines, taken)
  // Two that both ended the text, one of them without a line break: their words would run together.
  return merged.slice(0, -1).every((line) => line.endsWith('\n')) ? merged.join('') : null
}

function take(left: Change[], right: Change[]): Change | 'clash' | undefined {
  const [ours, theirs] = [left[0], right[0]]
  if (ours && theirs && isAlike(ours, theirs)) {
    right.shift()
    return left.shift()
  }
  if (!theirs || (ours && ours.to <= theirs.from)) return left.shift()
  return !ours || theirs.to <= ours.from ? right.shift() : 'clash'
}

function isAlike(a: Change, b: Change): boolean {
  return a.from === b.from && a.to === b.to && a.lines.join('') === b.lines.join('')
}
