/** Store conformance: retention deletes old, finished data and keeps everything that is still needed. */

import assert from 'node:assert/strict'
import { errorCycleResult } from '../domain/cycle.ts'
import type { Grant } from '../domain/grant.ts'
import type { UnknownOutcome } from '../domain/unknown-outcome.ts'
import { commitOne, type Fence, type Op, type Store } from '../ports/store.ts'
import {
  type ConformanceCase,
  claimInStore,
  enqueueInStore,
  joinTestWorker,
  newTestApproval,
  newTestDispatch,
  newTestMessage,
  newTestRecord,
  settleOp,
  startDispatch,
  TEST_NOW,
  WAIT_FOR_MESSAGE,
} from './store-test-helpers.ts'

const DAY = 86_400_000
/** A hundred days later; data older than ninety days is deleted. */
const LATER = TEST_NOW + 100 * DAY
const BEFORE = LATER - 90 * DAY

const prune = async (store: Store): Promise<readonly string[]> => {
  const [{ runs }] = await commitOne(store, [{ op: 'prune', before: BEFORE, limit: 10 }])
  return runs
}

const settleFailedAt = (now: number): Op => ({ ...settleOp('failed'), now }) as Op

const newUnknown = (id: string): UnknownOutcome => ({
  ...{ id: `unknown-${id}`, session_id: `session-${id}`, dispatch_id: id, tool: 'pay', args: {}, reach: 'third_party' },
  ...{ started_at: new Date(TEST_NOW).toISOString(), output_so_far: '', status: 'open', resolution: null },
})

/** Reasons to keep a session of any age, with a function that creates it; `none`: no reason. */
const REASONS: Readonly<Record<string, (store: Store, fence: Fence) => Promise<unknown>>> = {
  none: (store, fence) => commitOne(store, [settleFailedAt(TEST_NOW)], fence),
  'has just ended': (store, fence) => commitOne(store, [settleFailedAt(LATER)], fence),
  'is running': async () => {},
  'is waiting': (store, fence) => commitOne(store, [{ op: 'park', wait: WAIT_FOR_MESSAGE, now: TEST_NOW }], fence),
  'is pending': (store, fence) => commitOne(store, [{ op: 'release', now: TEST_NOW }], fence),
  'has unread input': async (store, fence) => {
    const session_id = `session-${fence.dispatch_id}`
    const observation = newTestMessage('m')
    await commitOne(store, [{ op: 'publish', session_id, observation, successor_id: 'unused', now: TEST_NOW }])
    await commitOne(store, [settleFailedAt(TEST_NOW)], fence)
  },
  'has an open approval': async (store, fence) => {
    const approval = { ...newTestApproval('a'), session_id: `session-${fence.dispatch_id}` }
    await commitOne(
      store,
      [
        { op: 'ask', approval },
        { op: 'park', wait: WAIT_FOR_MESSAGE, now: TEST_NOW },
      ] as const,
      fence,
    )
  },
  'has an unknown outcome': (store, fence) =>
    commitOne(store, [{ op: 'unknown', unknown: newUnknown(fence.dispatch_id) }, settleFailedAt(TEST_NOW)], fence),
}

/** Creates a session in the state that the reason names; returns its dispatch id. */
async function createSession(store: Store, reason: string): Promise<string> {
  const id = reason.replaceAll(' ', '-')
  const epoch = await joinTestWorker(store, false)
  await enqueueInStore(store, newTestDispatch(id))
  const [fence] = await claimInStore(store, epoch)
  assert.equal(fence?.dispatch_id, id)
  await REASONS[reason]?.(store, fence)
  return id
}

export const retentionConformance: readonly ConformanceCase[] = [
  ...Object.keys(REASONS).map(
    (reason): ConformanceCase => ({
      name:
        reason === 'none'
          ? 'E6: retention deletes an old, finished session'
          : `E6: retention keeps a session of any age that ${reason}`,
      async run(store) {
        const id = await createSession(store, reason)
        assert.equal(await store.prunable(BEFORE), reason === 'none')
        assert.deepEqual(await prune(store), reason === 'none' ? [id] : [])
        assert.equal(await store.prunable(BEFORE), false)
        assert.equal((await store.session(`session-${id}`)) === undefined, reason === 'none')
      },
    }),
  ),
  ...(['expired before its run ended', 'was denied with the end of its run'] as const).map(
    (what): ConformanceCase => ({
      name: `E6: retention deletes a session whose approval ${what}, once that is old`,
      async run(store) {
        const { fence } = await startDispatch(store)
        await commitOne(store, [{ op: 'ask', approval: newTestApproval('a') }], fence)
        if (what === 'expired before its run ended') await commitOne(store, [{ op: 'promote', now: BEFORE }])
        await commitOne(store, [settleFailedAt(BEFORE)], fence)
        assert.deepEqual(
          (await store.inbox('session-one')).map(({ id }) => id),
          ['approval-a'],
        )
        assert.deepEqual(await prune(store), [], 'it is not old yet')
        const [{ runs }] = await commitOne(store, [{ op: 'prune', before: BEFORE + 1, limit: 10 }])
        assert.deepEqual(runs, ['one'])
      },
    }),
  ),
  {
    name: 'E6: deleting a session deletes all its rows and none of other sessions',
    async run(store) {
      const epoch = await joinTestWorker(store)
      const grant = (id: string): Grant => ({
        ...{ id: `grant-${id}`, tool: 'pay', agent_id: null, session_id: `session-${id}`, to: ['*'], args: null },
        ...{ granted_at: new Date(TEST_NOW).toISOString(), expires_at: null },
      })
      await enqueueInStore(store, newTestDispatch('gone'), newTestDispatch('kept'))
      await enqueueInStore(store, newTestDispatch('child', { parent_id: 'gone' }))
      const fences = await claimInStore(store, epoch, 3)
      for (const [i, fence] of fences.entries()) {
        const id = fence.dispatch_id
        const session_id = `session-${id}`
        const approval = { ...newTestApproval(`approval-${id}`), session_id }
        const unknown: UnknownOutcome = { ...newUnknown(id), status: 'told_model' }
        await commitOne(store, [{ op: 'append', session_id, records: [newTestRecord(1)] }], fence)
        await commitOne(
          store,
          [
            { op: 'ask', approval },
            { op: 'unknown', unknown },
          ],
          fence,
        )
        await commitOne(store, [
          { op: 'grant', grant: grant(id) },
          { op: 'promote', now: TEST_NOW + DAY },
        ])
        const acknowledgeOp: Op = {
          op: 'acknowledge',
          session_id,
          observation_ids: [`approval-approval-${id}`],
          now: TEST_NOW + DAY,
        }
        await commitOne(store, [acknowledgeOp, settleFailedAt(i === 0 ? TEST_NOW + DAY : LATER)], fence)
      }
      assert.deepEqual(await prune(store), ['gone'])
      assert.deepEqual(
        { dispatch: await store.dispatch('gone'), session: await store.session('session-gone') },
        { dispatch: undefined, session: undefined },
      )
      assert.deepEqual(await store.journal('session-gone'), [])
      assert.deepEqual(
        { approval: await store.approval('approval-gone'), unknownCount: (await store.unknowns({})).length },
        { approval: undefined, unknownCount: 2 },
      )
      assert.deepEqual(
        (await store.grants({ now: LATER })).map(({ id }) => id),
        ['grant-kept', 'grant-child'],
      )
      assert.equal((await store.dispatch('child'))?.parent_id, null)
      assert.equal((await store.journal('session-kept')).length, 1)
      assert.deepEqual(
        { failed: (await store.counts()).failed, problems: await store.verify() },
        { failed: 2, problems: [] },
      )
    },
  },
  {
    name: 'E6: old, finished messages and cycles are deleted; pending ones are kept',
    async run(store) {
      for (const id of ['sent', 'failed', 'pending']) {
        const newMessage = { id, channel: 'webhook', chat_id: null, kind: 'notice', text: 'x' } as const
        await commitOne(store, [{ op: 'post', message: newMessage, due: TEST_NOW, now: TEST_NOW }])
      }
      await commitOne(store, [
        { op: 'delivered', id: 'sent', now: TEST_NOW },
        { op: 'undelivered', id: 'failed', error: 'e', retry_at: null },
      ])
      for (const cycle_id of ['ended', 'open'])
        await commitOne(store, [
          { op: 'cycle_begin', cycle_id, kernel_id: cycle_id, trigger: 'schedule', due: null, now: TEST_NOW },
        ])
      await commitOne(store, [{ op: 'cycle_end', result: errorCycleResult('ended', 'e', 1), open: [], now: TEST_NOW }])
      await prune(store)
      assert.deepEqual(
        (await store.outbox({ limit: 9 })).map(({ id }) => id),
        ['pending'],
      )
      assert.deepEqual([await store.cycles('ended', { limit: 9 })].flat(), [])
      assert.equal((await store.cycles('open', { limit: 9 })).length, 1)
    },
  },
]
