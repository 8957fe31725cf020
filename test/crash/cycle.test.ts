/** Real kills in every phase of a cycle, and what the next start makes of it. */

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
import { openScene, type Scene, SEED_STATE, writeHome } from './cycle-tools.ts'
import { NODE_FLAGS, run } from './kills.ts'
import { runsIn } from './recovery-tools.ts'

const MAIN = join(import.meta.dirname, 'cycle-main.ts')
const WORKSPACE: Effect = { recovery: 'once', reach: 'workspace' }
const OUTSIDE: Effect = { recovery: 'once', reach: 'third_party' }
const START = '<!-- KERNEL_RUNTIME:START -->'
const END = '<!-- KERNEL_RUNTIME:END -->'

const sceneIn = (t: TestContext, effect = WORKSPACE, kernel = {}): Scene => {
  const home = freshFolder(t)
  writeHome(home, kernel)
  return { home, log: join(home, 'acted.log'), effect }
}

async function dies(scene: Scene, point: string, command = 'once'): Promise<void> {
  const died = await run(process.execPath, [...NODE_FLAGS, MAIN, JSON.stringify(scene), point, command])
  assert.equal(died.exit, null, `it did not die at ${point}: ${died.stdout}${died.stderr}`)
}

interface Found {
  readonly dispatches: readonly Dispatch[]
  readonly cycles: readonly Cycle[]
  readonly unknowns: readonly UnknownOutcome[]
}

async function look(app: App): Promise<Found> {
  const items = async <T>(command: string): Promise<readonly T[]> =>
    ((await app.run(command, command === 'unknowns list' ? {} : { limit: 1000 })) as { items: T[] }).items
  return {
    dispatches: await items('queue list'),
    cycles: await items('cycles list'),
    unknowns: await items('unknowns list'),
  }
}

const isOfAgent = ({ agent_id }: Dispatch): boolean => agent_id !== 'planner'

/**
 * A start that ends when there is nothing left to do, then one more cycle. Its clock stands still, so that whatever it recovers is recovered at
 * once: no lease, no deadline and no rest is ever over.
 */
async function goOn(t: TestContext, scene: Scene): Promise<{ readonly recovered: Found; readonly found: Found }> {
  const app = await openScene(scene, undefined, new FakeClock({ now: Date.now() }))
  t.after(() => app.close())
  await app.run('start', { until_idle: true })
  const recovered = await look(app)
  await app.run('once', {})
  const found = await look(app)
  await app.close()
  return { recovered, found }
}

/** Whatever the point: nothing is left lying about, nothing is done or told twice. */
function checkWhole(
  { log, home }: Scene,
  { recovered, found }: Awaited<ReturnType<typeof goOn>>,
  written = SEED_STATE,
): void {
  const unknowns = recovered.unknowns.map(({ id }) => id)
  for (const { dispatch_id, status, wait } of recovered.dispatches) {
    const isNamed = status === 'waiting' && wait?.kind === 'unknown' && unknowns.includes(wait.unknown_id)
    assert.ok(isTerminal(status) || isNamed, `${dispatch_id} is ${status} ${JSON.stringify(wait)}`)
  }
  assert.ok(
    recovered.cycles.every(({ ended_at }) => ended_at !== null),
    'what was cut short is on record without another cycle',
  )
  const effects = runsIn(log)
  assert.equal(new Set(effects).size, effects.length, 'an effect happened twice')
  for (const { dispatch_id, status } of found.dispatches.filter(isOfAgent)) {
    const told = found.cycles
      .flatMap(({ result }) => result?.agents ?? [])
      .filter((one) => one.dispatch_id === dispatch_id)
    const over = told.filter((one) => isTerminal(one.status))
    assert.equal(
      over.length,
      isTerminal(status) ? 1 : 0,
      `${dispatch_id} is ${status} and was told ${JSON.stringify(told)}`,
    )
  }
  assert.ok(found.cycles.every(({ ended_at }) => ended_at !== null))
  const state = readFileSync(join(home, 'kernels', 'default', 'STATE.md'), 'utf8')
  assert.deepEqual([state.split(START).length, state.split(END).length], [2, 2])
  assert.equal(textOutsideBlock(state), written)
  assert.match(
    state,
    new RegExp(`- cycle_id: ${found.cycles[0]?.cycle_id}\n- status: ${found.cycles[0]?.result?.status}`),
  )
}

/** What the kill cut short, as the record tells it: its status, and how often its dispatches were begun. */
const cutShort = ({ cycles }: Found): readonly Cycle[] =>
  cycles.filter(({ result }) => result?.error === 'the program ended during this cycle')

type Phase = 'boot' | 'begin' | 'perceive' | 'orient' | 'decide' | 'act' | 'update' | 'over'

/** By phase and point: whether a cycle was cut short, and how many dispatches of agents it had made by then: none, or all of the plan. */
const ONCE: readonly (readonly [phase: Phase, point: string, cut: boolean, made: number, mode?: string])[] = [
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

describe('a cycle, killed with -9, and the start after it (case 122, I6)', { concurrency: 2 }, () => {
  for (const [phase, point, cut, made, mode = 'static'] of ONCE)
    test(`case 122: ${phase}: ${point} (${mode}): everything comes to its end, once, and is counted once`, async (t) => {
      const scene = sceneIn(t, WORKSPACE, { planner: { mode } })
      await dies(scene, point)
      const { recovered, found } = await goOn(t, scene)
      checkWhole(scene, { recovered, found })
      const before = recovered.dispatches.filter(isOfAgent)
      assert.equal(cutShort(found).length, cut ? 1 : 0)
      assert.equal(before.length, made)
      const [last] = found.cycles
      const counted = last?.result?.agents.map(({ dispatch_id }) => dispatch_id) ?? []
      if (cut)
        assert.deepEqual(
          before.filter(({ dispatch_id }) => !counted.includes(dispatch_id)),
          [],
        )
    })

  test('case 122: after an effect outside: it waits for a human, by name; the next cycle does not send that agent again', async (t) => {
    const scene = sceneIn(t, OUTSIDE)
    await dies(scene, 'after effect')
    const { recovered, found } = await goOn(t, scene)
    checkWhole(scene, { recovered, found })
    const [waiting, ...more] = found.dispatches.filter(({ status }) => status === 'waiting')
    assert.deepEqual([waiting?.wait?.kind, more], ['unknown', []])
    assert.deepEqual(
      found.unknowns.map(({ status, reach }) => [status, reach]),
      [['open', 'third_party']],
    )
    assert.equal(found.dispatches.filter(({ agent_id }) => agent_id === waiting?.agent_id).length, 1)
  })

  for (const when of ['before', 'after'])
    test(`case 122, E2: perceive: ${when} an edit of STATE is taken in: it is there, once, and the cycle is counted`, async (t) => {
      const written = SEED_STATE.replace('## notes', '## notes\n- written by hand')
      const scene: Scene = { ...sceneIn(t), edit: written }
      await dies(scene, `${when} document STATE.md edited as a file`)
      const { recovered, found } = await goOn(t, scene)
      checkWhole(scene, { recovered, found }, written)
      assert.equal(cutShort(found).length, 1)
    })

  test('E2: the file that STATE has when its writer dies is edited before the next start: the edit stays, and so does one block', async (t) => {
    const scene = sceneIn(t)
    await dies(scene, 'after document STATE.md cycle')
    const file = join(scene.home, 'kernels', 'default', 'STATE.md')
    assert.ok(!existsSync(file) || !readFileSync(file, 'utf8').includes(START), 'its file is behind its version')
    writeFileSync(file, SEED_STATE.replace('## notes', '## notes\n- written by hand'))
    await goOn(t, scene)
    const state = readFileSync(file, 'utf8')
    assert.equal(textOutsideBlock(state), SEED_STATE.replace('## notes', '## notes\n- written by hand'))
    assert.deepEqual([state.split(START).length, state.split(END).length], [2, 2])
  })
})

describe('a kernel that beats, killed with -9 (case 122, I5, I6)', { concurrency: 2 }, () => {
  for (const point of [
    'after cycle_begin',
    'after enqueue cycle',
    'after effect',
    'before cycle_end',
    'after cycle_end#2',
  ])
    test(`case 122: start, ${point}: the next start takes it up; no beat has two cycles`, async (t) => {
      const scene = sceneIn(t, WORKSPACE, { schedule: { every: '1s' } })
      await dies(scene, point, 'start')
      const { recovered, found } = await goOn(t, scene)
      checkWhole(scene, { recovered, found })
      const beats = found.cycles.flatMap(({ due }) => due ?? [])
      assert.equal(new Set(beats).size, beats.length)
      assert.equal(cutShort(found).length, point.startsWith('after cycle_end') ? 0 : 1)
    })

  test('I6: killed in one cycle after the other: what the first left under way is still counted, once', async (t) => {
    const scene = sceneIn(t, OUTSIDE)
    await dies(scene, 'after effect')
    // The first of them dies while it records what the one before it did not live to.
    for (const point of ['before cycle_end', 'after cycle_begin', 'before cycle_end#2', 'after cycle_begin'])
      await dies(scene, point)
    const first = await goOn(t, scene)
    checkWhole(scene, first)
    const app = await openScene(scene)
    for (const { id } of first.found.unknowns) await app.run('unknowns resolve', { id, as: 'happened' })
    await app.close()
    const { recovered, found } = await goOn(t, scene)
    checkWhole(scene, { recovered, found })
    assert.equal(cutShort(found).length, 4)
    assert.ok(found.dispatches.every(({ status }) => isTerminal(status)))
  })
})
