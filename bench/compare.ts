/** Compares results with the stored baseline, or stores them as the new baseline. */

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { TirelessError } from '../src/domain/error.ts'
import { type Baseline, compareRatios, comparisonTable, isWorse, updateBaseline } from './ratios.ts'
import { readShaped } from './read-shaped.ts'

export const BASELINE = join(import.meta.dirname, 'baseline.json')

const better = z.enum(['higher', 'lower'])

const baselineShape = z.record(
  z.string(),
  z.object({
    measured: z.string(),
    ratios: z.record(
      z.string(),
      z.object({ value: z.number().positive(), better, tolerance: z.number().positive().max(1) }),
    ),
  }),
)

const resultsShape = z.object({
  suite: z.string(),
  scale: z.enum(['full', 'quick', 'smoke']),
  at: z.string(),
  machine: z.object({ node: z.string(), system: z.string(), cores: z.number(), load: z.number() }),
  ratios: z.array(z.object({ name: z.string(), better, value: z.number().nullable() })),
})

const BASELINE_FILE = {
  shape: baselineShape,
  expected: 'a baseline: suites with their ratios',
  fix: 'create it with: npm run bench -- baseline RESULT.json',
}
const RESULTS_FILE = {
  shape: resultsShape,
  expected: 'the results of a suite, from bench/results',
  fix: 'create it, for example with: npm run bench -- engine',
}

function readResults(path: string): z.infer<typeof resultsShape> {
  const results = readShaped(path, RESULTS_FILE)
  if (results.scale !== 'smoke') return results
  throw new TirelessError('usage', {
    what: 'a smoke run measures nothing',
    where: path,
    fix: `npm run bench -- ${results.suite}, without --smoke`,
  })
}

/** Contract: the text to print; `ok` is false if a ratio is worse than its tolerance allows. */
export function compareWithBaseline(
  path: string,
  baselinePath = BASELINE,
): { readonly text: string; readonly ok: boolean } {
  const { suite, ratios } = readResults(path)
  const stored = readShaped(baselinePath, BASELINE_FILE)[suite]
  if (!stored)
    throw new TirelessError('usage', {
      what: `the baseline has no suite ${suite}`,
      where: baselinePath,
      fix: `npm run bench -- baseline ${path}`,
    })
  const compared = compareRatios(stored, ratios)
  const worse = compared.filter(isWorse).length
  const verdict =
    worse === 0 ? 'nothing got worse' : `${worse} of ${compared.length} ratios got worse or were not measured`
  const text = `${suite}, against: ${stored.measured}\n\n${comparisonTable(compared)}\n\n${verdict}`
  return { text, ok: worse === 0 }
}

/** Contract: stores the ratios of this run as the baseline of its suite; other suites do not change. */
export function storeBaseline(path: string, baselinePath = BASELINE): string {
  const { suite, scale, at, machine, ratios } = readResults(path)
  const before: Baseline = existsSync(baselinePath) ? readShaped(baselinePath, BASELINE_FILE) : {}
  const { node, system, cores, load } = machine
  const measured = `${at.slice(0, 10)}, ${scale} run, Node ${node}, ${system}, ${cores} cores, load ${load.toFixed(1)}`
  const after: Baseline = { ...before, [suite]: updateBaseline(before[suite], measured, ratios) }
  writeFileSync(baselinePath, `${JSON.stringify(after, undefined, 2)}\n`)
  return measured
}
