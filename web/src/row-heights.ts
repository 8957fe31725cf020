/**
 * Heights of the rows of a long list: an expected one, corrected by what was measured. The corrections are sums in a
 * binary indexed tree, so that a place is found in a few steps, however long the list is.
 */

export class RowHeights {
  readonly #expected: number
  #count = 0
  /** Measured height minus expected height, by row. */
  readonly #corrections = new Map<number, number>()
  #sums = new Float64Array(1)

  constructor(expected: number) {
    this.#expected = expected
  }

  get total(): number {
    return this.topOf(this.#count)
  }

  resize(count: number): void {
    if (count === this.#count) return
    this.#count = count
    this.#sums = new Float64Array(count + 1)
    for (const [row, correction] of this.#corrections) this.#add(row, correction)
  }

  /** Contract: returns by how much the row is now higher than it was assumed to be. */
  measure(row: number, height: number): number {
    const correction = height - this.#expected
    const change = correction - (this.#corrections.get(row) ?? 0)
    if (change === 0) return 0
    this.#corrections.set(row, correction)
    this.#add(row, change)
    return change
  }

  /** Contract: pixels above the row. */
  topOf(row: number): number {
    let top = row * this.#expected
    for (let at = row; at > 0; at -= at & -at) top += this.#sums[at] ?? 0
    return top
  }

  /** Contract: the row at a distance from the top, in pixels; the first or last one beyond the ends. */
  rowAt(top: number): number {
    let row = 0
    let rest = top
    for (let width = 2 ** Math.floor(Math.log2(this.#count + 1)); width >= 1; width /= 2) {
      const height = width * this.#expected + (this.#sums[row + width] ?? 0)
      if (row + width > this.#count || height > rest) continue
      row += width
      rest -= height
    }
    return Math.max(0, Math.min(row, this.#count - 1))
  }

  #add(row: number, change: number): void {
    for (let at = row + 1; at < this.#sums.length; at += at & -at) this.#sums[at] = (this.#sums[at] ?? 0) + change
  }
}
