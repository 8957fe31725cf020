/** Three-way merge of texts by lines. Where both sides add lines in one place, both are kept, ours first. */

import { type Change, changed, changesOf, linesOf } from './lines.ts'

/** Contract: null on a conflict: both sides changed the same lines differently. */
export function merge(base: string, ours: string, theirs: string): string | null {
  const lines = linesOf(base)
  const left = [...changesOf(lines, linesOf(ours))]
  const right = [...changesOf(lines, linesOf(theirs))]
  const taken: Change[] = []
  for (let next = takeNext(left, right); next !== undefined; next = takeNext(left, right)) {
    if (next === 'clash') return null
    taken.push(next)
  }
  const merged = changed(lines, taken)
  // Both sides appended, one without a final line break: two lines would run together.
  return merged.slice(0, -1).every((line) => line.endsWith('\n')) ? merged.join('') : null
}

function takeNext(left: Change[], right: Change[]): Change | 'clash' | undefined {
  const [ours, theirs] = [left[0], right[0]]
  if (ours && theirs && isSameChange(ours, theirs)) {
    right.shift()
    return left.shift()
  }
  if (!theirs || (ours && ours.to <= theirs.from)) return left.shift()
  return !ours || theirs.to <= ours.from ? right.shift() : 'clash'
}

function isSameChange(a: Change, b: Change): boolean {
  return a.from === b.from && a.to === b.to && a.lines.join('') === b.lines.join('')
}
