/** What every store must show of schedules; part of the store's conformance suite. */

import assert from 'node:assert/strict'
import type { NewScheduleEntry } from '../domain/schedule.ts'
import { iso } from '../ports/clock.ts'
import { commitOne, type Store } from '../ports/store.ts'

const NOW = 1_000_000

const entryOf = (id: string, more: Partial<NewScheduleEntry> = {}): NewScheduleEntry => ({
  id,
  spec: '*/10 * * * *',
  timezone: 'Asia/Shanghai',
  agent_id: 'agent',
  prompt: null,
  created_at: iso(NOW),
  ...more,
})

const put = (store: Store, entry: NewScheduleEntry, now = NOW) => commitOne(store, [{ op: 'schedule_put', entry, now }])

const open = async (store: Store, id: string, now: number): Promise<number> =>
  (await commitOne(store, [{ op: 'schedule_open', id, now }]))[0].until

const fired = async (store: Store, id: string, instant: number): Promise<boolean> =>
  (await commitOne(store, [{ op: 'schedule_fired', id, instant }]))[0].first

const pause = (store: Store, id: string, paused: boolean, now = NOW) =>
  commitOne(store, [{ op: 'schedule_pause', id, paused, now }])

export const scheduleConformance: readonly { readonly name: string; run(store: Store): Promise<void> }[] = [
  {
    name: 'E1: schedules come back as they were added, oldest first; one of the same id is refused and changes nothing',
    async run(store) {
      const entries = [
        entryOf('z', { prompt: '写日报 "now"' }),
        entryOf('b', { spec: { every: 30_000 } }),
        entryOf('a', { spec: { at: '2026-01-31T09:00:00+08:00' }, timezone: 'UTC' }),
      ]
      for (const entry of entries) await put(store, entry)
      await assert.rejects(put(store, entryOf('b', { agent_id: 'other' })), { code: 'conflict' })
      assert.deepEqual(
        await store.schedules(),
        entries.map((entry) => ({ ...entry, paused: false })),
      )
    },
  },
  {
    name: 'reliability: each instant of a schedule fires once, and none behind one that has fired; another schedule has its own',
    async run(store) {
      assert.deepEqual(await store.marks(), [])
      const first: boolean[] = []
      for (const instant of [NOW, NOW, NOW + 10, NOW + 5, NOW + 10, NOW + 11])
        first.push(await fired(store, 'kernel:default', instant))
      assert.deepEqual(first, [true, false, true, false, false, true])
      assert.equal(await fired(store, 'agent:x', NOW), true)
      assert.deepEqual(await store.marks(), [
        { schedule_id: 'agent:x', until: NOW, fired: NOW },
        { schedule_id: 'kernel:default', until: NOW + 11, fired: NOW + 11 },
      ])
    },
  },
  {
    name: 'E1: the first time a schedule is opened nothing before is due; later on, what has fired since is over, and nothing else',
    async run(store) {
      assert.equal(await open(store, 'kernel:default', NOW), NOW)
      assert.deepEqual(await store.marks(), [{ schedule_id: 'kernel:default', until: NOW, fired: null }])
      assert.equal(await fired(store, 'kernel:default', NOW), false)
      assert.equal(await open(store, 'kernel:default', NOW + 100), NOW)
      assert.equal(await fired(store, 'kernel:default', NOW + 20), true)
      assert.equal(await open(store, 'kernel:default', NOW + 100), NOW + 20)
    },
  },
  {
    name: 'E1: an added schedule is open from then on; with it goes how far it had come',
    async run(store) {
      await put(store, entryOf('a'))
      assert.equal(await open(store, 'a', NOW + 100), NOW)
      assert.equal(await fired(store, 'a', NOW + 50), true)
      assert.deepEqual(await commitOne(store, [{ op: 'schedule_remove', id: 'a' }]), [{ removed: true }])
      assert.deepEqual([await store.schedules(), await store.marks()], [[], []])
      // A beat of it that was still at work.
      assert.equal(await fired(store, 'a', NOW + 60), true)
      await put(store, entryOf('a'), NOW + 80)
      assert.deepEqual(await store.marks(), [{ schedule_id: 'a', until: NOW + 80, fired: null }])
    },
  },
  {
    name: 'E1: a paused schedule says so; when it goes on, what was due meanwhile is over, and nothing that was is due again',
    async run(store) {
      await put(store, entryOf('a'))
      await pause(store, 'a', true, NOW + 10)
      assert.deepEqual(
        (await store.schedules()).map(({ paused }) => paused),
        [true],
      )
      assert.equal(await open(store, 'a', NOW), NOW)
      await pause(store, 'a', false, NOW + 60)
      assert.equal((await store.schedules())[0]?.paused, false)
      assert.equal(await open(store, 'a', NOW), NOW + 60)
      assert.equal(await fired(store, 'a', NOW + 500), true)
      await pause(store, 'a', false, NOW + 100)
      assert.equal(await open(store, 'a', NOW), NOW + 500)
    },
  },
  {
    name: 'E1: a schedule that was not added is neither paused nor removed',
    async run(store) {
      await fired(store, 'kernel:default', NOW)
      await assert.rejects(pause(store, 'a', true), { code: 'not_found' })
      assert.deepEqual(await commitOne(store, [{ op: 'schedule_remove', id: 'kernel:default' }]), [{ removed: false }])
      assert.equal((await store.marks()).length, 1)
    },
  },
]
