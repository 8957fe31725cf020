import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { waitUntil } from '../../../test/support/open-app.ts'
import { TirelessError } from '../../domain/error.ts'
import { untilAborted } from '../../ports/deadline.ts'
import type { Batch, Op, Store } from '../../ports/store.ts'
import { newTestDispatch } from '../../testing/store-test-helpers.ts'
import { fenceLeader, Leadership } from './leadership.ts'

const NEVER = new AbortController().signal

describe('leadership', () => {
  test('E15: what the work of an earlier term still writes does not get the token of a new term', async () => {
    const leadership = new Leadership('main')
    const stop = new AbortController()
    const endings: (() => void)[] = []
    const begun: number[] = []
    const leading = leadership.whileLeading(async (signal) => {
      begun.push(leadership.fence().token)
      await untilAborted(signal)
      await new Promise<void>((resolve) => endings.push(resolve))
    }, stop.signal)
    const settle = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve))
    leadership.update({ leading: true, epoch: 1, token: 1 })
    await settle()
    leadership.end()
    leadership.update({ leading: true, epoch: 3, token: 3 })
    await settle()
    assert.equal(leadership.fence().token, 0, 'the work of the first term has not ended')
    endings[0]?.()
    await settle()
    assert.equal(leadership.fence().token, 3)
    assert.deepEqual(begun, [1, 3])
    stop.abort()
    await settle()
    endings[1]?.()
    await leading
  })

  test('E15: a single cycle of a command does not end with the token of a later term', async () => {
    const leadership = new Leadership('main')
    leadership.update({ leading: true, epoch: 1, token: 1 })
    const token = await leadership.withinTerm(async () => {
      leadership.end()
      leadership.update({ leading: true, epoch: 3, token: 3 })
      return leadership.fence().token
    })
    assert.deepEqual([token, leadership.fence().token], [0, 3])
  })

  test('E15: what a cycle writes to documents carries the token of its leader, other texts do not', async () => {
    const written: Batch[] = []
    const store: Pick<Store, 'commit'> = {
      async commit(batches) {
        written.push(...batches)
        return []
      },
    }
    const fenced = fenceLeader(store as Store, { fence: () => ({ name: 'main', token: 7 }) })
    const document = (cycle_id: string | null): Op => ({
      ...{ op: 'document', kernel_id: 'main', name: 'STATE.md', base: null, text: 'x', cycle_id },
      ...{ author: 'system', reason: 'cycle', now: 0 },
    })
    await fenced.commit([{ ops: [document('run-1')] }, { ops: [document(null)] }])
    assert.deepEqual(
      written.map(({ leader }) => leader?.token),
      [7, undefined],
    )
  })

  test('E15: work of the leader ends with its term, and begins again with the next', async () => {
    const leadership = new Leadership('kernel')
    const stop = new AbortController()
    const terms: AbortSignal[] = []
    const working = leadership.whileLeading(async (signal) => {
      terms.push(signal)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }, stop.signal)
    const lead = (token: number, leading = true) => leadership.update({ leading, epoch: 1, token })
    lead(1)
    await waitUntil(() => terms.length === 1)
    lead(1)
    assert.equal(terms[0]?.aborted, false, 'a renewal is no new term')
    lead(2, false)
    assert.deepEqual([terms[0]?.aborted, leadership.fence()], [true, { name: 'kernel', token: 0 }])
    lead(3)
    await waitUntil(() => terms.length === 2)
    lead(4)
    assert.equal(terms[1]?.aborted, true, 'it led, lost the lead and led again since')
    await waitUntil(() => terms.length === 3)
    stop.abort()
    await working
  })

  test('E15: a refused write ends the term; other failures of the work are passed on', async () => {
    const leadership = new Leadership('kernel')
    const failures = [new TirelessError('store_fenced', 'late'), new TirelessError('internal', 'broken')]
    const working = leadership.whileLeading(() => Promise.reject(failures.shift()), NEVER)
    leadership.update({ leading: true, epoch: 1, token: 1 })
    await waitUntil(() => !leadership.isLeading)
    leadership.update({ leading: true, epoch: 1, token: 2 })
    await assert.rejects(working, { code: 'internal' })
  })

  test('E15: the fence of the leader is on what only it may write, and on nothing else', async () => {
    const sent: unknown[] = []
    const store = { commit: async (batches: readonly unknown[]) => void sent.push(...batches) } as unknown as Store
    const fenced = fenceLeader(store, { fence: () => ({ name: 'kernel', token: 7 }) })
    const [ofCycle, byHand] = [newTestDispatch('a', { cycle_id: 'c' }), newTestDispatch('b')]
    const enqueue = (dispatch: typeof byHand) => ({ op: 'enqueue', dispatches: [dispatch], now: 1 }) as const
    const leads = { name: 'kernel', token: 7 }
    await fenced.commit([
      { ops: [enqueue(ofCycle)] },
      { ops: [enqueue(byHand)] },
      { ops: [{ op: 'schedule_fired', id: 's', instant: 1 }] },
      { ops: [{ op: 'cycle_end', cycle_id: 'c' } as never] },
      { ops: [{ op: 'delivered', id: 'm', now: 1 } as never] },
      { ops: [{ op: 'retract', id: 'm' }] },
      { ops: [{ op: 'set', name: 'x', value: 1 }] },
    ])
    assert.deepEqual(
      sent.map((batch) => (batch as { leader?: unknown }).leader),
      [leads, undefined, leads, leads, leads, leads, undefined],
    )
  })
})
