/** The runs of a day by what came of them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupRepeated, runsByEnd } from '../../web/src/reports/group-runs.ts'

const run = (id: string, status: string, title = 'count') => ({ id, agent_id: 'clerk', title, status })

test('E12: what was done, what failed and what is open are apart; a failure that repeats is one', () => {
  const runs = [
    run('a', 'done'),
    run('b', 'failed'),
    run('c', 'waiting', 'ask'),
    run('d', 'failed'),
    run('e', 'dead', 'crash'),
    run('f', 'pending'),
    run('g', 'running'),
    run('h', 'cancelled'),
  ]
  const { done, failed, open } = runsByEnd(runs)
  const ids = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id).join('')
  assert.deepEqual([ids(done), ids(open)], ['ag', 'cfh'])
  assert.deepEqual(
    failed.map(({ item, count }) => `${item.id} ${count}`),
    ['d 2', 'e 1'],
  )
})

test('E12: failures of different agents at the same task are apart', () => {
  const items = [run('a', 'failed'), { ...run('b', 'failed'), agent_id: 'cook' }]
  assert.equal(groupRepeated(items).length, 2)
})
