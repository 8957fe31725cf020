/** Beats stay on time over hours while a slow agent works, also when the clock is changed. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../src/app.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  diligentScript,
  type ListedCycle,
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

interface BeatingKernel {
  readonly app: App
  readonly clock: FakeClock
  /** Advances from beat to beat; the clock waits for cycles and quick agents to finish. */
  advance(ms: number): Promise<void>
  stop(): Promise<unknown>
}

/** Starts a kernel whose agent `slow` needs `slowFor` milliseconds per model answer. */
async function startBeatingKernel(
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
): Promise<BeatingKernel> {
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
  const running = app.run('start', {})
  running.catch(() => {})
  t.after(() => abort.abort())
  t.after(() => drain.abort())
  await waitUntil(() => app.context.kernel.nextBeatAt() !== undefined)
  return {
    app,
    clock,
    advance: (ms) => advanceThroughBeats({ app, clock, rhythm }, ms),
    stop() {
      drain.abort()
      // Without the abort, the slow agent would keep the kernel running.
      abort.abort()
      return advanceUntilDone(clock, running)
    },
  }
}

interface Beats {
  readonly app: App
  readonly clock: FakeClock
  /** The minutes between two beats of each schedule. */
  readonly rhythm: Readonly<Record<string, number>>
}

/** Whether all cycles due at this instant have started and all quick agents are done. */
async function isDone({ app, rhythm }: Beats, instant: number): Promise<boolean> {
  const dueCycles = (await listAllCycles(app)).filter(({ due }) => due !== null && Date.parse(due) === instant)
  const quickDispatches = (await listDispatches(app)).filter(({ agent_id }) => agent_id !== 'slow')
  const { length } = quickDispatches.filter(({ created_at }) => Date.parse(created_at) >= instant)
  const beats = Object.values(rhythm).filter((minutes) => (instant - NOON) % (minutes * MINUTE) === 0).length
  return (
    (instant === NOON || dueCycles.length >= beats) &&
    length > 0 &&
    quickDispatches.every(({ status }) => status === 'done')
  )
}

/** Stops at each beat until its work is done. */
async function advanceThroughBeats(beats: Beats, ms: number): Promise<void> {
  const { clock, rhythm } = beats
  const end = clock.now() + ms
  for (;;) {
    const now = clock.now()
    // The polls are limited: a missing beat fails the assertions at the end.
    if (Object.values(rhythm).some((minutes) => (now - NOON) % (minutes * MINUTE) === 0))
      for (let polls = 0; polls < 300 && !(await isDone(beats, now)); polls += 1) await pause(10)
    if (now >= end) return
    const nexts = Object.values(rhythm).map((minutes) => nextMultiple(now, minutes * MINUTE))
    await advanceTo(clock, Math.min(end, ...nexts))
  }
}

/** Multiples are counted from noon. */
const nextMultiple = (now: number, ms: number): number => NOON + (Math.floor((now - NOON) / ms) + 1) * ms

/** Advances timer by timer. */
async function advanceTo(clock: FakeClock, to: number): Promise<void> {
  const waitUntilIdle = idleWaiter()
  while (clock.now() < to) {
    await waitUntilIdle()
    await clock.advance(Math.min(clock.nextIn ?? to - clock.now(), to - clock.now()))
  }
}

const cyclesOf = async (app: App, schedule = 'kernel:default'): Promise<readonly ListedCycle[]> =>
  (await listAllCycles(app)).filter(({ trigger }) => trigger === schedule).toReversed()

/** Per beat of a schedule: when it was due, in minutes after noon, and its delay in milliseconds. */
const beatsOf = async (app: App, schedule?: string): Promise<readonly (readonly [minute: number, late: number])[]> =>
  (await cyclesOf(app, schedule)).map(({ due, started_at }) => {
    const instant = Date.parse(due ?? '')
    return [(instant - NOON) / MINUTE, Date.parse(started_at) - instant] as const
  })

/** The dispatch times of an agent, in minutes after noon. */
const dispatchMinutesOf = async (app: App, agent: string): Promise<readonly number[]> =>
  (await listDispatches(app))
    .filter(({ agent_id }) => agent_id === agent)
    .map(({ created_at }) => (Date.parse(created_at) - NOON) / MINUTE)
    .toSorted((a, b) => a - b)

const every = (minutes: number, from: number, to: number): readonly number[] =>
  Array.from({ length: Math.floor((to - from) / minutes) + 1 }, (_, n) => from + n * minutes)

describe('a quick agent and a slow one (E1, I5)', () => {
  test('E1: while an agent takes an hour, each beat is on time and runs the quick agent', async (t) => {
    const { app, advance, stop } = await startBeatingKernel(t, 30 * MINUTE)
    await advance(3 * HOUR + MINUTE)
    assert.deepEqual(
      await beatsOf(app),
      every(10, 10, 180).map((minute) => [minute, 0]),
    )
    assert.deepEqual(await dispatchMinutesOf(app, 'quick'), every(10, 0, 180))
    // A run needs two answers, so one hour; the next beat dispatches the agent again.
    assert.deepEqual(await dispatchMinutesOf(app, 'slow'), [0, 60, 120, 180])
    const counted = (await cyclesOf(app)).flatMap(({ result }) => result?.agents ?? [])
    const ends = counted.filter(({ agent_id, status }) => agent_id === 'slow' && status === 'done')
    // The third run ended with the last beat, whose cycle has not ended.
    assert.ok(ends.length >= 2 && new Set(ends.map(({ dispatch_id }) => dispatch_id)).size === ends.length)
    await stop()
  })

  test('E1: a cycle timeout longer than the beat interval delays no beat', async (t) => {
    const { app, advance, stop } = await startBeatingKernel(t, 45 * MINUTE, { kernel: { timeout: '25m' } })
    await advance(HOUR + MINUTE)
    assert.deepEqual(
      await beatsOf(app),
      every(10, 10, 60).map((minute) => [minute, 0]),
    )
    await stop()
  })

  test('E1: after the machine slept, the newest missed beat is caught up, then beats are on time', async (t) => {
    const { app, clock, advance, stop } = await startBeatingKernel(t, 45 * MINUTE)
    await advance(14 * MINUTE)
    // The machine wakes at 13:05; each timer still has its remaining time.
    clock.setWall(NOON + 65 * MINUTE)
    await advance(2 * HOUR)
    const beats = await beatsOf(app)
    const [first, caughtUp, ...rest] = beats
    assert.deepEqual({ first, caughtUp: caughtUp?.[0] }, { first: [10, 0], caughtUp: 60 })
    assert.ok((caughtUp?.[1] ?? 0) < 10 * MINUTE, `the caught-up beat was ${caughtUp?.[1]} ms late`)
    assert.deepEqual(
      rest,
      every(10, 70, 180).map((minute) => [minute, 0]),
    )
    await stop()
  })

  test('E1: when the clock is set back and forward, no beat runs twice and the others are on time', async (t) => {
    const { app, clock, advance, stop } = await startBeatingKernel(t, 45 * MINUTE)
    await advance(24 * MINUTE)
    clock.setWall(clock.now() - 15 * MINUTE)
    // No beat until the clock is back where it was.
    await advance(40 * MINUTE)
    assert.deepEqual(
      await beatsOf(app),
      every(10, 10, 40).map((minute) => [minute, 0]),
    )
    clock.setWall(clock.now() + 33 * MINUTE)
    await advance(HOUR)
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

  test('E1: several schedules keep their own beats, also when two coincide', async (t) => {
    const rhythm = { 'kernel:default': 10, 'agent:quick': 15, 'agent:early': 20 }
    const agents = [
      { agent_id: 'slow', timeout: '9h' },
      { agent_id: 'quick', schedule: { every: '15m' } },
      { agent_id: 'early', schedule: { every: '20m' } },
    ]
    const { app, advance, stop } = await startBeatingKernel(t, 45 * MINUTE, { agents, rhythm })
    await advance(2 * HOUR)
    for (const [schedule, minutes] of Object.entries(rhythm))
      assert.deepEqual(
        await beatsOf(app, schedule),
        every(minutes, minutes, 120).map((minute) => [minute, 0]),
        schedule,
      )
    await stop()
  })

  test('E1: a manual cycle ends the current one and reports the run it was waiting for', async (t) => {
    const { app, clock, advance, stop } = await startBeatingKernel(t, 3 * MINUTE)
    await advance(10 * MINUTE + 1000)
    const manual = await advanceUntilDone(clock, app.run('cycle now', {}))
    const slow = (await cyclesOf(app))[0]?.result?.agents.find(({ agent_id }) => agent_id === 'slow')
    assert.equal(slow?.status, 'running')
    const reported = manual.agents.find(({ dispatch_id }) => dispatch_id === slow?.dispatch_id)
    assert.equal(reported?.status, 'done')
    await stop()
  })
})
