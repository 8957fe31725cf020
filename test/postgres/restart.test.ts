/** The short form of the failover drill: one server, which is restarted and killed under load. */

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Crew } from '../drills/crew.ts'
import { storeWorkload } from '../drills/store-workload.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'

it('E15: no commit is lost or doubled when the database and the processes that use it are killed', {
  skip: WITHOUT_POSTGRES,
}, async (t) => {
  const server = await openPostgres(t)
  const url = await server.newDatabase()
  await storeWorkload.prepare(url)
  const crew = new Crew(storeWorkload.worker, url, 2)
  t.after(() => crew.stop())
  for (const how of ['immediate', 'kill'] as const) {
    await crew.waitForMoreThan(crew.acknowledged.length + 50)
    crew.replaceOne()
    await server.restart(how)
  }
  await crew.waitForMoreThan(crew.acknowledged.length + 50)
  await crew.stop()
  assert.equal(crew.broken, 0)
  const damage = await storeWorkload.check(url, crew.acknowledged)
  assert.deepEqual(damage, { lost: [], doubled: [], incomplete: [] })
})
