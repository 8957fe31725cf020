/** Kills the process in every phase of a cycle and checks what the next start does. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { Cycle } from '../../src/domain/cycle.ts'
import { type Dispatch, isTerminal } from '../../src/domain/dispatch.ts'
import type { Effect } from '../../src/domain/effect.ts'
import { textOutsideBlock } from '../../src/domain/runtime-block.ts'
import type { UnknownOutcome } from '../../src/domain/unknown-outcome.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { freshFolder } from '../support/open-app.ts'
import { type CycleSetup, openCycleApp, SEED_STATE, writeHome } from './cycle-tools.ts'
import { NODE_FLAGS, run, sampled } from './kills.ts'
import { effectsIn } from './recovery-tools.ts'

const MAIN = join(import.meta.dirname, 'cycle-main.ts')
const WORKSPACE: Effect = { recovery: 'once', reach: 'workspace' }
const OUTSIDE: Effect = { recovery: 'once', reach: 'third_party' }
const START = '<!-- KERNEL_RUNTIME:START -->'
const END = '<!-- KERNEL_RUNTIME:END -->'

const newSetup = (t: TestContext, effect = WORKSPACE, kernel = {}): CycleSetup => {
  const home = freshFolder(t)
  writeHome(home, kernel)
  return { home, log: join(home, 'acted.log'), effect }
}

async function killAt(setup: CycleSetup, point: string, command = 'once'): Promise<void> {
  const died = await run(process.execPath, [...NODE_FLAGS, MAIN, JSON.stringify(setup), point, command])
  assert.equal(died.exit, null, `the process was not killed at ${point}: ${died.stdout}${died.stderr}`)
}

interface StoredState {
  readonly dispatches: readonly Dispatch[]
  readonly cycles: readonly Cycle[]
  readonly unknowns: readonly UnknownOutcome[]
}

async function readState(app: App): Promise<StoredState> {
  const items = async <T>(command: string): Promise<readonly T[]> =>
    ((await app.runByName(command, command === 'unknowns list' ? {} : { limit: 1000 })) as { items: T[] }).items
  return {
    dispatches: await items('queue list'),
    cycles: await items('cycles list'),
    unknowns: await items('unknowns list'),
  }
}

const isOfAgent = ({ agent_id }: Dispatch): boolean => agent_id !== 'planner'

/**
 * Runs `start --until-idle`, then one more cycle. Its clock stands still: recovery must not wait for a lease, a
 * deadline or a delay.
 */
async function restartAndCycle(
  t: TestContext,
  setup: CycleSetup,
): Promise<{ readonly recovered: StoredState; readonly found: StoredState }> {
  const app = await openCycleApp(setup, undefined, new FakeClock({ now: Date.now() }))
  t.after(() => app.close())
  await app.run('start', { until_idle: true })
  const recovered = await readState(app)
  await app.run('once', {})
  const found = await readState(app)
  await app.close()
  return { recovered, found }
}

/** Holds for every kill point: nothing stays unfinished, and nothing is done or reported twice. */
function assertConsistent(
  { log, home }: CycleSetup,
  { recovered, found }: Awaited<ReturnType<typeof restartAndCycle>>,
  userText = SEED_STATE,
): void {
  const unknowns = recovered.unknowns.map(({ id }) => id)
  for (const { dispatch_id, status, wait } of recovered.dispatches) {
    const isNamed = status === 'waiting' && wait?.kind === 'unknown' && unknowns.includes(wait.unknown_id)
    assert.ok(isTerminal(status) || isNamed, `${dispatch_id} is ${status} ${JSON.stringify(wait)}`)
  }
  assert.ok(
    recovered.cycles.every(({ ended_at }) => ended_at !== null),
    'the interrupted cycle has ended without another cycle',
  )
  const effects = effectsIn(log)
  assert.equal(new Set(effects).size, effects.length, 'an effect happened twice')
  for (const { dispatch_id, status } of found.dispatches.filter(isOfAgent)) {
    const reported = found.cycles
      .flatMap(({ result }) => result?.agents ?? [])
      .filter((one) => one.dispatch_id === dispatch_id)
    const ended = reported.filter((one) => isTerminal(one.status))
    assert.equal(
      ended.length,
      isTerminal(status) ? 1 : 0,
      `${dispatch_id} is ${status} and was reported as ${JSON.stringify(reported)}`,
    )
  }
  assert.ok(found.cycles.every(({ ended_at }) => ended_at !== null))
  const state = readFileSync(join(home, 'kernels', 'default', 'STATE.md'), 'utf8')
  assert.deepEqual(
    { partsAtStart: state.split(START).length, partsAtEnd: state.split(END).length },
    { partsAtStart: 2, partsAtEnd: 2 },
  )
  assert.equal(textOutsideBlock(state), userText)
  assert.match(
    state,
    new RegExp(`- cycle_id: ${found.cycles[0]?.cycle_id}\n- status: ${found.cycles[0]?.result?.status}`),
  )
}

/** The cycles that the kill interrupted. */
const interruptedCycles = ({ cycles }: StoredState): readonly Cycle[] =>
  cycles.filter(({ result }) => result?.error === 'the program ended during this cycle')

type Phase = 'boot' | 'begin' | 'perceive' | 'orient' | 'decide' | 'act' | 'update' | 'over'

/**
 * By phase and point: whether a cycle is interrupted, and how many dispatches of agents it has enqueued: none, or the
 * whole plan.
 */
const ONCE: readonly (readonly [
  phase: Phase,
  point: string,
  isInterrupted: boolean,
  enqueued: number,
  mode?: string,
])[] = [
  ['boot', 'after document INIT.md seed', false, 0],
  ['boot', 'before project STATE.md', false, 0],
  ['begin', 'before cycle_begin', false, 0],
  ['perceive', 'after cycle_begin', true, 0],
  ['orient', 'before read recent', true, 0],
  ['orient', 'after read recent#2', true, 0],
  ['decide', 'after enqueue planner', true, 0, 'llm'],
  ['decide', 'before model planner', true, 0, 'llm'],
  ['decide', 'after model planner', true, 0, 'llm'],
  ['decide', 'before settle', true, 0, 'llm'],
  ['decide', 'after settle', true, 0, 'llm'],
  ['act', 'before enqueue cycle', true, 0],
  ['act', 'after enqueue cycle', true, 2],
  ['act', 'after claim', true, 2],
  ['act', 'before model agent', true, 2],
  ['act', 'after model agent', true, 2],
  ['act', 'before effect', true, 2],
  ['act', 'after effect', true, 2],
  ['act', 'before settle', true, 2],
  ['act', 'after settle', true, 2],
  ['update', 'before document STATE.md cycle', true, 2],
  ['update', 'after document STATE.md cycle', true, 2],
  ['update', 'before project STATE.md#2', true, 2],
  ['update', 'after project STATE.md#2', true, 2],
  ['update', 'before cycle_end', true, 2],
  ['over', 'after cycle_end', false, 2],
]

/** `npm run crash` kills at every point; each test run at the last of each phase. */
const POINTS =
  process.env.CRASH_SWEEP === 'full'
    ? ONCE
    : ONCE.filter(([phase], i) => ONCE.findLastIndex(([other]) => other === phase) === i)

describe('the start after a cycle that was killed with -9 (case 122, I6)', { concurrency: 2 }, () => {
  for (const [phase, point, isInterrupted, enqueued, mode = 'static'] of POINTS)
    test(`case 122: ${phase}: killed ${point} (${mode}): all work ends once and is counted once`, async (t) => {
      const setup = newSetup(t, WORKSPACE, { planner: { mode } })
      await killAt(setup, point)
      const { recovered, found } = await restartAndCycle(t, setup)
      assertConsistent(setup, { recovered, found })
      const before = recovered.dispatches.filter(isOfAgent)
      assert.equal(interruptedCycles(found).length, isInterrupted ? 1 : 0)
      assert.equal(before.length, enqueued)
      const [last] = found.cycles
      const counted = last?.result?.agents.map(({ dispatch_id }) => dispatch_id) ?? []
      if (isInterrupted)
        assert.deepEqual(
          before.filter(({ dispatch_id }) => !counted.includes(dispatch_id)),
          [],
        )
    })

  test('case 122: a dispatch killed after a third-party effect waits; its agent gets no other', async (t) => {
    const setup = newSetup(t, OUTSIDE)
    await killAt(setup, 'after effect')
    const { recovered, found } = await restartAndCycle(t, setup)
    assertConsistent(setup, { recovered, found })
    const [waiting, ...more] = found.dispatches.filter(({ status }) => status === 'waiting')
    assert.deepEqual({ kind: waiting?.wait?.kind, more }, { kind: 'unknown', more: [] })
    assert.deepEqual(
      found.unknowns.map(({ status, reach }) => ({ status, reach })),
      [{ status: 'open', reach: 'third_party' }],
    )
    assert.equal(found.dispatches.filter(({ agent_id }) => agent_id === waiting?.agent_id).length, 1)
  })

  for (const when of ['before', 'after'])
    test(`case 122, E2: perceive: killed ${when} STATE.md is stored: the edit is kept once`, async (t) => {
      const userText = SEED_STATE.replace('## notes', '## notes\n- written by hand')
      const setup: CycleSetup = { ...newSetup(t), edit: userText }
      await killAt(setup, `${when} document STATE.md edited as a file`)
      const { recovered, found } = await restartAndCycle(t, setup)
      assertConsistent(setup, { recovered, found }, userText)
      assert.equal(interruptedCycles(found).length, 1)
    })

  test('E2: STATE.md edited between kill and start keeps the edit and one runtime block', async (t) => {
    const setup = newSetup(t)
    await killAt(setup, 'after document STATE.md cycle')
    const file = join(setup.home, 'kernels', 'default', 'STATE.md')
    assert.ok(
      !existsSync(file) || !readFileSync(file, 'utf8').includes(START),
      'the file is older than the stored version',
    )
    writeFileSync(file, SEED_STATE.replace('## notes', '## notes\n- written by hand'))
    await restartAndCycle(t, setup)
    const state = readFileSync(file, 'utf8')
    assert.equal(textOutsideBlock(state), SEED_STATE.replace('## notes', '## notes\n- written by hand'))
    assert.deepEqual(
      { partsAtStart: state.split(START).length, partsAtEnd: state.split(END).length },
      { partsAtStart: 2, partsAtEnd: 2 },
    )
  })
})

describe('a kernel with a schedule that is killed with -9 (case 122, I5, I6)', { concurrency: 2 }, () => {
  const points = ['after effect', 'after cycle_begin', 'after enqueue cycle', 'before cycle_end', 'after cycle_end#2']
  for (const point of sampled(points, 4))
    test(`case 122: start, killed ${point}: the next start resumes the work; no beat has two cycles`, async (t) => {
      const setup = newSetup(t, WORKSPACE, { schedule: { every: '1s' } })
      await killAt(setup, point, 'start')
      const { recovered, found } = await restartAndCycle(t, setup)
      assertConsistent(setup, { recovered, found })
      const beats = found.cycles.flatMap(({ due }) => due ?? [])
      assert.equal(new Set(beats).size, beats.length)
      assert.equal(interruptedCycles(found).length, point.startsWith('after cycle_end') ? 0 : 1)
    })

  test('I6: killed in several cycles in a row: a dispatch of the first cycle is still counted once', async (t) => {
    const setup = newSetup(t, OUTSIDE)
    await killAt(setup, 'after effect')
    // The first of these kills happens while the process records the end of the cycle before it.
    for (const point of ['before cycle_end', 'after cycle_begin', 'before cycle_end#2', 'after cycle_begin'])
      await killAt(setup, point)
    const first = await restartAndCycle(t, setup)
    assertConsistent(setup, first)
    const app = await openCycleApp(setup)
    for (const { id } of first.found.unknowns) await app.run('unknowns resolve', { id, as: 'happened' })
    await app.close()
    const { recovered, found } = await restartAndCycle(t, setup)
    assertConsistent(setup, { recovered, found })
    assert.equal(interruptedCycles(found).length, 4)
    assert.ok(found.dispatches.every(({ status }) => isTerminal(status)))
  })
})
