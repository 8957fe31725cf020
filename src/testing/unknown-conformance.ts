/** Store conformance: unknown outcomes, grants and labels. */

import assert from 'node:assert/strict'
import type { UnknownOutcome } from '../domain/unknown-outcome.ts'
import type { Wait } from '../domain/wait.ts'
import { commitOne } from '../ports/store.ts'
import {
  assertRefusedWith,
  type ConformanceCase,
  claimInStore,
  readStatus,
  startDispatch,
  TEST_NOW,
  WAIT_FOR_MESSAGE,
} from './store-test-helpers.ts'

export const unknownConformance: readonly ConformanceCase[] = [
  {
    name: 'unknowns: resolved once, which wakes the waiting run; an earlier resolution is not lost',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      const unknown: UnknownOutcome = {
        id: 'u1',
        session_id: 'session-one',
        dispatch_id: 'one',
        tool: 'pay',
        args: { amount: 1 },
        reach: 'third_party',
        started_at: '2020-01-01T00:00:00.000Z',
        output_so_far: '',
        status: 'open',
        resolution: null,
      }
      const wait: Wait = { kind: 'unknown', unknown_id: 'u1', until: null, reason: 'a resolution' }
      await commitOne(
        store,
        [
          { op: 'unknown', unknown },
          { op: 'park', wait, now: TEST_NOW },
        ],
        fence,
      )
      assert.deepEqual(await store.unknowns({}), [unknown])
      assert.deepEqual(await store.unknowns({ session_id: 'elsewhere' }), [])
      assert.deepEqual(await store.unknowns({ session_id: 'session-one', status: 'open' }), [unknown])
      assert.deepEqual(await store.unknowns({ status: 'resolved' }), [])
      const resolve = (id: string): Promise<unknown> =>
        commitOne(store, [{ op: 'resolve', unknown_id: id, as: 'happened', now: TEST_NOW }])
      await assertRefusedWith('not_found', resolve('u9'))
      await resolve('u1')
      await assertRefusedWith('conflict', resolve('u1'))
      assert.deepEqual(await store.unknowns({ status: 'open' }), [])
      assert.equal((await store.unknowns({ session_id: 'session-one', status: 'resolved' })).length, 1)
      assert.equal(await readStatus(store, 'one'), 'pending')
      const [fresh] = await claimInStore(store, epoch)
      const [{ parked }] = await commitOne(store, [{ op: 'park', wait, now: TEST_NOW }], fresh)
      assert.equal(parked, false)
    },
  },
  {
    name: 'resolving an unknown outcome does not wake a run that waits for something else',
    async run(store) {
      const { fence } = await startDispatch(store)
      const unknown: UnknownOutcome = {
        ...{ id: 'u1', session_id: 'session-one', dispatch_id: 'one', tool: 'pay', args: {}, reach: 'third_party' },
        ...{ started_at: '2020-01-01T00:00:00.000Z', output_so_far: '', status: 'open', resolution: null },
      }
      await commitOne(
        store,
        [
          { op: 'unknown', unknown },
          { op: 'park', wait: WAIT_FOR_MESSAGE, now: TEST_NOW },
        ],
        fence,
      )
      await commitOne(store, [{ op: 'resolve', unknown_id: 'u1', as: 'not', now: TEST_NOW }])
      assert.equal(await readStatus(store, 'one'), 'waiting')
    },
  },
  {
    name: 'case 139: a grant is listed until it expires or is revoked',
    async run(store) {
      const grant = {
        ...{ id: 'g', tool: 'pay', agent_id: null, session_id: null, to: ['*'], args: null },
        ...{ granted_at: new Date(TEST_NOW).toISOString(), expires_at: new Date(TEST_NOW + 1000).toISOString() },
      }
      await commitOne(store, [
        { op: 'grant', grant },
        { op: 'grant', grant: { ...grant, id: 'h', expires_at: null } },
      ])
      const listed = async (now: number, tool?: string) => (await store.grants({ now, tool })).map(({ id }) => id)
      assert.deepEqual(
        { before: await listed(TEST_NOW + 999), at: await listed(TEST_NOW + 1000) },
        { before: ['g', 'h'], at: ['h'] },
      )
      assert.deepEqual(
        { pay: await listed(TEST_NOW, 'pay'), send: await listed(TEST_NOW, 'send') },
        { pay: ['g', 'h'], send: [] },
      )
      assert.deepEqual(await commitOne(store, [{ op: 'revoke', id: 'h' }]), [{ revoked: true }])
      assert.deepEqual(await listed(TEST_NOW + 1000), [])
    },
  },
  {
    name: 'I12: a label can only become stricter, until the owner removes it',
    async run(store) {
      const label = (trust: 'trusted' | 'untrusted', isPrivate: boolean) =>
        commitOne(store, [{ op: 'label', of: 'workspace /w', label: { trust, private: isPrivate } }])
      await label('untrusted', false)
      await label('trusted', true)
      await label('trusted', false)
      assert.deepEqual(await store.label('workspace /w'), { trust: 'untrusted', private: true })
      await commitOne(store, [{ op: 'label', of: 'workspace /w', label: null }])
      assert.equal(await store.label('workspace /w'), undefined)
    },
  },
]
