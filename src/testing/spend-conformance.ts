/** Store conformance: spend and caps. */

import assert from 'node:assert/strict'
import type { Cap, SpendGroup } from '../domain/money.ts'
import { commitOne, type Op, type Store } from '../ports/store.ts'
import type { ConformanceCase } from './store-test-helpers.ts'

const usage = { input_tokens: 7, output_tokens: 3, cached_tokens: 2 }

type Reserve = Op & { op: 'reserve' }

const reserveOp = (id: string, usd: number, caps: readonly Cap[], more: Partial<Reserve> = {}): Reserve => ({
  op: 'reserve',
  id,
  usd,
  caps,
  kernel_id: 'k',
  agent_id: 'a',
  dispatch_id: id,
  model: 'p/m',
  day: '2030-01-31',
  ...more,
})

const spentOp = (id: string, usd: number, more: Partial<Reserve> = {}): Op & { op: 'spent' } => ({
  ...reserveOp(id, usd, [], more),
  op: 'spent',
  usage,
})

const cap = (limit: number, more: Partial<Cap> = {}): Cap => ({
  name: 'c',
  scope: 'day',
  unit: 'usd',
  limit,
  ...more,
})

async function isGranted(store: Store, op: Reserve): Promise<boolean> {
  const [{ refused }] = await commitOne(store, [op])
  return refused === null
}

const listSpend = async (store: Store): Promise<[string, number, number, number][]> =>
  (await store.spend('2000-01-01', '2099-12-31')).map((row) => [row.day, row.usd, row.reserved, row.calls])

export const spendConformance: readonly ConformanceCase[] = [
  {
    name: 'I11: a reservation counts at once; settling replaces it by the real cost, releasing removes it',
    async run(store) {
      await commitOne(store, [reserveOp('1', 50, [cap(100)])])
      await commitOne(store, [reserveOp('2', 30, [cap(100)])])
      assert.deepEqual(await listSpend(store), [['2030-01-31', 0, 80, 2]])
      await commitOne(store, [spentOp('1', 10)])
      await commitOne(store, [{ op: 'unspent', id: '2' }])
      await commitOne(store, [{ op: 'unspent', id: '2' }])
      const [row] = await store.spend('2030-01-31', '2030-01-31')
      assert.deepEqual(row, {
        ...{ day: '2030-01-31', kernel_id: 'k', agent_id: 'a', model: 'p/m', usd: 10, reserved: 0, calls: 2 },
        ...usage,
      })
    },
  },
  {
    name: 'I11: a reservation above a cap is refused and not stored; one that reaches the cap is granted',
    async run(store) {
      await commitOne(store, [reserveOp('1', 60, [cap(100)])])
      const [{ refused }] = await commitOne(store, [reserveOp('2', 41, [cap(100)])])
      assert.deepEqual(refused, { cap: cap(100), used: 60, reserved: 60 })
      assert.deepEqual(await listSpend(store), [['2030-01-31', 0, 60, 1]])
      assert.equal(await isGranted(store, reserveOp('2', 40, [cap(100)])), true)
      assert.equal(await isGranted(store, reserveOp('3', 0, [cap(100)])), true)
      assert.equal(await isGranted(store, reserveOp('4', 1, [cap(100)])), false)
    },
  },
  {
    name: 'I11: day and month caps; a settlement counts for the day of its reservation',
    async run(store) {
      const both = [cap(100), cap(150, { name: 'm', scope: 'month' })]
      assert.equal(await isGranted(store, reserveOp('1', 100, both, { day: '2030-01-30' })), true)
      assert.equal(await isGranted(store, reserveOp('2', 1, both, { day: '2030-01-30' })), false)
      assert.equal(await isGranted(store, reserveOp('3', 50, both)), true)
      const [{ refused }] = await commitOne(store, [reserveOp('4', 1, both)])
      assert.equal(refused?.cap.name, 'm')
      assert.equal(await isGranted(store, reserveOp('5', 100, both, { day: '2030-02-01' })), true)
      await commitOne(store, [spentOp('1', 20)])
      assert.deepEqual((await listSpend(store)).slice(0, 2), [
        ['2030-01-30', 20, 0, 1],
        ['2030-01-31', 0, 50, 1],
      ])
    },
  },
  {
    name: 'I11: caps per agent, kernel, calls and tokens',
    async run(store) {
      await commitOne(store, [reserveOp('1', 60, [])])
      await commitOne(store, [spentOp('1', 60)])
      const scopedCap = (scope: Cap['scope']) => [cap(100, { scope })]
      assert.equal(await isGranted(store, reserveOp('2', 41, scopedCap('agent'))), false)
      assert.equal(await isGranted(store, reserveOp('3', 41, scopedCap('agent'), { agent_id: 'b' })), true)
      assert.equal(await isGranted(store, reserveOp('3b', 41, scopedCap('agent'), { kernel_id: 'third' })), true)
      assert.equal(await isGranted(store, reserveOp('4', 1, scopedCap('kernel'))), false)
      assert.equal(await isGranted(store, reserveOp('5', 41, scopedCap('kernel'), { kernel_id: 'other' })), true)
      assert.equal(await isGranted(store, reserveOp('6', 0, [cap(4, { unit: 'calls' })])), false)
      assert.equal(await isGranted(store, reserveOp('7', 0, [cap(5, { unit: 'calls' })])), true)
      assert.equal(await isGranted(store, reserveOp('8', 0, [cap(10, { unit: 'tokens' })])), false)
      assert.equal(await isGranted(store, reserveOp('9', 0, [cap(11, { unit: 'tokens' })])), true)
    },
  },
  {
    name: 'I11: an unsettled reservation counts as spent when its dispatch reserves again',
    async run(store) {
      await commitOne(store, [reserveOp('1', 60, [], { dispatch_id: 'd' })])
      const [{ refused }] = await commitOne(store, [reserveOp('2', 60, [cap(100)], { dispatch_id: 'd' })])
      assert.equal(refused?.used, 60)
      assert.deepEqual(await listSpend(store), [['2030-01-31', 60, 0, 1]])
      await commitOne(store, [{ op: 'unspent', id: '1' }])
      assert.deepEqual(await listSpend(store), [['2030-01-31', 60, 0, 1]])
    },
  },
  {
    name: 'spend without a reservation is added, once per call',
    async run(store) {
      await commitOne(store, [spentOp('1', 5), spentOp('2', 0)])
      assert.deepEqual(await listSpend(store), [['2030-01-31', 5, 0, 2]])
    },
  },
  {
    name: 'spend is summed per day, agent or model, within the days asked for',
    async run(store) {
      const yesterday = { day: '2030-01-30' }
      for (const op of [
        ...[spentOp('1', 5), spentOp('2', 7, { agent_id: 'b' }), spentOp('3', 11, { model: 'p/n', kernel_id: 'k2' })],
        ...[
          spentOp('4', 13, yesterday),
          spentOp('5', 17, { day: '2030-01-29' }),
          spentOp('6', 19, { day: '2030-02-01' }),
        ],
      ])
        await commitOne(store, [op])
      await commitOne(store, [reserveOp('7', 23, [], yesterday)])
      const sums = async (by: SpendGroup): Promise<unknown[]> => {
        const found = await store.spendSums({ from: '2030-01-30', to: '2030-01-31', by })
        return found.map(({ day, key, usd, reserved, calls }) => [day.slice(-2), key, usd, reserved, calls])
      }
      assert.deepEqual(await sums('day'), [
        ['30', '', 13, 23, 2],
        ['31', '', 23, 0, 3],
      ])
      assert.deepEqual(await sums('agent'), [
        ['30', 'a', 13, 23, 2],
        ['31', 'a', 16, 0, 2],
        ['31', 'b', 7, 0, 1],
      ])
      assert.deepEqual(await sums('model'), [
        ['30', 'p/m', 13, 23, 2],
        ['31', 'p/m', 12, 0, 2],
        ['31', 'p/n', 11, 0, 1],
      ])
      const [sum] = await store.spendSums({ from: '2030-01-31', to: '2030-01-31', by: 'day' })
      assert.deepEqual([sum?.input_tokens, sum?.output_tokens, sum?.cached_tokens], [21, 9, 6])
    },
  },
]
