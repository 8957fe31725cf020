/** Line diff (Myers): the smallest set of removed and added lines, up to a limit of edits. */

/** Each line keeps its line break. */
export function linesWithBreaks(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** Replaces the lines from index `from` up to (not including) `to`. */
export interface LineChange {
  readonly from: number
  readonly to: number
  readonly lines: readonly string[]
}

/** Contract: returns the changes from `a` to `b` in order; changes neither overlap nor touch. */
export function diffLines(a: readonly string[], b: readonly string[]): readonly LineChange[] {
  let head = 0
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head += 1
  let tail = 0
  while (tail < Math.min(a.length, b.length) - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1
  const kept = keptLines(a.slice(head, a.length - tail), b.slice(head, b.length - tail))
  const changes: LineChange[] = []
  let [from, at] = [head, head]
  for (const [x, y] of [...kept.map(([x, y]) => [x + head, y + head] as const), [a.length - tail, b.length - tail]]) {
    if (x > from || y > at) changes.push({ from, to: x, lines: b.slice(at, y) })
    from = x + 1
    at = y + 1
  }
  return changes
}

export function applyLineChanges(lines: readonly string[], changes: readonly LineChange[]): readonly string[] {
  let at = 0
  const replaced = changes.flatMap((change) => {
    const untouched = lines.slice(at, change.from)
    at = change.to
    return [...untouched, ...change.lines]
  })
  return [...replaced, ...lines.slice(at)]
}

/**
 * Texts that differ by more edits are treated as completely different: time and memory grow with the square of the
 * edits.
 */
const MAX_EDITS = 1000

/** Lines that are in both texts: pairs of their indexes in `a` and `b`, in order. */
function keptLines(a: readonly string[], b: readonly string[]): readonly (readonly [number, number])[] {
  const maxEdits = Math.min(a.length + b.length, MAX_EDITS)
  const zero = maxEdits + 1
  // For each diagonal, the furthest position reached in `a`; a copy per number of edits lets `traceBack` find the way.
  const furthest = new Int32Array(2 * maxEdits + 3)
  const rounds: Int32Array[] = []
  const stepsDown = (reached: Int32Array, k: number, d: number): boolean =>
    k === -d || (k !== d && (reached[zero + k - 1] ?? 0) < (reached[zero + k + 1] ?? 0))
  for (let d = 0; d <= maxEdits; d += 1) {
    rounds.push(furthest.slice())
    for (let k = -d; k <= d; k += 2) {
      let x = stepsDown(furthest, k, d) ? (furthest[zero + k + 1] ?? 0) : (furthest[zero + k - 1] ?? 0) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1
      furthest[zero + k] = x
      if (x >= a.length && x - k >= b.length) return traceBack()
    }
  }
  return []

  function traceBack(): readonly (readonly [number, number])[] {
    const kept: (readonly [number, number])[] = []
    let [x, y] = [a.length, b.length]
    for (const [d, reached] of [...rounds.entries()].reverse()) {
      const k = x - y
      const before = stepsDown(reached, k, d) ? k + 1 : k - 1
      const fromX = d === 0 ? 0 : (reached[zero + before] ?? 0)
      const fromY = d === 0 ? 0 : fromX - before
      while (x > fromX && y > fromY) {
        x -= 1
        y -= 1
        kept.push([x, y])
      }
      ;[x, y] = [fromX, fromY]
    }
    return kept.reverse()
  }
}

const CONTEXT = 3

/** Contract: returns the format of `diff -u`; empty if the texts are equal. */
export function unifiedDiff(from: { name: string; text: string }, to: { name: string; text: string }): string {
  const a = linesWithBreaks(from.text)
  const b = linesWithBreaks(to.text)
  let shift = 0
  const hunks = groupChanges(diffLines(a, b)).map((changes) => {
    const first = Math.max(0, (changes[0]?.from ?? 0) - CONTEXT)
    const last = Math.min(a.length, (changes.at(-1)?.to ?? 0) + CONTEXT)
    const body: string[] = []
    let at = first
    let grown = 0
    for (const change of changes) {
      body.push(...a.slice(at, change.from).map((line) => ` ${line}`))
      body.push(...a.slice(change.from, change.to).map((line) => `-${line}`), ...change.lines.map((line) => `+${line}`))
      grown += change.lines.length - (change.to - change.from)
      at = change.to
    }
    body.push(...a.slice(at, last).map((line) => ` ${line}`))
    const range = (start: number, count: number): string => `${count === 0 ? start : start + 1},${count}`
    const title = `@@ -${range(first, last - first)} +${range(first + shift, last - first + grown)} @@\n`
    shift += grown
    return title + body.map((line) => (line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`)).join('')
  })
  return hunks.length === 0 ? '' : `--- ${from.name}\n+++ ${to.name}\n${hunks.join('')}`
}

/** Groups the changes whose context lines would overlap. */
function groupChanges(changes: readonly LineChange[]): readonly (readonly LineChange[])[] {
  const groups: LineChange[][] = []
  for (const change of changes) {
    const group = groups.at(-1)
    if (group && change.from - (group.at(-1)?.to ?? 0) <= 2 * CONTEXT) group.push(change)
    else groups.push([change])
  }
  return groups
}
