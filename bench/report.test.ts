import assert from 'node:assert/strict'
import { test } from 'node:test'
import { barsOf, MANY, ONE } from './bars.ts'
import type { Growth, Results } from './engine.ts'
import { costAround, curveOf, figureOf, medianOf, rowOf, sortRows } from './measure.ts'
import type { Sample } from './meter.ts'
import { axisOf, plot } from './plot.ts'
import { report, table } from './report.ts'

const sample = (seconds: number, extra: Partial<Sample> = {}): Sample => ({
  seconds,
  cpuMs: 1000 * seconds,
  serverCpuMs: 0,
  lagP99Ms: 1,
  bytes: 1_000_000,
  commits: null,
  stepMs: [],
  ...extra,
})

const rows = sortRows([
  rowOf('disk', { sessions: 1, steps: 5000 }, [sample(0.5)]),
  rowOf('sqlite', { sessions: 1, steps: 5000 }, [sample(0.5)]),
  rowOf('langgraph', ONE, [sample(10)]),
  rowOf('langgraph', MANY, [sample(16)]),
  rowOf('tireless', MANY, [sample(0.3)]),
  rowOf('tireless', ONE, [
    sample(0.2, { commits: 1000 }),
    sample(0.1, { commits: 1000 }),
    sample(0.3, { commits: 1000 }),
  ]),
])

const growth: Growth = {
  early: 100,
  late: 10_000,
  earlyMs: figureOf([0.4]),
  lateMs: figureOf([0.6]),
  ratio: figureOf([1.5]),
  bytes: [
    { steps: 500, tireless: 1300, langgraph: 280_000, extrapolated: false },
    { steps: 10_050, tireless: 1200, langgraph: 5_000_000, extrapolated: true },
  ],
  curves: {
    tireless: [
      { step: 1, ms: 0.4 },
      { step: 10_000, ms: 0.5 },
    ],
    langgraph: [
      { step: 1, ms: 5 },
      { step: 450, ms: 30 },
    ],
  },
}

const results: Results = {
  suite: 'engine',
  scale: 'full',
  loads: { one: ONE, many: MANY },
  ratios: [],
  at: '2030-01-31T09:00:00.000Z',
  machine: { node: 'v24.0.0', system: 'linux arm64', cores: 2, load: 0.1 },
  peers: { '@langchain/langgraph': '1.0.0' },
  rows,
  growth,
  bars: barsOf(rows, growth),
}

test('the median does not depend on the order of the samples; of an even number it is a mean', () => {
  assert.equal(medianOf([3, 1, 2]), 2)
  assert.equal(medianOf([4, 1, 2, 3]), 2.5)
  assert.deepEqual(figureOf([3, 1, 2]), { median: 2, min: 1, max: 3, samples: 3 })
})

test('the cost of a step is the median of a window around it; the curve uses windows along the session', () => {
  const one = sample(1, { stepMs: Array.from({ length: 1000 }, (_, i) => i + 1) })
  assert.equal(costAround(500, one, 50), 500)
  const curve = curveOf([one])
  assert.equal(curve[0]?.step, 1)
  for (const { step, ms } of curve) assert.equal(ms, step)
})

test('bars use medians; values that were not measured are not judged', () => {
  const verdicts = results.bars.map(({ what, pass }) => [what.slice(0, 20), pass])
  assert.deepEqual(verdicts[0], ['steps a second, × La', true])
  assert.equal(results.bars[0]?.got, '50.0×')
  assert.equal(results.bars[2]?.got, '2.00')
  assert.deepEqual(
    results.bars.filter(({ pass }) => pass === false).map(({ what }) => what),
    ['step 10000 of a session against step 100'],
  )
  const alone = barsOf(
    rows.filter(({ subject }) => subject !== 'langgraph'),
    growth,
  )
  assert.deepEqual({ got: alone[0]?.got, pass: alone[0]?.pass }, { got: 'not measured', pass: null })
})

test('table columns are aligned, and the report contains every bar', () => {
  assert.equal(
    table(
      ['', 'n'],
      [
        ['a', '1'],
        ['bc', '10'],
      ],
    ),
    '     n\n──────\na    1\nbc  10',
  )
  const text = report(results)
  for (const { what, got } of results.bars) assert.ok(text.includes(what) && text.includes(got), what)
  assert.match(text, /Tireless, the whole engine +1 +500 +2,500 +.* 50\.0 /)
  assert.match(text, /5,000,000 \(extrapolated/)
})

test('the plot is an SVG with a bar for every subject and a line for every curve', () => {
  const svg = plot(results)
  assert.match(svg, /^<svg [\s\S]*<\/svg>\n$/)
  assert.equal(svg.match(/<polyline/g)?.length, 2)
  assert.doesNotMatch(svg, /NaN|undefined/)
  const axis = axisOf([20, 900])
  assert.deepEqual(axis.ticks, [10, 100, 1000])
  assert.equal(axis.at(100), 0.5)
})
