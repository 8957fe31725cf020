/** Runs with many steps: they give way to others that wait, and go on afterwards. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { z } from 'zod'
import type { App } from '../src/app.ts'
import { defineTool } from '../src/ports/define-tool.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { advanceUntilDone, openApp, replayIn } from './support/open-app.ts'

interface Setup {
  readonly app: App
  readonly clock: FakeClock
  /** The session of each step, in order. */
  readonly steps: string[]
}

/** The tasks `long N` make N steps. */
async function setUp(t: TestContext, perStepMs = 0): Promise<Setup> {
  const [steps, clock]: [string[], FakeClock] = [[], new FakeClock()]
  const tool = defineTool({
    name: 'step',
    description: 'makes a step',
    args: z.strictObject({ n: z.number() }),
    effect: () => ({ recovery: 'idempotent', reach: 'none' }),
    async run({ n }, { origin }) {
      steps.push(origin.session_id)
      if (perStepMs > 0) await clock.sleep(perStepMs)
      return { status: 'ok', content: `step ${n}` }
    },
  })
  const model = scriptedModel(({ messages }, turn) => {
    const wanted = Number(/long (\d+)/.exec(JSON.stringify(messages))?.[1] ?? 0)
    return turn < wanted ? { calls: [{ tool: 'step', args: { n: turn } }] } : { text: 'done' }
  })
  const app = await openApp(t, { model, tools: [tool], clock, yaml: 'kernel: { max_concurrent: 1 }' })
  return { app, clock, steps }
}

/** How many steps were made in a row, by whom. */
function inARow(steps: readonly string[], names: ReadonlyMap<string, string>): readonly string[] {
  const rows: { name: string; count: number }[] = []
  for (const step of steps) {
    const [name, last] = [names.get(step) ?? '', rows.at(-1)]
    if (last?.name === name) last.count += 1
    else rows.push({ name, count: 1 })
  }
  return rows.map(({ name, count }) => `${name} ${count}`)
}

async function enqueueAll(app: App, tasks: Readonly<Record<string, { task: string; priority?: number }>>) {
  const [names, ids] = [new Map<string, string>(), new Map<string, string>()]
  for (const [name, task] of Object.entries(tasks)) {
    const { session_id, dispatch_id } = await app.run('enqueue', { max_steps: 500, ...task })
    names.set(session_id, name)
    ids.set(name, dispatch_id)
  }
  return { names, ids }
}

test('case 75: with one slot, long runs alternate after 64 steps; lower priorities wait; runs replay', async (t) => {
  const { app, clock, steps } = await setUp(t)
  const { names, ids } = await enqueueAll(app, {
    ...{ a: { task: 'long 150' }, b: { task: 'long 70' }, c: { task: 'long 3' } },
    low: { task: 'long 2', priority: -1 },
  })
  await advanceUntilDone(clock, app.run('start', { until_idle: true }))
  assert.deepEqual(inARow(steps, names), ['a 64', 'b 64', 'c 3', 'a 64', 'b 6', 'a 22', 'low 2'])
  const { items } = await app.run('queue list', {})
  assert.deepEqual(new Set(items.map(({ status }) => status)), new Set(['done']))
  assert.equal((await replayIn(app, ids.get('a') ?? '')).identical, true)
})

test('case 75: a run gives way after two minutes; if no other waits, it keeps its slot', async (t) => {
  const { app, clock, steps } = await setUp(t, 50_000)
  const { names, ids } = await enqueueAll(app, { a: { task: 'long 5' }, b: { task: 'long 4' } })
  await advanceUntilDone(clock, app.run('start', { until_idle: true }))
  assert.deepEqual(inARow(steps, names), ['a 3', 'b 3', 'a 2', 'b 1'])
  assert.equal((await app.run('queue show', { id: ids.get('b') ?? '' })).attempts, 2)
  const alone = await enqueueAll(app, { alone: { task: 'long 9' } })
  await advanceUntilDone(clock, app.run('start', { until_idle: true }))
  assert.equal((await app.run('queue show', { id: alone.ids.get('alone') ?? '' })).attempts, 1)
})
