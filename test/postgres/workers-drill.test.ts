/** The short form of the drill of workers: four processes on one database, a few faults. */

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { drillWorkers } from '../drills/workers/drill-workers.ts'
import { WITHOUT_POSTGRES } from '../support/postgres.ts'

it('E15: four processes that are killed, stopped and cut off lose and double nothing', {
  skip: WITHOUT_POSTGRES,
}, async () => {
  const { findings } = await drillWorkers({ faultsMs: 15_000, leaseMs: 6000, pauseMs: 800, seed: 3 })
  assert.deepEqual(
    findings.flatMap(({ what, violations }) => violations.map((violation) => `${what}: ${violation}`)),
    [],
  )
})
