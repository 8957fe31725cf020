/** The runs of a period with what came of them, and the cycles of the kernel. */

import type { Cycle } from '../domain/cycle.ts'
import type { Dispatch, DispatchStatus } from '../domain/dispatch.ts'
import { labelOfJournal } from '../domain/journal-label.ts'
import { type JournalRecord, recordsOfRun } from '../domain/journal-record.ts'
import { CLEAN_LABEL, type Label, lowestLabel, UNTRUSTED_LABEL } from '../domain/label.ts'
import { outcomeOf } from '../domain/outcome.ts'
import { titleOfRun } from '../domain/title.ts'
import { tokenize } from '../domain/tokenize.ts'
import type { WrittenFile } from '../domain/written-files.ts'
import { fallbackIfUnreadable } from '../ports/store.ts'
import type { PastSources } from './past-sources.ts'
import type { Period } from './period.ts'
import { findWrittenFiles } from './written-files.ts'

export interface PastRun {
  readonly run_id: string
  readonly session_id: string
  readonly agent_id: string
  readonly title: string
  /** As it is now, also if the period is long past. */
  readonly status: DispatchStatus
  readonly outcome: string | null
  readonly files: readonly WrittenFile[]
  /** Dollars spent in the period; null: the price is not known. */
  readonly usd: number | null
  /** The first and the last record in the period; without records: when the run was queued. */
  readonly from: number
  readonly to: number
  /** When the run was created, and last changed. */
  readonly created: number
  readonly changed: number
  /** The label of everything that its session has read; it applies to title and outcome. */
  readonly label: Label
}

export interface PastRuns {
  /** Newest first; if words were asked for, those with most of them first. */
  readonly runs: readonly PastRun[]
  /** Runs of the period that are not listed. */
  readonly left_out: number
  /** True: there may be more runs than were searched. */
  readonly is_cut: boolean
}

export interface RunFilter {
  readonly period?: Pick<Period, 'from' | 'to'> | undefined
  readonly agent?: string | undefined
  /** Words of the title or the outcome. */
  readonly text?: string | undefined
  readonly limit?: number | undefined
}

/** Runs that answer questions or plan cycles are no work. */
const NO_WORK: ReadonlySet<unknown> = new Set(['answer', 'planner'])
/** Runs whose journals are read; a question about more is answered in part, and says so. */
const MAX_SEARCHED = 300
const DEFAULT_LIMIT = 20

/** A run that passed a message on is no work either, unless it failed. */
export const isWork = ({ metadata: { behaviour }, status }: Dispatch): boolean =>
  !NO_WORK.has(behaviour) && !(behaviour === 'resolve_router' && status === 'done')

export async function findPastRuns(sources: PastSources, filter: RunFilter): Promise<PastRuns> {
  const { period, agent, text, limit = DEFAULT_LIMIT } = filter
  const page = { agent_id: agent, active: period, limit: MAX_SEARCHED + 1 }
  const dispatches = await sources.store.dispatches(page)
  const readSession = sessionReader(sources)
  const found: PastRun[] = []
  for (const dispatch of dispatches.slice(0, MAX_SEARCHED).filter(isWork)) {
    const run = await readPastRun(sources, dispatch, { period, journal: await readSession(dispatch.session_id) })
    if (run) found.push(run)
  }
  const wanted = text === undefined ? found : bestFirst(found, text)
  const runs = wanted.slice(0, limit)
  return { runs, left_out: wanted.length - runs.length, is_cut: dispatches.length > MAX_SEARCHED }
}

type Journal = readonly JournalRecord[] | undefined

/** Reads each journal once, although a session may have many runs. Undefined: it cannot be read. */
export function sessionReader({ store }: Pick<PastSources, 'store'>): (session_id: string) => Promise<Journal> {
  const known = new Map<string, Promise<Journal>>()
  return (session_id) => {
    const reading = known.get(session_id) ?? fallbackIfUnreadable(store.journal(session_id), undefined)
    known.set(session_id, reading)
    return reading
  }
}

interface Reading {
  readonly period?: RunFilter['period']
  readonly journal: Journal
}

/** Contract: undefined if the run did nothing in the period. */
export async function readPastRun(
  sources: Pick<PastSources, 'snapshots'>,
  dispatch: Dispatch,
  { period, journal }: Reading,
): Promise<PastRun | undefined> {
  const isInPeriod = (ts: number): boolean => period === undefined || (ts >= period.from && ts < period.to)
  const all = recordsOfRun(journal ?? [], dispatch.dispatch_id)
  const records = all.filter(({ ts }) => isInPeriod(ts))
  const [created, changed] = [Date.parse(dispatch.created_at), Date.parse(dispatch.updated_at)]
  if (records.length === 0 && !isInPeriod(created) && !(all.length === 0 && isInPeriod(changed))) return undefined
  const { dispatch_id: run_id, session_id, agent_id, prompt, metadata, status } = dispatch
  const files = (await findWrittenFiles(sources, run_id, all)).filter(({ ts }) => isInPeriod(ts))
  return {
    ...{ run_id, session_id, agent_id, status, outcome: outcomeOf(dispatch), files },
    title: titleOfRun(prompt, metadata.behaviour),
    ...{ usd: costIn(records), created, changed, label: labelOfRun(dispatch, journal) },
    from: records[0]?.ts ?? created,
    to: records.at(-1)?.ts ?? changed,
  }
}

/** Contract: the label of a session; of one that cannot be read: untrusted; of one that has not begun: its prompt's. */
export function labelOfRun({ metadata }: Dispatch, journal: Journal): Label {
  if (!journal) return UNTRUSTED_LABEL
  const given = metadata.label as Label | undefined
  return lowestLabel(labelOfJournal(journal), given ?? CLEAN_LABEL)
}

export const lowestOf = (labels: readonly { readonly label: Label }[]): Label =>
  labels.reduce((lowest, { label }) => lowestLabel(lowest, label), CLEAN_LABEL)

/** Contract: pure; the dollars that answers cost, null if a price is not known. */
function costIn(records: readonly JournalRecord[]): number | null {
  let sum = 0
  for (const record of records) {
    if (record.kind !== 'model_answered' && record.kind !== 'intent_fixed') continue
    if (record.usd === undefined) return null
    sum += record.usd
  }
  return sum
}

/** The runs whose title or outcome has one of the words, those with most of them first. */
const bestFirst = (runs: readonly PastRun[], text: string): readonly PastRun[] =>
  runs
    .map((run) => ({ run, score: overlap(run, text) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ run }) => run)

/** Contract: pure; how many different words of the text the run's title has; its outcome counts a quarter. */
export function overlap({ title, outcome }: Pick<PastRun, 'title' | 'outcome'>, text: string): number {
  const wanted = new Set(searchWords(text))
  const shared = (other: string): number => new Set(searchWords(other)).intersection(wanted).size
  return shared(title) + shared(outcome ?? '') / 4
}

/** Words that questions and titles have anyway. */
const COMMON = new Set([
  ...['the', 'and', 'did', 'you', 'why', 'what', 'how', 'was', 'were', 'for', 'with', 'that', 'this', 'have', 'has'],
  ...['your', 'when', 'who', 'which', 'from', 'into', 'about', 'fail', 'failed', 'run', 'runs', 'task', 'come', 'made'],
  ...[
    'want',
    'wanted',
    'know',
    'tell',
    'explain',
    'reason',
    'cost',
    'today',
    'yesterday',
    'last',
    'week',
    'not',
    'are',
  ],
  ...[
    '为什',
    '什么',
    '怎么',
    '失败',
    '为何',
    '任务',
    '昨天',
    '今天',
    '上周',
    '原因',
    '做了',
    '了什',
    '么要',
    '么会',
    '么失',
  ],
])

/** Without endings, so that "backup check" finds "Check the backups". */
export const searchWords = (text: string): string[] =>
  tokenize(text)
    .filter((word) => !COMMON.has(word) && (word.length > 2 || /\P{ASCII}/u.test(word)))
    .map((word) => (/^[a-z]{5,}$/.test(word) ? word.replace(/(?:ies|y|ing|ed|es|s)$/, '') : word))

export interface PastCycles {
  readonly total: number
  /** Without work for an agent. */
  readonly idle: number
  /** The newest ones that failed or ended with an error. */
  readonly failed: readonly { readonly cycle_id: string; readonly at: number; readonly error: string | null }[]
  readonly is_cut: boolean
}

const MAX_CYCLES = 5000

export async function findPastCycles(
  { store, kernelId }: PastSources,
  period: RunFilter['period'],
): Promise<PastCycles> {
  const cycles = await store.cycles(kernelId, { limit: MAX_CYCLES })
  const startOf = ({ started_at }: Cycle): number => Date.parse(started_at)
  const inPeriod = cycles.filter((cycle) => !period || (startOf(cycle) >= period.from && startOf(cycle) < period.to))
  const failed = inPeriod.filter(({ result }) => result?.status === 'failed' || result?.status === 'error')
  const oldest = cycles.at(-1)
  return {
    total: inPeriod.length,
    idle: inPeriod.filter(({ result }) => result !== null && result.dispatched === 0 && result.error === null).length,
    failed: failed.map((cycle) => ({
      ...{ cycle_id: cycle.cycle_id, at: startOf(cycle), error: cycle.result?.error ?? null },
    })),
    is_cut: cycles.length === MAX_CYCLES && oldest !== undefined && (!period || startOf(oldest) >= period.from),
  }
}
