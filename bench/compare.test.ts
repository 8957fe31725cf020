import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Baseline, Ratio } from './ratios.ts'

const BASELINE: Baseline = {
  engine: {
    measured: 'a quiet machine',
    ratios: {
      'steps against a peer': { value: 10, better: 'higher', tolerance: 0.2 },
      'CPU against a peer': { value: 0.1, better: 'lower', tolerance: 0.2 },
    },
  },
}

function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'tireless-bench-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [baseline, result] = [join(folder, 'baseline.json'), join(folder, 'engine.json')]
  writeFileSync(baseline, JSON.stringify(BASELINE))
  const run = (command: string, ...more: readonly string[]) => {
    const main = join(import.meta.dirname, 'main.ts')
    const args = ['--disable-warning=ExperimentalWarning', main, command, result, '--baseline', baseline, ...more]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  const measured = (ratios: readonly Ratio[], scale = 'full') => {
    const machine = { node: 'v24.0.0', system: 'linux arm64', cores: 2, load: 0.1 }
    writeFileSync(result, JSON.stringify({ suite: 'engine', scale, at: '2030-01-31T09:00:00.000Z', machine, ratios }))
  }
  return { run, measured, baseline, result }
}

const ratios = (steps: number | null, cpu: number): readonly Ratio[] => [
  { name: 'steps against a peer', better: 'higher', value: steps },
  { name: 'CPU against a peer', better: 'lower', value: cpu },
]

test('ratios within their tolerance pass, in either direction; a new ratio is listed but not compared', (t) => {
  const { run, measured } = setUp(t)
  measured([...ratios(8.1, 0.119), { name: 'another', better: 'lower', value: 3 }])
  const { status, stdout } = run('compare')
  assert.equal(status, 0)
  assert.match(stdout, /steps against a peer +10 +8\.1 +-19 % +-20 % +ok/)
  assert.match(stdout, /CPU against a peer +0\.1 +0\.119 +\+19 % +\+20 % +ok/)
  assert.match(stdout, /another +3 +new\n/)
  assert.match(stdout, /nothing got worse/)
})

test('exit 1 if a ratio is worse than its tolerance allows, whether higher or lower is better', (t) => {
  const { run, measured } = setUp(t)
  measured(ratios(7.9, 0.05))
  const slower = run('compare')
  assert.equal(slower.status, 1)
  assert.match(slower.stdout, /steps against a peer .* WORSE\n.* better\n[\s\S]*1 of 2 ratios/)
  measured(ratios(13, 0.121))
  const dearer = run('compare')
  assert.equal(dearer.status, 1)
  assert.match(dearer.stdout, /steps against a peer .* better\nCPU against a peer .* WORSE\n/)
})

test('exit 1 if a ratio was not measured: a subject that no longer runs must not pass', (t) => {
  const { run, measured } = setUp(t)
  measured(ratios(null, 0.1))
  const { status, stdout } = run('compare')
  assert.equal(status, 1)
  assert.match(stdout, /steps against a peer +10 .* NOT MEASURED\n/)
})

test('exit 2 for input that cannot be compared: a smoke run, an invalid file, an unknown suite', (t) => {
  const { run, measured, result, baseline } = setUp(t)
  measured(ratios(10, 0.1), 'smoke')
  assert.match(run('compare').stderr, /a smoke run measures nothing/)
  assert.equal(run('baseline').status, 2)
  writeFileSync(result, '{"suite":"engine"}')
  assert.match(run('compare').stderr, /engine\.json[\s\S]*scale/)
  measured(ratios(10, 0.1))
  writeFileSync(baseline, '{}')
  const { status, stderr } = run('compare')
  assert.equal(status, 2)
  assert.match(stderr, /no suite engine/)
})

test('a stored baseline has the new values and the earlier tolerances; other suites do not change', (t) => {
  const { run, measured, baseline } = setUp(t)
  const other = { kernel: { measured: 'once', ratios: {} } }
  writeFileSync(baseline, JSON.stringify({ ...BASELINE, ...other }))
  measured([...ratios(null, 0.08), { name: 'another', better: 'lower', value: 2.34567 }])
  assert.equal(run('baseline').status, 0)
  const stored = JSON.parse(readFileSync(baseline, 'utf8'))
  assert.deepEqual(stored.engine.ratios, {
    'steps against a peer': BASELINE.engine?.ratios['steps against a peer'],
    'CPU against a peer': { value: 0.08, better: 'lower', tolerance: 0.2 },
    another: { value: 2.35, better: 'lower', tolerance: 0.25 },
  })
  assert.match(stored.engine.measured, /^2030-01-31, full run, Node v24\.0\.0/)
  assert.deepEqual(stored.kernel, other.kernel)
  assert.equal(run('compare').status, 1)
  measured([...ratios(10, 0.08), { name: 'another', better: 'lower', value: 2.4 }])
  assert.equal(run('compare').status, 0)
})
