/** The files and runs that a question means. */

import { shortId } from '../domain/short-id.ts'
import { findPastRuns, overlap, type PastRun } from './past-runs.ts'
import type { PastSources } from './past-sources.ts'
import type { Period } from './period.ts'

const ALL = Number.MAX_SAFE_INTEGER

const FILE_NAME = /(?:[\w.-]*\/)*[\w-][\w.-]*\.[a-z]\w{0,7}\b/i

/** A file that a run wrote, if the question names it or its last part; else what looks like a file name. */
export function fileIn(text: string, runs: readonly PastRun[]): string | undefined {
  const lower = text.toLowerCase()
  const paths = new Set(runs.flatMap(({ files }) => files.map(({ path }) => path)))
  const byLength = [...paths].toSorted((a, b) => b.length - a.length)
  const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const named = byLength.find((path) => lower.includes(path.toLowerCase()))
  return named ?? byLength.map(nameOf).find((name) => lower.includes(name)) ?? FILE_NAME.exec(text)?.[0]
}

const SAYS_FAILED = /fail|wrong|error|crash|失败|出错|错误/i

/**
 * The runs that the question means: by id, else by a file that they wrote, else those with most of its words, else the
 * newest that failed. A file that no run wrote means none.
 */
export async function findAskedRuns(
  sources: PastSources,
  text: string,
  asked: Period | undefined,
): Promise<readonly PastRun[]> {
  const search = async (period: Period | undefined): Promise<readonly PastRun[]> =>
    (await findPastRuns(sources, { period, limit: ALL })).runs
  const inPeriod = await search(asked)
  const runs = inPeriod.length > 0 || !asked ? inPeriod : await search(undefined)
  const byId = runs.filter(({ run_id }) => text.includes(run_id) || text.includes(shortId(run_id)))
  if (byId.length > 0) return byId
  const path = fileIn(text, runs)?.toLowerCase()
  if (path !== undefined) {
    const writers = runs.filter(({ files }) => files.some((file) => `/${file.path.toLowerCase()}`.endsWith(`/${path}`)))
    return bestOf(writers, text) ?? writers
  }
  const failed = SAYS_FAILED.test(text) ? runs.filter(({ status }) => status === 'failed' || status === 'dead') : []
  return bestOf(failed, text) ?? bestOf(runs, text) ?? failed.slice(0, 1)
}

/** Of several runs of the same task, the newest. Undefined: no run shares a word with the question. */
function bestOf(runs: readonly PastRun[], text: string): readonly PastRun[] | undefined {
  const scored = runs.map((run) => ({ run, score: overlap(run, text) })).filter(({ score }) => score >= 1)
  const best = Math.max(0, ...scored.map(({ score }) => score))
  const found = scored.filter(({ score }) => score === best).map(({ run }) => run)
  const newest = [...Map.groupBy(found, ({ agent_id, title }) => `${agent_id} ${title}`).values()].flatMap(
    ([run]) => run ?? [],
  )
  return newest.length === 0 ? undefined : newest
}
