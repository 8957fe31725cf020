import assert from 'node:assert/strict'
import { execSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { AnyTool } from '../../src/ports/tool.ts'
import { type Branch, Counters } from './branch-counters.ts'
import { forbidRealWorld } from './forbid-real-world.ts'
import { drawPlan, itemsOf } from './plan.ts'
import { runChunk } from './seed-workers.ts'
import { shrink } from './shrink.ts'
import { simulate } from './simulate.ts'
import { UNBROKEN, VARIANTS, type Variant } from './variants.ts'

/** `npm run sim` runs 500. */
const SEEDS = 40
/** Most variants are caught much earlier; the test fails only for one that is never caught. */
const MAX_SEEDS = 300

/** Worlds of several processes, beside those among the first ones. */
const SEVERAL_SEEDS = [44, 57, 70, 83, 96]
const TAKEOVER_BRANCHES: readonly Branch[] = [
  ...(['process stopped for a time', 'process cut off from the store', 'process joined again'] as const),
  ...(['work of a lost process taken over', 'lead taken over', 'leader lost during a cycle'] as const),
  ...(['write of a former leader refused', 'notification lost', 'message delivered'] as const),
]

describe('simulation', () => {
  test(`I1, I2, I3, I4, I8: ${SEEDS} worlds full of faults break no invariant`, async (t) => {
    const counters = new Counters()
    for (const { seed, violation, counts } of await runChunk({ from: 1, count: SEEDS, variant: UNBROKEN.name })) {
      assert.equal(violation, undefined, `npm run sim -- --seed ${seed}`)
      counters.addAll(counts)
    }
    const taken = counters.all().filter(([, n]) => n > 0)
    t.diagnostic(`${taken.length} of ${counters.all().length} branches taken`)
    assert.ok(taken.length > 50, 'the worlds take most branches')
  })

  test('E15: several processes on one store take over from each other, and break no invariant', async () => {
    const counters = new Counters()
    for (const seed of SEVERAL_SEEDS) {
      const { violation, counts } = await simulate(drawPlan(seed))
      assert.equal(violation, undefined, `npm run sim -- --seed ${seed}`)
      counters.addAll(counts)
    }
    for (const branch of TAKEOVER_BRANCHES) assert.ok(counters.get(branch) > 0, `no world took the branch: ${branch}`)
  })

  test('the same seed gives the same world, event by event; another seed gives another world', async () => {
    const hashes = async (): Promise<string[]> => {
      const found: string[] = []
      for (let seed = 1; seed <= 8; seed++) found.push((await simulate(drawPlan(seed))).hash)
      return found
    }
    const first = await hashes()
    assert.deepEqual(await hashes(), first)
    assert.equal(new Set(first).size, first.length)
  })

  test('a failing plan is shrunk, and the smaller plan breaks the same invariant', async () => {
    const variant = variantNamed('probe-not-asked')
    const caught = (await runChunk({ from: variant.seed ?? 1, count: MAX_SEEDS, variant: variant.name })).at(-1)
    assert.ok(caught?.violation)
    const plan = drawPlan(caught.seed)
    const small = await shrink(plan, await simulate(plan, { variant }), variant)
    assert.equal(small.report.violation?.invariant, caught.violation.invariant)
    assert.ok(itemsOf(small.plan).length < itemsOf(plan).length)
    assert.equal((await simulate(small.plan, { variant })).hash, small.report.hash)
  })
})

describe('broken variants', () => {
  for (const { name, seed = 1 } of VARIANTS)
    test(`the variant ${name} is caught`, async (t) => {
      const hinted = await runChunk({ from: seed, count: 1, variant: name })
      const summaries = hinted[0]?.violation ? hinted : await runChunk({ from: 1, count: MAX_SEEDS, variant: name })
      const { violation } = summaries.at(-1) ?? {}
      assert.ok(violation, `not caught in ${MAX_SEEDS} worlds`)
      const isStale = summaries !== hinted
      t.diagnostic(`seed ${summaries.at(-1)?.seed}: ${violation.invariant}${isStale ? '; name this seed' : ''}`)
    })
})

describe('isolation from the real world', () => {
  test('a simulation uses no real clock, timer, randomness, network or process', async () => {
    const guard = forbidRealWorld()
    try {
      for (let seed = 1; seed <= 16; seed++) await simulate(drawPlan(seed))
    } finally {
      guard.restore()
    }
    assert.deepEqual(guard.attempts, [])
  })

  test('a use of the real world throws and is recorded, and everything is restored afterwards', async () => {
    const guard = forbidRealWorld()
    const uses: readonly (() => unknown)[] = [
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
      for (const use of uses) assert.throws(use, /a simulation used/)
      assert.equal(new Date(0).toISOString(), '1970-01-01T00:00:00.000Z', 'a Date with a given instant is allowed')
    } finally {
      guard.restore()
    }
    assert.equal(guard.attempts.length, uses.length)
    assert.ok(Date.now() > 0 && new Date() instanceof Date && Math.random() < 1)
  })

  test('a tool that reads the real clock is recorded', async () => {
    const readingClock = (tool: AnyTool): AnyTool => ({
      ...tool,
      effect(args) {
        Date.now()
        return tool.effect(args)
      },
    })
    const leaky: Variant = {
      name: 'leaky',
      tools: (tools) => new Map([...tools].map(([name, tool]) => [name, readingClock(tool)])),
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

function variantNamed(name: string): Variant {
  const found = VARIANTS.find((variant) => variant.name === name)
  assert.ok(found)
  return found
}
