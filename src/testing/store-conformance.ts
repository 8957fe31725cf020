/**
 * The conformance suite of the store port. Each case gets an empty store; run them with any test runner:
 * for (const { name, run } of storeConformance) test(name, async () => run(await openEmpty()))
 */

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { commitOne } from '../ports/store.ts'
import { approvalConformance } from './approval-conformance.ts'
import { cancelConformance } from './cancel-conformance.ts'
import { cycleConformance } from './cycle-conformance.ts'
import { dispatchWindowConformance } from './dispatch-window-conformance.ts'
import { factConformance } from './fact-conformance.ts'
import { inboxConformance } from './inbox-conformance.ts'
import { journalConformance } from './journal-conformance.ts'
import { leaderConformance } from './leader-conformance.ts'
import { listConformance } from './list-conformance.ts'
import { needConformance } from './need-conformance.ts'
import { outboxConformance } from './outbox-conformance.ts'
import { pinConformance } from './pin-conformance.ts'
import { queueConformance } from './queue-conformance.ts'
import { rangeConformance } from './range-conformance.ts'
import { retentionConformance } from './retention-conformance.ts'
import { scheduleConformance } from './schedule-conformance.ts'
import { spendConformance } from './spend-conformance.ts'
import { documentConformance } from './store-documents-conformance.ts'
import {
  assertRefusedWith,
  type ConformanceCase,
  claimInStore,
  enqueueInStore,
  joinTestWorker,
  newTestDispatch,
  newTestRecord,
  TEST_NOW,
} from './store-test-helpers.ts'
import { subAgentConformance } from './sub-agent-conformance.ts'
import { todoConformance } from './todo-conformance.ts'
import { undoConformance } from './undo-conformance.ts'
import { unknownConformance } from './unknown-conformance.ts'
import { workerConformance } from './worker-conformance.ts'
import { workspaceConformance } from './workspace-conformance.ts'

export type { ConformanceCase } from './store-test-helpers.ts'

/** For a store that several homes share, besides the others. */
export const sharedStoreConformance: readonly ConformanceCase[] = pinConformance

export const storeConformance: readonly ConformanceCase[] = [
  ...queueConformance,
  ...dispatchWindowConformance,
  ...cancelConformance,
  ...subAgentConformance,
  ...workerConformance,
  ...leaderConformance,
  ...workspaceConformance,
  ...journalConformance,
  ...inboxConformance,
  ...unknownConformance,
  ...approvalConformance,
  ...todoConformance,
  ...listConformance,
  ...undoConformance,
  ...needConformance,
  ...rangeConformance,
  {
    name: 'group commit: batches of one turn of the event loop share a sync',
    async run(store) {
      const epoch = await joinTestWorker(store)
      const ids = Array.from({ length: 64 }, (_, i) => `d${i}`)
      await enqueueInStore(store, ...ids.map((id) => newTestDispatch(id)))
      const fences = await claimInStore(store, epoch, 64)
      const before = store.commits()
      await Promise.all(
        fences.map((fence) =>
          commitOne(
            store,
            [{ op: 'append', session_id: `session-${fence.dispatch_id}`, records: [newTestRecord(1)] }],
            fence,
          ),
        ),
      )
      assert.ok(store.commits() - before <= 2, `64 batches took ${store.commits() - before} syncs`)
    },
  },
  {
    name: 'backup: writes one private file while commits continue; never overwrites a file',
    async run(store) {
      await enqueueInStore(store, newTestDispatch('before'))
      const folder = mkdtempSync(`${tmpdir()}/tireless-conformance-`)
      const file = `${folder}/copy`
      try {
        const [{ schema }] = await Promise.all([
          store.backup(file),
          ...Array.from({ length: 20 }, (_, i) => enqueueInStore(store, newTestDispatch(`beside-${i}`))),
        ])
        assert.ok(schema > 0)
        assert.equal((await store.counts()).pending, 21)
        assert.deepEqual(readdirSync(folder), ['copy'])
        assert.ok(statSync(file).size > 0)
        assert.equal(statSync(file).mode & 0o077, 0)
        await assert.rejects(store.backup(file), { code: 'conflict' })
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  },
  {
    name: 'E13: a selection is the last chosen model of a scope, until it is removed',
    async run(store) {
      const select = (scope: string, model: string | null) =>
        commitOne(store, [{ op: 'select', scope, model, now: TEST_NOW }])
      assert.deepEqual(await store.selections(), [])
      await select('default', 'a/1')
      await select('chat c', 'b/1')
      await select('default', 'a/2')
      assert.deepEqual(await store.selections(), [
        { scope: 'chat c', model: 'b/1' },
        { scope: 'default', model: 'a/2' },
      ])
      await select('chat c', null)
      await select('never there', null)
      assert.deepEqual(await store.selections(), [{ scope: 'default', model: 'a/2' }])
    },
  },
  ...factConformance,
  ...documentConformance,
  ...spendConformance,
  ...cycleConformance,
  ...scheduleConformance,
  ...outboxConformance,
  ...retentionConformance,
  {
    name: 'after close every commit is refused; close is idempotent',
    async run(store) {
      await store.close()
      await store.close()
      await assertRefusedWith('store_closed', commitOne(store, [{ op: 'promote', now: TEST_NOW }]))
    },
  },
]
