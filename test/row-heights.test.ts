import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RowHeights } from '../web/src/row-heights.ts'

test('heights of rows: places are the sums of what was measured and what is expected', () => {
  const heights = new RowHeights(40)
  const measured = Array.from({ length: 300 }, () => 40)
  heights.resize(300)
  for (const [row, height] of [
    [0, 75],
    [7, 20],
    [8, 41],
    [255, 300],
    [256, 1],
    [299, 90],
    [7, 64],
  ] as const) {
    assert.equal(heights.measure(row, height), height - (measured[row] ?? 0))
    measured[row] = height
  }
  let top = 0
  for (const [row, height] of measured.entries()) {
    assert.equal(heights.topOf(row), top)
    assert.equal(heights.rowAt(top), row)
    assert.equal(heights.rowAt(top + height - 0.5), row)
    top += height
  }
  assert.equal(heights.total, top)
})

test('heights of rows: beyond the ends is the first or the last row; a list keeps its heights when it grows', () => {
  const heights = new RowHeights(10)
  assert.equal(heights.rowAt(50), 0)
  heights.resize(3)
  heights.measure(1, 30)
  assert.deepEqual([heights.rowAt(-5), heights.rowAt(1e9), heights.total], [0, 2, 50])
  heights.resize(100_000)
  assert.equal(heights.total, 1_000_020)
  assert.equal(heights.rowAt(1_000_019), 99_999)
})
