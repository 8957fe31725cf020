import assert from 'node:assert/strict'
import { execSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { AnyTool } from '../../src/ports/tool.ts'
import { Counters } from './branch-counters.ts'
import { forbidRealWorld } from './forbid-real-world.ts'
import { drawPlan, itemsOf } from './plan.ts'
import { runChunk } from './seed-workers.ts'
import { shrink } from './shrink.ts'
import { simulate } from './simulate.ts'
import { UNBROKEN, VARIANTS, type Variant } from './variants.ts'

const SEEDS = 150
/** Each is caught long before; what matters is that none gets through. */
const MOST_SEEDS = 300

describe('simulation', () => {
  test(`I1, I3, I4, I8: ${SEEDS} worlds full of faults break no invariant`, async (t) => {
    const counters = new Counters()
    for (const { seed, violation, counts } of await runChunk({ from: 1, count: SEEDS, variant: UNBROKEN.name })) {
      assert.equal(violation, undefined, `npm run sim -- --seed ${seed}`)
      counters.addAll(counts)
    }
    const taken = counters.all().filter(([, n]) => n > 0)
    t.diagnostic(`${taken.length} of ${counters.all().length} branches taken`)
    assert.ok(taken.length > 50, 'the worlds are full of faults')
  })

  test('the same seed is the same world, event by event; another is another', async () => {
    const hashes = async (): Promise<string[]> => {
      const found: string[] = []
      for (let seed = 1; seed <= 8; seed++) found.push((await simulate(drawPlan(seed))).hash)
      return found
    }
    const first = await hashes()
    assert.deepEqual(await hashes(), first)
    assert.equal(new Set(first).size, first.length)
  })

  test('a plan that fails is made smaller, and still fails in the same way', async () => {
    const variant = named('probe-not-asked')
    const caught = (await runChunk({ from: variant.seed ?? 1, count: MOST_SEEDS, variant: variant.name })).at(-1)
    assert.ok(caught?.violation)
    const plan = drawPlan(caught.seed)
    const small = await shrink(plan, await simulate(plan, { variant }), variant)
    assert.equal(small.report.violation?.invariant, caught.violation.invariant)
    assert.ok(itemsOf(small.plan).length < itemsOf(plan).length)
    assert.equal((await simulate(small.plan, { variant })).hash, small.report.hash)
  })
})

describe('broken programs', () => {
  for (const { name, seed = 1 } of VARIANTS)
    test(`${name} is caught`, async (t) => {
      const hinted = await runChunk({ from: seed, count: 1, variant: name })
      const summaries = hinted[0]?.violation ? hinted : await runChunk({ from: 1, count: MOST_SEEDS, variant: name })
      const { violation } = summaries.at(-1) ?? {}
      assert.ok(violation, `not caught in ${MOST_SEEDS} worlds`)
      t.diagnostic(`seed ${summaries.at(-1)?.seed}: ${violation.invariant}`)
    })
})

describe('injection', () => {
  test('nothing escapes: clocks, timers, chance, network and processes are taken away during a simulation', async () => {
    const guard = forbidRealWorld()
    try {
      for (let seed = 1; seed <= 30; seed++) await simulate(drawPlan(seed))
    } finally {
      guard.restore()
    }
    assert.deepEqual(guard.attempts, [])
  })

  test('the poison works: whoever reaches for the real world is refused and named, and afterwards all is as it was', async () => {
    const guard = forbidRealWorld()
    const reaching: readonly (() => unknown)[] = [
      () => Date.now(),
      () => new Date(),
      () => setTimeout(() => {}, 1),
      () => setInterval(() => {}, 1),
      () => setImmediate(() => {}),
      () => pause(1),
      () => Math.random(),
      () => randomUUID(),
      () => crypto.randomUUID(),
      () => performance.now(),
      () => fetch('http://127.0.0.1:1'),
      () => execSync('true'),
    ]
    try {
      for (const reach of reaching) assert.throws(reach, /a simulation reached for/)
      assert.equal(new Date(0).toISOString(), '1970-01-01T00:00:00.000Z', 'an instant that is given is no clock')
    } finally {
      guard.restore()
    }
    assert.equal(guard.attempts.length, reaching.length)
    assert.ok(Date.now() > 0 && new Date() instanceof Date && Math.random() < 1)
  })

  test('a tool that looks at the real clock does not get away with it', async () => {
    const looking = (tool: AnyTool): AnyTool => ({
      ...tool,
      effect(args) {
        Date.now()
        return tool.effect(args)
      },
    })
    const leaky: Variant = {
      name: 'leaky',
      tools: (tools) => new Map([...tools].map(([name, tool]) => [name, looking(tool)])),
    }
    const guard = forbidRealWorld()
    try {
      await simulate(drawPlan(1), { variant: leaky })
    } finally {
      guard.restore()
    }
    assert.ok(guard.attempts.includes('Date.now'))
  })
})

function named(name: string): Variant {
  const found = VARIANTS.find((variant) => variant.name === name)
  assert.ok(found)
  return found
}
