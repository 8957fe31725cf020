/** The rhythm of beats beside work that takes longer than they are apart, over hours, whatever the clock does meanwhile. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../src/app.ts'
import type { Cycle } from '../../src/domain/cycle.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  diligentScript,
  listAllCycles,
  listDispatches,
  MINUTE,
  NOON,
  openKernelApp,
  type TestAgent,
  taskIn,
} from '../support/kernels.ts'
import { advanceUntilDone, idleWaiter, waitUntil } from '../support/open-app.ts'

const HOUR = 60 * MINUTE

interface Alive {
  readonly app: App
  readonly clock: FakeClock
  /** Time passes, from beat to beat: no clock runs on while a cycle is on its way, or a quick agent at work. */
  live(ms: number): Promise<void>
  stop(): Promise<unknown>
}

/** A kernel that lives, and whose agent `slow` takes so long for each answer. */
async function alive(
  t: TestContext,
  slowFor: number,
  {
    agents = [{ agent_id: 'quick' }, { agent_id: 'slow', timeout: '9h' }],
    kernel = {},
    rhythm = { kernel: 10 },
  }: {
    readonly agents?: readonly TestAgent[]
    readonly kernel?: object
    readonly rhythm?: Record<string, number>
  } = {},
): Promise<Alive> {
  const clock = new FakeClock({ now: NOON })
  const scripted = scriptedModel(diligentScript)
  const model = {
    ...scripted,
    async call(...given: Parameters<typeof scripted.call>) {
      if (taskIn(given[0]).includes('work of slow')) await clock.sleep(slowFor, given[1].signal)
      return scripted.call(...given)
    },
  }
  const [drain, abort] = [new AbortController(), new AbortController()]
  const { app } = await openKernelApp(t, {
    agents,
    kernel: { planner: { mode: 'static' }, ...kernel },
    clock,
    options: { model, signals: { drain: drain.signal, abort: abort.signal } },
  })
  const life = app.run('start', {})
  life.catch(() => {})
  t.after(() => abort.abort())
  t.after(() => drain.abort())
  await waitUntil(() => app.context.kernel.nextBeatAt() !== undefined)
  /** Whether everything that the beats of this instant bring has been brought, as far as it is quick. */
  const isDone = async (instant: number): Promise<boolean> => {
    const begun = (await listAllCycles(app)).filter(({ due }) => due !== null && Date.parse(due) === instant)
    const sent = (await listDispatches(app)).filter(({ agent_id }) => agent_id !== 'slow')
    const { length } = sent.filter(({ created_at }) => Date.parse(created_at) >= instant)
    const beats = Object.values(rhythm).filter((minutes) => (instant - NOON) % (minutes * MINUTE) === 0).length
    return (instant === NOON || begun.length >= beats) && length > 0 && sent.every(({ status }) => status === 'done')
  }
  return {
    app,
    clock,
    async live(ms) {
      const end = clock.now() + ms
      for (;;) {
        const now = clock.now()
        // A beat that does not come fails the test by what is on record in the end.
        if (Object.values(rhythm).some((minutes) => (now - NOON) % (minutes * MINUTE) === 0))
          for (let polls = 0; polls < 300 && !(await isDone(now)); polls += 1) await pause(10)
        if (now >= end) return
        const nexts = Object.values(rhythm).map((minutes) => nextMultiple(now, minutes * MINUTE))
        await pass(clock, Math.min(end, ...nexts))
      }
    },
    stop() {
      drain.abort()
      // What is still under way would take its time.
      abort.abort()
      return advanceUntilDone(clock, life)
    },
  }
}

/** After noon: that is where all of them are counted from. */
const nextMultiple = (now: number, ms: number): number => NOON + (Math.floor((now - NOON) / ms) + 1) * ms

/** Event by event. */
async function pass(clock: FakeClock, to: number): Promise<void> {
  const rest = idleWaiter()
  while (clock.now() < to) {
    await rest()
    await clock.advance(Math.min(clock.nextIn ?? to - clock.now(), to - clock.now()))
  }
}

const cyclesOf = async (app: App, schedule = 'kernel:default'): Promise<readonly Cycle[]> =>
  (await listAllCycles(app)).filter(({ trigger }) => trigger === schedule).toReversed()

/** Minutes after noon at which a schedule's beats were due, and by how much each was late. */
const beatsOf = async (app: App, schedule?: string): Promise<readonly (readonly [minute: number, late: number])[]> =>
  (await cyclesOf(app, schedule)).map(({ due, started_at }) => {
    const instant = Date.parse(due ?? '')
    return [(instant - NOON) / MINUTE, Date.parse(started_at) - instant] as const
  })

/** Minutes after noon at which an agent was sent. */
const sentAt = async (app: App, agent: string): Promise<readonly number[]> =>
  (await listDispatches(app))
    .filter(({ agent_id }) => agent_id === agent)
    .map(({ created_at }) => (Date.parse(created_at) - NOON) / MINUTE)
    .toSorted((a, b) => a - b)

const every = (minutes: number, from: number, to: number): readonly number[] =>
  Array.from({ length: Math.floor((to - from) / minutes) + 1 }, (_, n) => from + n * minutes)

describe('a quick agent beside a slow one (E1, I5)', () => {
  test('E1: the first cycle takes an hour: every beat is on time from the first on, and the quick one goes with each', async (t) => {
    const { app, live, stop } = await alive(t, 30 * MINUTE)
    await live(3 * HOUR + MINUTE)
    assert.deepEqual(
      await beatsOf(app),
      every(10, 10, 180).map((minute) => [minute, 0]),
    )
    assert.deepEqual(await sentAt(app, 'quick'), every(10, 0, 180))
    // Each takes two answers, so an hour, and is sent again with the next beat.
    assert.deepEqual(await sentAt(app, 'slow'), [0, 60, 120, 180])
    const counted = (await cyclesOf(app)).flatMap(({ result }) => result?.agents ?? [])
    const ends = counted.filter(({ agent_id, status }) => agent_id === 'slow' && status === 'done')
    // The third came to its end with the last beat, whose cycle is not over.
    assert.ok(ends.length >= 2 && new Set(ends.map(({ dispatch_id }) => dispatch_id)).size === ends.length)
    await stop()
  })

  test('E1: the owner’s own limit for a cycle is a limit, not a licence: no beat is late for it', async (t) => {
    const { app, live, stop } = await alive(t, 45 * MINUTE, { kernel: { timeout: '25m' } })
    await live(HOUR + MINUTE)
    assert.deepEqual(
      await beatsOf(app),
      every(10, 10, 60).map((minute) => [minute, 0]),
    )
    await stop()
  })

  test('E1: the machine slept through beats while a slow one was at work: the newest is made up for, and the rhythm is back', async (t) => {
    const { app, clock, live, stop } = await alive(t, 45 * MINUTE)
    await live(14 * MINUTE)
    // Up again at 13:05, with the same time still to go on every timer.
    clock.setWall(NOON + 65 * MINUTE)
    await live(2 * HOUR)
    const beats = await beatsOf(app)
    const [first, madeUp, ...rest] = beats
    assert.deepEqual([first, madeUp?.[0]], [[10, 0], 60])
    assert.ok((madeUp?.[1] ?? 0) < 10 * MINUTE, `it came to it ${madeUp?.[1]} ms late`)
    assert.deepEqual(
      rest,
      every(10, 70, 180).map((minute) => [minute, 0]),
    )
    await stop()
  })

  test('E1: the clock is put back and forward while a slow one is at work: no instant twice, and each that comes is on time', async (t) => {
    const { app, clock, live, stop } = await alive(t, 45 * MINUTE)
    await live(24 * MINUTE)
    clock.setWall(clock.now() - 15 * MINUTE)
    // Quiet until the clock has come to where it was.
    await live(40 * MINUTE)
    assert.deepEqual(
      await beatsOf(app),
      every(10, 10, 40).map((minute) => [minute, 0]),
    )
    clock.setWall(clock.now() + 33 * MINUTE)
    await live(HOUR)
    const beats = await beatsOf(app)
    assert.deepEqual(
      beats.map(([minute]) => minute),
      [10, 20, 30, 40, ...every(10, 80, 140)],
    )
    assert.deepEqual(
      beats.filter(([minute]) => minute > 80).map(([, late]) => late),
      Array(6).fill(0),
    )
    await stop()
  })

  test('E1: several schedules: each keeps its own instants, also where two come at the same one', async (t) => {
    const rhythm = { 'kernel:default': 10, 'agent:quick': 15, 'agent:early': 20 }
    const agents = [
      { agent_id: 'slow', timeout: '9h' },
      { agent_id: 'quick', schedule: { every: '15m' } },
      { agent_id: 'early', schedule: { every: '20m' } },
    ]
    const { app, live, stop } = await alive(t, 45 * MINUTE, { agents, rhythm })
    await live(2 * HOUR)
    for (const [schedule, minutes] of Object.entries(rhythm))
      assert.deepEqual(
        await beatsOf(app, schedule),
        every(minutes, minutes, 120).map((minute) => [minute, 0]),
        schedule,
      )
    await stop()
  })

  test('E1: a cycle gives way to one that is asked for by hand, and what it was waiting for is told by that one', async (t) => {
    const { app, clock, live, stop } = await alive(t, 3 * MINUTE)
    await live(10 * MINUTE + 1000)
    const asked = (await advanceUntilDone(clock, app.run('cycle now', {}))) as NonNullable<Cycle['result']>
    const slow = (await cyclesOf(app))[0]?.result?.agents.find(({ agent_id }) => agent_id === 'slow')
    assert.equal(slow?.status, 'running')
    const told = asked.agents.find(({ dispatch_id }) => dispatch_id === slow?.dispatch_id)
    assert.equal(told?.status, 'done')
    await stop()
  })
})
