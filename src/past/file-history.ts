/** Which runs wrote a file, when, and what they changed in it, where there are snapshots. */

import { unifiedDiff } from '../domain/diff.ts'
import { findPastRuns, type PastRun, type PastRuns, type RunFilter } from './past-runs.ts'
import type { PastSources } from './past-sources.ts'

interface FileWrite {
  readonly run: PastRun
  readonly path: string
  readonly at: number
  readonly tools: readonly string[]
  /** What the run changed; null: there is no snapshot, or the file is no text. */
  readonly diff: string | null
}

export interface FileHistory {
  readonly path: string
  /** Newest first. */
  readonly writes: readonly FileWrite[]
  readonly left_out: number
  readonly is_cut: boolean
}

const MAX_WRITES = 10
const MAX_DIFF_LINES = 40
const ALL = Number.MAX_SAFE_INTEGER

/** Contract: `path` may be the end of a path, or absolute. */
export async function findFileHistory(
  sources: PastSources,
  path: string,
  filter: Pick<RunFilter, 'period' | 'agent'> = {},
): Promise<FileHistory> {
  const { runs, is_cut }: PastRuns = await findPastRuns(sources, { ...filter, limit: ALL })
  const writes = runs.flatMap((run) => {
    const paths = new Set(run.files.map((file) => file.path).filter((written) => isSameFile(written, path)))
    return [...paths].map((written) => ({ run, path: written, files: run.files.filter((f) => f.path === written) }))
  })
  const shown = writes.slice(0, MAX_WRITES)
  return {
    path,
    writes: await Promise.all(
      shown.map(async ({ run, path: written, files }) => ({
        ...{ run, path: written, at: files.at(-1)?.ts ?? run.to },
        tools: [...new Set(files.map(({ tool }) => tool))],
        diff: await diffOf(sources, run, written),
      })),
    ),
    ...{ left_out: writes.length - shown.length, is_cut },
  }
}

/** Contract: pure; whether one path is the other, or ends with it at a folder. */
function isSameFile(written: string, asked: string): boolean {
  const [a, b] = [written, asked].map((path) => path.replace(/^\.\//, '').toLowerCase())
  return a === b || (a?.endsWith(`/${b}`) ?? false) || (b?.endsWith(`/${a}`) ?? false)
}

async function diffOf({ snapshots }: PastSources, { run_id, files }: PastRun, path: string): Promise<string | null> {
  const versions = await snapshots.versionsOf(run_id, path)
  const turns = files.filter((file) => file.path === path).map(({ turn }) => turn)
  const before = versions.findLast(({ turn }) => turn < Math.min(...turns))
  const after = versions.find(({ turn }) => turn === Math.max(...turns))
  if (!before || !after) return null
  const [old, present] = [textOf(before.content), textOf(after.content)]
  if (old === undefined || present === undefined) return null
  const lines = unifiedDiff({ name: path, text: old }, { name: path, text: present }).split('\n')
  return lines.length > MAX_DIFF_LINES
    ? `${lines.slice(0, MAX_DIFF_LINES).join('\n')}\n… (${lines.length - MAX_DIFF_LINES} more lines)`
    : lines.join('\n').trimEnd()
}

const MAX_FILE = 1_000_000

/** Undefined: no text, or too long to compare. */
function textOf(content: Uint8Array | null): string | undefined {
  if (content === null) return ''
  if (content.length > MAX_FILE || content.includes(0)) return undefined
  return new TextDecoder().decode(content)
}
