import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  acting,
  answered,
  asked,
  bound,
  callOf,
  committed,
  ended,
  finishing,
  intended,
  recordsOf,
  requested,
  settled,
  started,
} from '../../test/support/journals.ts'
import type { RecordBody } from '../domain/journal-record.ts'
import { compareRuns } from './compare-runs.ts'

const of = (...bodies: readonly RecordBody[]) => recordsOf(started(), ...bodies)
const divergence = (a: readonly RecordBody[], b: readonly RecordBody[]) =>
  compareRuns(of(...a), of(...b)).first_divergence

describe('comparing two runs', () => {
  test('Q15: runs with the same actions have no divergence, whatever else differs', () => {
    const a = recordsOf(started('t', { memory: 'whole' }), ...acting(1, 'poke', { x: 1, y: 2 }), ...finishing(2))
    const b = recordsOf(
      started('t', { memory: 'window', parser: 'json' }, 'run-2'),
      bound(7),
      requested(7),
      requested(7),
      answered(7, { text: '{"thought":…}', calls: [asked('poke', { y: 2, x: 1 })], usd: 1 } as object),
      intended(7, 0, 'poke', { y: 2, x: 1 }),
      settled(7, 0),
      committed(7),
      ...finishing(8),
    )
    const { first_divergence, ...sides } = compareRuns(a, b)
    assert.equal(first_divergence, null)
    assert.partialDeepStrictEqual(sides, {
      a: { run_id: 'run-1', steps: 2, stop_reason: 'final', answer: 'all done', setup: { memory: 'whole' } },
      b: { run_id: 'run-2', steps: 2, stop_reason: 'final', answer: 'all done', setup: { memory: 'window' } },
    })
  })

  test('the divergence is at the first step and phase that differ', () => {
    assert.deepEqual(
      divergence([...acting(1), ...acting(2), ...finishing(3)], [...acting(1), ...acting(2, 'prod'), ...finishing(3)]),
      {
        step: 2,
        phase: 'DECIDE',
        a: { kind: 'act', calls: [{ tool: 'poke', args: {} }] },
        b: { kind: 'act', calls: [{ tool: 'prod', args: {} }] },
      },
    )
    assert.deepEqual(
      divergence(
        [...acting(1, 'poke', {}, 'one'), ...finishing(2)],
        [...acting(1, 'poke', {}, 'two'), ...finishing(2)],
      ),
      { step: 1, phase: 'ACT', a: [{ status: 'ok', content: 'one' }], b: [{ status: 'ok', content: 'two' }] },
    )
    assert.deepEqual(divergence([...acting(1), ...finishing(2)], finishing(1)), {
      step: 1,
      phase: 'DECIDE',
      a: { kind: 'act', calls: [{ tool: 'poke', args: {} }] },
      b: { kind: 'final', answer: 'all done' },
    })
    assert.partialDeepStrictEqual(divergence(finishing(1), finishing(1, 'otherwise')), {
      step: 1,
      phase: 'DECIDE',
      b: { answer: 'otherwise' },
    })
  })

  test('a run that has no action where the other has one', () => {
    const stopped = committed(1, { next: { kind: 'end', stop_reason: 'budget_time' } })
    assert.deepEqual(
      divergence([bound(1), requested(1), stopped, ended({ stop_reason: 'budget_time' })], finishing(1)),
      { step: 1, phase: 'DECIDE', a: null, b: { kind: 'final', answer: 'all done' } },
    )
  })

  test('a failed phase is a divergence', () => {
    const failed: RecordBody = {
      kind: 'failed',
      turn: 1,
      phase: 'DECIDE',
      code: 'model_limited',
      message: 'slow down',
      ruling: { kind: 'retry', until: null },
    }
    assert.deepEqual(divergence([bound(1), requested(1), failed, ...finishing(1).slice(1)], finishing(1)), {
      step: 1,
      phase: 'DECIDE',
      a: { failed: 'model_limited', ruling: 'retry' },
      b: { kind: 'final', answer: 'all done' },
    })
  })

  test('decisions of the behaviour and chosen branches are compared, too', () => {
    const act = { kind: 'act', calls: [callOf('poke')] } as const
    const own: RecordBody[] = [
      bound(1),
      { kind: 'decided', turn: 1, decision: act },
      ...acting(1).slice(3),
      ...finishing(2),
    ]
    const branch: RecordBody[] = [
      bound(1),
      { kind: 'decided', turn: 1, decision: { kind: 'branch', candidates: [{ kind: 'final', answer: 'x' }, act] } },
      { kind: 'branched', turn: 1, scores: [0, 1], chosen: 1 },
      ...acting(1).slice(3),
      ...finishing(2),
    ]
    const asked_ = [...acting(1), ...finishing(2)]
    assert.equal(divergence(own, asked_), null)
    assert.equal(divergence(branch, own), null)
  })

  test('of long texts the part around the difference is shown', () => {
    const found = divergence(finishing(1, `${'x'.repeat(5000)}one`), finishing(1, `${'x'.repeat(5000)}two`))
    assert.match(String(found?.a), /^…x+one"/)
    assert.match(String(found?.b), /^…x+two"/)
  })

  test('case 61: runs of different tasks, and runs that have not ended, are refused', () => {
    const one = recordsOf(started('one'), ...finishing(1))
    assert.throws(() => compareRuns(one, recordsOf(started('other'), ...finishing(1))), {
      code: 'conflict',
      message: /different tasks.*"one" and "other"/,
    })
    assert.throws(() => compareRuns(one, recordsOf(started('one', {}, 'run-2'), ...acting(1))), {
      code: 'conflict',
      message: /run-2 has not ended/,
    })
  })
})
