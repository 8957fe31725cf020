/** The report of a shift: what was done and why, what proves it, what changed, what it cost, and what waits. */

import { DOCUMENT_NAMES, type DocumentVersion } from '../domain/document.ts'
import type { CheckResult, Todo } from '../domain/todo.ts'
import { undoneRuns } from '../domain/undo.ts'
import type { PastWork } from './describe-work.ts'
import { type ExplainedRun, starterOf } from './explain-run.ts'
import { findOpenMatters, type OpenMatters } from './open-matters.ts'
import { findPastCycles, findPastRuns, type PastRun } from './past-runs.ts'
import type { PastSources } from './past-sources.ts'
import { findPastSpend } from './past-spend.ts'
import type { Period } from './period.ts'
import { DAY_MS } from './wall-clock.ts'

/** What the checks of a todo showed after the work on it. */
export interface Evidence extends Pick<Todo, 'code' | 'title' | 'status' | 'proof'> {
  readonly checks: readonly CheckResult[]
}

export interface ReportedRun extends PastRun {
  readonly started_by: ExplainedRun['started_by']
  readonly evidence: readonly Evidence[]
  /** The undo that took its work back. */
  readonly undone_by: string | null
}

type DocumentChange = Pick<DocumentVersion, 'name' | 'version' | 'author' | 'reason'> & { readonly at: number }

export interface ShiftReport extends Omit<PastWork, 'runs'> {
  /** In the order in which they began. */
  readonly runs: readonly ReportedRun[]
  readonly documents: readonly DocumentChange[]
  /** What waits now; null for a shift that ended more than a day ago. */
  readonly open: OpenMatters | null
}

const MAX_RUNS = 100
const MAX_VERSIONS = 500
const MAX_UNDOS = 1000

export async function findShiftReport(sources: PastSources, period: Period): Promise<ShiftReport> {
  const { store, now } = sources
  const found = await findPastRuns(sources, { period, limit: MAX_RUNS })
  const undone = undoneRuns(await store.undos({ limit: MAX_UNDOS }))
  const evidence = new EvidenceReader(sources, period)
  const runs: ReportedRun[] = []
  // The newest run of a session first, because it has checked what the earlier ones did.
  for (const run of found.runs) {
    const dispatch = await store.dispatch(run.run_id)
    runs.push({
      ...run,
      started_by: dispatch ? starterOf(dispatch) : 'person',
      evidence: await evidence.of(run),
      undone_by: undone.get(run.run_id) ?? null,
    })
  }
  return {
    ...found,
    ...{ period, runs: runs.toReversed(), documents: await documentChanges(sources, period) },
    cycles: await findPastCycles(sources, period),
    spend: await findPastSpend(sources, period, 'agent'),
    open: period.to > now() - DAY_MS ? await findOpenMatters(sources) : null,
  }
}

/** The todos of each session are evidence of one run: the first one that is asked for. */
class EvidenceReader {
  readonly #sources: Pick<PastSources, 'store'>
  readonly #period: Period
  readonly #read = new Set<string>()

  constructor(sources: Pick<PastSources, 'store'>, period: Period) {
    this.#sources = sources
    this.#period = period
  }

  async of({ session_id }: PastRun): Promise<readonly Evidence[]> {
    if (this.#read.has(session_id)) return []
    this.#read.add(session_id)
    const todos = await this.#sources.store.todos(session_id)
    return todos
      .filter(({ updated_at, evidence }) => evidence !== null && isIn(this.#period, Date.parse(updated_at)))
      .map(({ code, title, status, proof, evidence }) => ({ code, title, status, proof, checks: evidence ?? [] }))
  }
}

const isIn = ({ from, to }: Period, instant: number): boolean => instant >= from && instant < to

/** What the system wrote by itself, such as the block with the time of the last cycle, is no change. */
async function documentChanges({ store, kernelId }: PastSources, period: Period): Promise<readonly DocumentChange[]> {
  const changes: DocumentChange[] = []
  for (const document of DOCUMENT_NAMES) {
    const filter = { kernel_id: kernelId, name: document, limit: MAX_VERSIONS }
    for (const { name, version, author, reason, ts } of await store.documentVersions(filter)) {
      const at = Date.parse(ts)
      if (author !== 'system' && isIn(period, at)) changes.push({ name, version, author, reason, at })
    }
  }
  return changes.toSorted((a, b) => a.at - b.at)
}
