import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { figureOf } from '../measure.ts'
import { makeHome, openHome } from './home.ts'
import { type KernelResults, kernelBars, type ProgramRow } from './kernel.ts'
import { kernelReport } from './report.ts'

const program: ProgramRow = {
  launcher: 'source',
  startMs: figureOf([900, 1000, 1100]),
  startAfterCrashMs: figureOf([2500]),
  statusMs: figureOf([200]),
  statusAloneMs: figureOf([450]),
  idle: { rssMb: 110, writesPerMinute: 0, bytesPerMinute: 4096, cpuMsPerMinute: 10, modelCalls: 0 },
}
const growth = { ms: figureOf([1.1, 1.3, 1.0]), cpu: figureOf([1.3]) }
const pasts = [1000, 1_000_000].map((finished) => ({
  finished,
  databaseBytes: 7000 * finished,
  cycleMs: figureOf([30, 31]),
  cpuMs: figureOf([20]),
}))

test('bars use medians; values that the system does not provide are not judged', () => {
  const bars = kernelBars({ short: 1000, long: 1_000_000 }, growth, [program, { ...program, idle: null }])
  assert.deepEqual(
    bars.slice(0, 8).map(({ got, pass }) => ({ got, pass })),
    [
      { got: '1.10×', pass: true },
      { got: '1.30×', pass: false },
      { got: '1000 ms', pass: true },
      { got: '2500 ms', pass: false },
      { got: '200 ms', pass: true },
      { got: '110 MB', pass: true },
      { got: '4096', pass: false },
      { got: '0', pass: true },
    ],
  )
  assert.deepEqual(
    bars.slice(-3).map(({ pass }) => pass),
    [null, null, null],
  )
  const results: KernelResults = {
    ...{
      suite: 'kernel',
      scale: 'full',
      ratios: [],
      at: '2030-01-31T09:00:00.000Z',
      pasts,
      growth,
      programs: [program],
      bars,
    },
    machine: { node: 'v24.0.0', system: 'linux arm64', cores: 2, load: 0.1 },
  }
  const text = kernelReport(results)
  for (const { what, got } of bars) assert.ok(text.includes(what) && text.includes(got), what)
  assert.match(text, /1,000,000 finished dispatches +30\.5/)
  assert.doesNotMatch(text, /NaN|undefined/)
})

test('the program can read the generated history', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'tireless-bench-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  await makeHome(home, 60)
  const app = await openHome(home)
  t.after(() => app.close())
  const { store, kernelId } = app.context
  assert.equal((await store.counts()).done, 60)
  assert.equal((await store.cycles(kernelId, { limit: 100 })).length, 30)
  assert.deepEqual(await store.verify(), [])
  for (const dispatch of await store.dispatches({ limit: 100 })) {
    const kinds = (await store.journal(dispatch.session_id)).map(({ kind }) => kind)
    assert.deepEqual(
      { first: kinds[0], last: kinds.at(-1), hasMany: kinds.length > 5 },
      { first: 'run_started', last: 'run_ended', hasMany: true },
    )
    assert.equal((await store.dispatchesOf(String(dispatch.cycle_id))).length, 2)
  }
  const status = await app.run('status', {})
  assert.deepEqual({ approvals: status.approvals, unknowns: status.unknowns }, { approvals: 0, unknowns: 0 })
})
