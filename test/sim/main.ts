/**
 * npm run sim -- [--seeds N] [--seed S] [--from K] [--jobs J]     worlds S+K … S+N-1, none may break an invariant
 * --seed S [--drop ids] [--variant NAME] [--log]   replays one world without some items of its plan
 * --variant NAME|all [--seeds N]                   a broken program: number of worlds until it is caught
 */

import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Counters } from './branch-counters.ts'
import { drawPlan, withoutItems } from './plan.ts'
import { findVariant, runChunk, runSeeds, type WorldSummary } from './seed-workers.ts'
import { shrink } from './shrink.ts'
import { simulate } from './simulate.ts'
import { UNBROKEN, VARIANTS, type Variant } from './variants.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    from: { type: 'string' },
    jobs: { type: 'string' },
    variant: { type: 'string' },
    drop: { type: 'string' },
    log: { type: 'boolean' },
  },
})
const first = Number(values.seed ?? 1)

process.exitCode = await main()

async function main(): Promise<number> {
  if (values.variant === 'all') return checkVariants(VARIANTS)
  const variant = findVariant(values.variant ?? UNBROKEN.name)
  if (!variant)
    return printUsageError(
      `unknown variant ${values.variant}. Known variants: ${VARIANTS.map(({ name }) => name).join(', ')}`,
    )
  if (values.seed !== undefined && values.seeds === undefined) return replay(variant)
  if (variant !== UNBROKEN) return checkVariants([variant])
  return runSeedRange()
}

async function runSeedRange(): Promise<number> {
  const began = performance.now()
  const skip = Number(values.from ?? 0)
  const count = Number(values.seeds ?? 500) - skip
  const jobs = Number(values.jobs ?? availableParallelism())
  let done = 0
  const summaries = await runSeeds(first + skip, count, jobs, (some) => {
    done += some.length
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${count}`)
  })
  if (process.stderr.isTTY) process.stderr.write('\r')
  const counters = new Counters()
  const hash = createHash('sha256')
  for (const { seed, hash: own, counts } of summaries) {
    counters.addAll(counts)
    hash.update(`${seed}:${own}\n`)
  }
  printCounters(counters)
  const broken = summaries.filter(({ violation }) => violation)
  for (const { seed, violation } of broken.slice(0, 10))
    console.log(`seed ${seed}: ${violation?.invariant}: ${violation?.message}`)
  const events = summaries.reduce((sum, summary) => sum + summary.events, 0)
  const seconds = (performance.now() - began) / 1000
  console.log(
    `\n${count} worlds, ${events} events, log hash ${hash.digest('hex').slice(0, 16)}, ${seconds.toFixed(1)} s`,
  )
  console.log(`${broken.length} violations`)
  if (broken[0]) await printSmallestPlan(broken[0].seed, UNBROKEN)
  return broken.length === 0 ? 0 : 1
}

function printCounters(counters: Counters): void {
  for (const [branch, n] of counters.all()) console.log(`${String(n).padStart(9)}  ${branch}`)
  const never = counters.all().filter(([, n]) => n === 0)
  for (const [branch] of never) console.log(`warning: no world took this branch: ${branch}`)
}

async function replay(variant: Variant): Promise<number> {
  const dropped = new Set((values.drop ?? '').split(',').filter((id) => id !== ''))
  const plan = withoutItems(drawPlan(first), dropped)
  const report = await simulate(plan, { variant, log: values.log === true })
  if (report.log) console.log(`${JSON.stringify(plan, null, 2)}\n${report.log.join('\n')}`)
  console.log(`seed ${first}: ${report.events} events, log hash ${report.hash}`)
  if (!report.violation) return 0
  console.log(`at event ${report.violation.event}: ${report.violation.invariant}: ${report.violation.message}`)
  if (dropped.size === 0) await printSmallestPlan(first, variant)
  return 1
}

/** Prints the smallest plan that breaks the same invariant, and the command that replays it. */
async function printSmallestPlan(seed: number, variant: Variant): Promise<void> {
  const plan = drawPlan(seed)
  const small = await shrink(plan, await simulate(plan, { variant }), variant)
  console.log(`\nsmallest plan found in ${small.tries} tries: ${JSON.stringify(small.plan, null, 2)}`)
  console.log(`${small.report.violation?.invariant}: ${small.report.violation?.message}`)
  const drop = small.dropped.length > 0 ? ` --drop ${small.dropped.join(',')}` : ''
  const named = variant === UNBROKEN ? '' : ` --variant ${variant.name}`
  console.log(`replay: npm run sim -- --seed ${seed}${drop}${named} --log`)
}

async function checkVariants(variants: readonly Variant[]): Promise<number> {
  const limit = Number(values.seeds ?? 300)
  let missed = 0
  for (const { name } of variants) {
    const caught = (await runChunk({ from: first, count: limit, variant: name })).at(-1) as WorldSummary
    if (!caught.violation) missed += 1
    const verdict = caught.violation
      ? `caught after ${caught.seed - first + 1} worlds: ${caught.violation.invariant}: ${caught.violation.message}`
      : `NOT CAUGHT in ${limit} worlds`
    console.log(`${name.padEnd(24)} ${verdict.slice(0, 160)}`)
  }
  return missed === 0 ? 0 : 1
}

function printUsageError(what: string): number {
  console.error(what)
  return 2
}
