/** Many worlds, on as many threads as there are cores. Each world is alone in its thread while it runs. */

import { Worker } from 'node:worker_threads'
import type { Branch } from './branch-counters.ts'
import { drawPlan } from './plan.ts'
import { simulate } from './simulate.ts'
import { HONEST, VARIANTS, type Variant } from './variants.ts'
import type { Violation } from './world.ts'

const CHUNK = 25

/** What is kept of a world: enough to add up, and to replay it. */
export interface Summary {
  readonly seed: number
  readonly hash: string
  readonly events: number
  readonly violation: Violation | undefined
  readonly counts: readonly (readonly [Branch, number])[]
}

export interface Chunk {
  readonly from: number
  readonly count: number
  readonly variant: string
}

export const variantNamed = (name: string): Variant | undefined =>
  [HONEST, ...VARIANTS].find((variant) => variant.name === name)

/** Contract: in order of the seeds. Ends after the chunk with the first violation. */
export async function runChunk({ from, count, variant }: Chunk): Promise<Summary[]> {
  const summaries: Summary[] = []
  for (let seed = from; seed < from + count; seed++) {
    const report = await simulate(drawPlan(seed), { variant: variantNamed(variant) ?? HONEST })
    summaries.push({ ...report, counts: report.counts.filter(([, n]) => n > 0) })
    if (report.violation && variant !== HONEST.name) break
  }
  return summaries
}

export async function runSeeds(
  from: number,
  count: number,
  jobs: number,
  tell: (summaries: readonly Summary[]) => void,
): Promise<Summary[]> {
  const chunks: Chunk[] = []
  for (let at = from; at < from + count; at += CHUNK)
    chunks.push({ from: at, count: Math.min(CHUNK, from + count - at), variant: HONEST.name })
  const all: Summary[] = []
  await Promise.all(Array.from({ length: Math.min(jobs, chunks.length) }, () => hand(chunks, all, tell)))
  return all.sort((a, b) => a.seed - b.seed)
}

async function hand(chunks: Chunk[], all: Summary[], tell: (summaries: readonly Summary[]) => void): Promise<void> {
  const worker = new Worker(new URL('./seed-worker-main.ts', import.meta.url))
  try {
    for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) {
      const summaries = await new Promise<Summary[]>((resolve, reject) => {
        worker.once('message', resolve)
        worker.once('error', reject)
        worker.postMessage(chunk)
      })
      worker.removeAllListeners('error')
      all.push(...summaries)
      tell(summaries)
    }
  } finally {
    await worker.terminate()
  }
}
