import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { untilAborted } from '../../ports/deadline.ts'
import type { Batch, Op, Store } from '../../ports/store.ts'
import { fenceLeader, Leadership } from './leadership.ts'

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
})
