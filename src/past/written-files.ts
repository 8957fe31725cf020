/** The files that a run wrote, from its records and the snapshots of its workspace. */

import { type Effect, writesWorkspace } from '../domain/effect.ts'
import type { JournalRecord } from '../domain/journal-record.ts'
import { FILE_WRITERS, namedWrites, type WrittenFile } from '../domain/written-files.ts'
import type { PastSources } from './past-sources.ts'

interface OtherWrite {
  readonly tool: string
  readonly effect: Effect
}

/** Contract: the turns in which other tools, such as bash, may have written; the snapshots show which files. */
function otherWrites(records: readonly JournalRecord[]): ReadonlyMap<number, { tool: string; ts: number }> {
  const turns = new Map<number, { tool: string; ts: number }>()
  const intended = new Map<string, OtherWrite>()
  for (const record of records) {
    if (record.kind === 'call_intended')
      intended.set(`${record.turn} ${record.index}`, { tool: record.call.tool, effect: record.effect })
    if (record.kind !== 'call_settled') continue
    const call = intended.get(`${record.turn} ${record.index}`)
    if (call && !FILE_WRITERS.has(call.tool) && writesWorkspace(call.effect))
      turns.set(record.turn, { tool: call.tool, ts: record.ts })
  }
  return turns
}

/** Contract: in the order of writing; each path of a step once. */
export async function findWrittenFiles(
  { snapshots }: Pick<PastSources, 'snapshots'>,
  run_id: string,
  records: readonly JournalRecord[],
): Promise<readonly WrittenFile[]> {
  const named = namedWrites(records)
  const turns = otherWrites(records)
  if (turns.size === 0) return named
  const changes = await snapshots.changesOf(run_id)
  const others = changes.flatMap(({ turn, paths }) => {
    const call = turns.get(turn)
    const isNamed = (path: string): boolean => named.some((write) => write.turn === turn && write.path === path)
    return call ? paths.filter((path) => !isNamed(path)).map((path) => ({ path, turn, ...call })) : []
  })
  return [...named, ...others].toSorted((a, b) => a.ts - b.ts)
}
