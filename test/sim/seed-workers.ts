/** Runs many worlds on as many threads as there are cores. A thread runs one world at a time. */

import { Worker } from 'node:worker_threads'
import type { Branch } from './branch-counters.ts'
import { drawPlan } from './plan.ts'
import { simulate } from './simulate.ts'
import { UNBROKEN, VARIANTS, type Variant } from './variants.ts'
import type { Violation } from './world.ts'

const SEEDS_PER_CHUNK = 25

/** The part of a report that is kept per world: enough to add up, and to replay it. */
export interface WorldSummary {
  readonly seed: number
  readonly hash: string
  readonly events: number
  readonly violation: Violation | undefined
  readonly counts: readonly (readonly [Branch, number])[]
}

export interface SeedChunk {
  readonly from: number
  readonly count: number
  readonly variant: string
}

export const findVariant = (name: string): Variant | undefined =>
  [UNBROKEN, ...VARIANTS].find((variant) => variant.name === name)

/** Contract: summaries in order of the seeds. A broken variant ends with its first violation. */
export async function runChunk({ from, count, variant }: SeedChunk): Promise<WorldSummary[]> {
  const summaries: WorldSummary[] = []
  for (let seed = from; seed < from + count; seed++) {
    const report = await simulate(drawPlan(seed), { variant: findVariant(variant) ?? UNBROKEN })
    summaries.push({ ...report, counts: report.counts.filter(([, n]) => n > 0) })
    if (report.violation && variant !== UNBROKEN.name) break
  }
  return summaries
}

export async function runSeeds(
  from: number,
  count: number,
  jobs: number,
  onProgress: (summaries: readonly WorldSummary[]) => void,
): Promise<WorldSummary[]> {
  const chunks: SeedChunk[] = []
  for (let at = from; at < from + count; at += SEEDS_PER_CHUNK)
    chunks.push({ from: at, count: Math.min(SEEDS_PER_CHUNK, from + count - at), variant: UNBROKEN.name })
  const all: WorldSummary[] = []
  await Promise.all(Array.from({ length: Math.min(jobs, chunks.length) }, () => runWorker(chunks, all, onProgress)))
  return all.sort((a, b) => a.seed - b.seed)
}

async function runWorker(
  chunks: SeedChunk[],
  all: WorldSummary[],
  onProgress: (summaries: readonly WorldSummary[]) => void,
): Promise<void> {
  const worker = new Worker(new URL('./seed-worker-main.ts', import.meta.url))
  try {
    for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) {
      const summaries = await new Promise<WorldSummary[]>((resolve, reject) => {
        worker.once('message', resolve)
        worker.once('error', reject)
        worker.postMessage(chunk)
      })
      worker.removeAllListeners('error')
      all.push(...summaries)
      onProgress(summaries)
    }
  } finally {
    await worker.terminate()
  }
}
