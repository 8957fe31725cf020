import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  actingTurn,
  buildJournal,
  callIntended,
  callSettled,
  finalTurn,
  inputBound,
  makeCall,
  modelAnswered,
  modelRequested,
  requestedCall,
  runEnded,
  runStarted,
  stepCommitted,
} from '../../test/support/journals.ts'
import type { RecordBody } from '../domain/journal-record.ts'
import { compareRuns } from './compare-runs.ts'

const of = (...bodies: readonly RecordBody[]) => buildJournal(runStarted(), ...bodies)
const divergence = (a: readonly RecordBody[], b: readonly RecordBody[]) =>
  compareRuns(of(...a), of(...b)).first_divergence

describe('comparing two runs', () => {
  test('Q15: runs with the same actions have no divergence, whatever else differs', () => {
    const a = buildJournal(
      runStarted('t', { memory: 'whole' }),
      ...actingTurn(1, 'poke', { x: 1, y: 2 }),
      ...finalTurn(2),
    )
    const b = buildJournal(
      runStarted('t', { memory: 'window', parser: 'json' }, 'run-2'),
      inputBound(7),
      modelRequested(7),
      modelRequested(7),
      modelAnswered(7, { text: '{"thought":…}', calls: [requestedCall('poke', { y: 2, x: 1 })], usd: 1 } as object),
      callIntended(7, 0, 'poke', { y: 2, x: 1 }),
      callSettled(7, 0),
      stepCommitted(7),
      ...finalTurn(8),
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
      divergence(
        [...actingTurn(1), ...actingTurn(2), ...finalTurn(3)],
        [...actingTurn(1), ...actingTurn(2, 'prod'), ...finalTurn(3)],
      ),
      {
        step: 2,
        phase: 'DECIDE',
        a: { kind: 'act', calls: [{ tool: 'poke', args: {} }] },
        b: { kind: 'act', calls: [{ tool: 'prod', args: {} }] },
      },
    )
    assert.deepEqual(
      divergence(
        [...actingTurn(1, 'poke', {}, 'one'), ...finalTurn(2)],
        [...actingTurn(1, 'poke', {}, 'two'), ...finalTurn(2)],
      ),
      { step: 1, phase: 'ACT', a: [{ status: 'ok', content: 'one' }], b: [{ status: 'ok', content: 'two' }] },
    )
    assert.deepEqual(divergence([...actingTurn(1), ...finalTurn(2)], finalTurn(1)), {
      step: 1,
      phase: 'DECIDE',
      a: { kind: 'act', calls: [{ tool: 'poke', args: {} }] },
      b: { kind: 'final', answer: 'all done' },
    })
    assert.partialDeepStrictEqual(divergence(finalTurn(1), finalTurn(1, 'otherwise')), {
      step: 1,
      phase: 'DECIDE',
      b: { answer: 'otherwise' },
    })
  })

  test('a run that has no action where the other has one', () => {
    const stopped = stepCommitted(1, { next: { kind: 'end', stop_reason: 'budget_time' } })
    assert.deepEqual(
      divergence([inputBound(1), modelRequested(1), stopped, runEnded({ stop_reason: 'budget_time' })], finalTurn(1)),
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
    assert.deepEqual(divergence([inputBound(1), modelRequested(1), failed, ...finalTurn(1).slice(1)], finalTurn(1)), {
      step: 1,
      phase: 'DECIDE',
      a: { failed: 'model_limited', ruling: 'retry' },
      b: { kind: 'final', answer: 'all done' },
    })
  })

  test('decisions of the behaviour and chosen branches are compared, too', () => {
    const act = { kind: 'act', calls: [makeCall('poke')] } as const
    const own: RecordBody[] = [
      inputBound(1),
      { kind: 'decided', turn: 1, decision: act },
      ...actingTurn(1).slice(3),
      ...finalTurn(2),
    ]
    const branch: RecordBody[] = [
      inputBound(1),
      { kind: 'decided', turn: 1, decision: { kind: 'branch', candidates: [{ kind: 'final', answer: 'x' }, act] } },
      { kind: 'branched', turn: 1, scores: [0, 1], chosen: 1 },
      ...actingTurn(1).slice(3),
      ...finalTurn(2),
    ]
    const asked_ = [...actingTurn(1), ...finalTurn(2)]
    assert.equal(divergence(own, asked_), null)
    assert.equal(divergence(branch, own), null)
  })

  test('of long texts the part around the difference is shown', () => {
    const found = divergence(finalTurn(1, `${'x'.repeat(5000)}one`), finalTurn(1, `${'x'.repeat(5000)}two`))
    assert.match(String(found?.a), /^…x+one"/)
    assert.match(String(found?.b), /^…x+two"/)
  })

  test('case 61: runs of different tasks, and runs that have not ended, are refused', () => {
    const one = buildJournal(runStarted('one'), ...finalTurn(1))
    assert.throws(() => compareRuns(one, buildJournal(runStarted('other'), ...finalTurn(1))), {
      code: 'conflict',
      message: /different tasks.*"one" and "other"/,
    })
    assert.throws(() => compareRuns(one, buildJournal(runStarted('one', {}, 'run-2'), ...actingTurn(1))), {
      code: 'conflict',
      message: /run-2 has not ended/,
    })
  })
})
