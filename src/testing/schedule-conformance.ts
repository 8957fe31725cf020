/** Store conformance: schedules. */

import assert from 'node:assert/strict'
import type { NewScheduleEntry } from '../domain/schedule.ts'
import { iso } from '../ports/clock.ts'
import { commitOne, type Store } from '../ports/store.ts'

const NOW = 1_000_000

const newEntry = (id: string, more: Partial<NewScheduleEntry> = {}): NewScheduleEntry => ({
  id,
  spec: '*/10 * * * *',
  timezone: 'Asia/Shanghai',
  agent_id: 'agent',
  prompt: null,
  created_at: iso(NOW),
  ...more,
})

const addSchedule = (store: Store, entry: NewScheduleEntry, now = NOW) =>
  commitOne(store, [{ op: 'schedule_put', entry, now }])

const openSchedule = async (store: Store, id: string, now: number): Promise<number> =>
  (await commitOne(store, [{ op: 'schedule_open', id, now }]))[0].until

const fireSchedule = async (store: Store, id: string, instant: number): Promise<boolean> =>
  (await commitOne(store, [{ op: 'schedule_fired', id, instant }]))[0].first

const pauseSchedule = (store: Store, id: string, paused: boolean, now = NOW) =>
  commitOne(store, [{ op: 'schedule_pause', id, paused, now }])

export const scheduleConformance: readonly { readonly name: string; run(store: Store): Promise<void> }[] = [
  {
    name: 'E1: schedules are returned unchanged, oldest first; a duplicate id is refused',
    async run(store) {
      const entries = [
        newEntry('z', { prompt: '写日报 "now"' }),
        newEntry('b', { spec: { every: 30_000 } }),
        newEntry('a', { spec: { at: '2026-01-31T09:00:00+08:00' }, timezone: 'UTC' }),
      ]
      for (const entry of entries) await addSchedule(store, entry)
      await assert.rejects(addSchedule(store, newEntry('b', { agent_id: 'other' })), { code: 'conflict' })
      assert.deepEqual(
        await store.schedules(),
        entries.map((entry) => ({ ...entry, paused: false })),
      )
    },
  },
  {
    name: 'reliability: each instant of a schedule fires once, and none before the last fired one',
    async run(store) {
      assert.deepEqual(await store.marks(), [])
      const first: boolean[] = []
      for (const instant of [NOW, NOW, NOW + 10, NOW + 5, NOW + 10, NOW + 11])
        first.push(await fireSchedule(store, 'kernel:default', instant))
      assert.deepEqual(first, [true, false, true, false, false, true])
      assert.equal(await fireSchedule(store, 'agent:x', NOW), true)
      assert.deepEqual(await store.marks(), [
        { schedule_id: 'agent:x', until: NOW, fired: NOW },
        { schedule_id: 'kernel:default', until: NOW + 11, fired: NOW + 11 },
      ])
    },
  },
  {
    name: 'E1: a new schedule has no earlier beats due; later only fired beats are done',
    async run(store) {
      assert.equal(await openSchedule(store, 'kernel:default', NOW), NOW)
      assert.deepEqual(await store.marks(), [{ schedule_id: 'kernel:default', until: NOW, fired: null }])
      assert.equal(await fireSchedule(store, 'kernel:default', NOW), false)
      assert.equal(await openSchedule(store, 'kernel:default', NOW + 100), NOW)
      assert.equal(await fireSchedule(store, 'kernel:default', NOW + 20), true)
      assert.equal(await openSchedule(store, 'kernel:default', NOW + 100), NOW + 20)
    },
  },
  {
    name: 'E1: an added schedule starts at its creation; removing it removes its mark',
    async run(store) {
      await addSchedule(store, newEntry('a'))
      assert.equal(await openSchedule(store, 'a', NOW + 100), NOW)
      assert.equal(await fireSchedule(store, 'a', NOW + 50), true)
      assert.deepEqual(await commitOne(store, [{ op: 'schedule_remove', id: 'a' }]), [{ removed: true }])
      assert.deepEqual({ schedules: await store.schedules(), marks: await store.marks() }, { schedules: [], marks: [] })
      // A beat of the removed schedule was still running.
      assert.equal(await fireSchedule(store, 'a', NOW + 60), true)
      await addSchedule(store, newEntry('a'), NOW + 80)
      assert.deepEqual(await store.marks(), [{ schedule_id: 'a', until: NOW + 80, fired: null }])
    },
  },
  {
    name: 'E1: beats missed during a pause are skipped, and fired beats do not repeat',
    async run(store) {
      await addSchedule(store, newEntry('a'))
      await pauseSchedule(store, 'a', true, NOW + 10)
      assert.deepEqual(
        (await store.schedules()).map(({ paused }) => paused),
        [true],
      )
      assert.equal(await openSchedule(store, 'a', NOW), NOW)
      await pauseSchedule(store, 'a', false, NOW + 60)
      assert.equal((await store.schedules())[0]?.paused, false)
      assert.equal(await openSchedule(store, 'a', NOW), NOW + 60)
      assert.equal(await fireSchedule(store, 'a', NOW + 500), true)
      await pauseSchedule(store, 'a', false, NOW + 100)
      assert.equal(await openSchedule(store, 'a', NOW), NOW + 500)
    },
  },
  {
    name: 'E1: a configured schedule cannot be paused or removed',
    async run(store) {
      await fireSchedule(store, 'kernel:default', NOW)
      await assert.rejects(pauseSchedule(store, 'a', true), { code: 'not_found' })
      assert.deepEqual(await commitOne(store, [{ op: 'schedule_remove', id: 'kernel:default' }]), [{ removed: false }])
      assert.equal((await store.marks()).length, 1)
    },
  },
]
