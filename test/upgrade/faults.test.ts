/** Faults at every step of an upgrade, with real processes: afterwards the program starts and works with the home. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FAULTS } from './faults.ts'
import { createInstallation, IS_SWEEP } from './installation.ts'

describe('after an upgrade with a fault', () => {
  for (const { name, npm = 'fake', run } of FAULTS.filter(({ always }) => always || IS_SWEEP))
    test(`${name}: the program starts, and works with the home and its queue`, async (t) => {
      const at = createInstallation(t, { npm })
      await run(at, t)
      const started = await at.program('config', 'schema', '--json')
      assert.equal(started.exit, 0, started.stderr)
      const status = await at.program('status', '--json')
      assert.equal(status.exit, 0, status.stderr)
      const { items } = await at.json('queue', 'list')
      assert.deepEqual(
        items.map(({ title }: { title: string }) => title),
        ['work for later'],
      )
    })

  test('there are at least twenty faults', () => assert.ok(FAULTS.length >= 20, String(FAULTS.length)))
})
