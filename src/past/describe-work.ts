/** Says what was done, what it cost and what failed in a period. Pure. */

import type { DispatchStatus } from '../domain/dispatch.ts'
import type { Language } from '../domain/language.ts'
import { formatDollars } from '../domain/money.ts'
import { shortId } from '../domain/short-id.ts'
import { truncateText } from '../domain/truncate.ts'
import type { PastCycles, PastRun, PastRuns } from './past-runs.ts'
import type { PastSpend } from './past-spend.ts'
import type { Period } from './period.ts'
import { isOneDay, sayMoment, sayPeriod, type Voice } from './say-time.ts'

/** What happened in a period. */
export interface PastWork extends PastRuns {
  readonly period: Period
  readonly cycles: PastCycles
  readonly spend: PastSpend
}

interface Texts {
  readonly statuses: Readonly<Record<DispatchStatus, string>>
  nothing(period: string): string
  noFailure(period: string): string
  total(period: string, runs: string): string
  runs(count: number): string
  failures(period: string, count: number): string
  readonly wrote: string
  readonly noPrice: string
  cycles(total: number, idle: number): string
  cycleFailed(id: string, error: string): string
  cost(usd: string): string
  leftOut(count: number): string
  readonly cut: string
  readonly outside: string
  readonly run: string
}

const ENGLISH: Texts = {
  statuses: {
    ...{ pending: 'queued', running: 'running', waiting: 'waiting', done: 'done', failed: 'failed' },
    ...{ cancelled: 'cancelled', dead: 'set aside after crashes' },
  },
  nothing: (period) => `${period}: nothing happened. There were no runs and no cycles.`,
  noFailure: (period) => `${period}: nothing failed.`,
  total: (period, runs) => `${period}: ${runs}.`,
  runs: (count) => (count === 0 ? 'no runs' : count === 1 ? '1 run' : `${count} runs`),
  failures: (period, count) => `${period}: ${count === 1 ? '1 run' : `${count} runs`} failed.`,
  wrote: 'wrote',
  noPrice: 'price not known',
  cycles: (total, idle) =>
    total === 1
      ? `The kernel ran 1 cycle${idle === 1 ? ', in which there was nothing to do' : ''}.`
      : `The kernel ran ${total} cycles${idle === 0 ? '' : `; ${idle} of them had nothing to do`}.`,
  cycleFailed: (id, error) => `Cycle ${id} failed: ${error}`,
  cost: (usd) => `Cost: ${usd}.`,
  leftOut: (count) => `… and ${count} more, which are left out here.`,
  cut: 'Only the newest runs were searched; there may be more.',
  outside: 'may quote text from outside',
  run: 'run',
}

const CHINESE: Texts = {
  statuses: {
    ...{ pending: '排队中', running: '运行中', waiting: '等待中', done: '完成', failed: '失败' },
    ...{ cancelled: '已取消', dead: '多次崩溃后搁置' },
  },
  nothing: (period) => `${period}：什么也没有发生。没有任务，也没有周期。`,
  noFailure: (period) => `${period}：没有失败的任务。`,
  total: (period, runs) => `${period}：${runs}。`,
  runs: (count) => (count === 0 ? '没有任务' : `${count} 个任务`),
  failures: (period, count) => `${period}：${count} 个任务失败。`,
  wrote: '写了',
  noPrice: '价格未知',
  cycles: (total, idle) => `内核跑了 ${total} 个周期${idle === 0 ? '' : `，其中 ${idle} 个没有事可做`}。`,
  cycleFailed: (id, error) => `周期 ${id} 失败：${error}`,
  cost: (usd) => `花费：${usd}。`,
  leftOut: (count) => `……还有 ${count} 个，这里没有列出。`,
  cut: '只查了最新的任务，可能还有更多。',
  outside: '可能引用了外部的文字',
  run: '任务',
}

const TEXTS: Readonly<Record<Language, Texts>> = { en: ENGLISH, zh: CHINESE }

const MAX_OUTCOME = 200
const MAX_FILES = 10

export function describeWork(work: PastWork, voice: Voice): string {
  const texts = TEXTS[voice.language]
  const { period, runs, cycles, spend, left_out, is_cut } = work
  const said = sayPeriod(period, voice)
  const cost = spend.usd > 0 ? [texts.cost(sayAmount(spend, texts))] : []
  if (runs.length === 0 && cycles.total === 0) return [texts.nothing(said), ...cost].join('\n')
  const oneDay = isOneDay(period, voice.clock)
  return [
    texts.total(said, countStatuses(runs, left_out, voice.language)),
    ...runs.toReversed().map((run) => describeRunLine(run, voice, oneDay)),
    // An empty line ends the list: without it, a reader of Markdown takes what follows for a part of the last entry.
    ...(runs.length > 0 ? [''] : []),
    ...(left_out > 0 ? [texts.leftOut(left_out)] : []),
    ...(is_cut ? [texts.cut] : []),
    ...describeCycles(cycles, voice.language),
    ...cost,
  ]
    .join('\n')
    .trimEnd()
}

/** Contract: pure; a line, or none if there was no cycle. */
export const describeCycles = ({ total, idle }: PastCycles, language: Language): readonly string[] =>
  total > 0 ? [TEXTS[language].cycles(total, idle)] : []

/** "3 runs: 2 done, 1 failed". */
export function countStatuses(runs: readonly PastRun[], left_out: number, language: Language): string {
  const texts = TEXTS[language]
  const counted = [...Map.groupBy(runs, ({ status }) => status)]
  const parts = counted.map(([status, of]) => `${of.length} ${texts.statuses[status]}`)
  const total = texts.runs(runs.length + left_out)
  if (runs.length === 0 || left_out > 0) return total
  return texts === CHINESE ? `${total}（${parts.join('，')}）` : `${total} (${parts.join(', ')})`
}

export function describeRunLine(run: PastRun, voice: Voice, oneDay: boolean): string {
  const texts = TEXTS[voice.language]
  const { agent_id, title, outcome, files, run_id, label } = run
  const paths = [...new Set(files.map(({ path }) => path))]
  const more = paths.length > MAX_FILES ? ` (+${paths.length - MAX_FILES})` : ''
  const details = [sayRunDetails(run, voice.language), `${texts.run} ${shortId(run_id)}`]
  const outside = label.trust === 'untrusted' ? ` (${texts.outside})` : ''
  return [
    `- ${sayMoment(run.from, voice, oneDay)} ${agent_id}: ${title} (${details.join(', ')})`,
    ...(paths.length > 0 ? [`  ${texts.wrote} ${paths.slice(0, MAX_FILES).join(', ')}${more}`] : []),
    ...(outcome === null ? [] : [`  “${oneLine(outcome)}”${outside}`]),
  ].join('\n')
}

/** "done, $0.012". */
export function sayRunDetails({ status, usd }: PastRun, language: Language): string {
  const texts = TEXTS[language]
  return `${texts.statuses[status]}, ${usd === null ? texts.noPrice : sayDollars(usd)}`
}

const oneLine = (text: string): string =>
  truncateText(text.replaceAll(/\s+/g, ' ').trim(), MAX_OUTCOME, { mark: '…', includesMark: true, unit: 'code_point' })

const FAILED: ReadonlySet<DispatchStatus> = new Set(['failed', 'dead'])

export function describeFailures(work: PastWork, voice: Voice): string {
  const texts = TEXTS[voice.language]
  const { period, runs, cycles, is_cut } = work
  const said = sayPeriod(period, voice)
  const failed = runs.filter(({ status }) => FAILED.has(status))
  const lines = [
    ...failed.toReversed().map((run) => describeRunLine(run, voice, isOneDay(period, voice.clock))),
    ...cycles.failed.flatMap(({ cycle_id, error }) =>
      error === null ? [] : [texts.cycleFailed(shortId(cycle_id), oneLine(error))],
    ),
  ]
  if (lines.length === 0) return [texts.noFailure(said), ...(is_cut ? [texts.cut] : [])].join('\n')
  return [texts.failures(said, failed.length), ...lines, ...(is_cut ? [texts.cut] : [])].join('\n')
}

/** Nothing is $0, not $0.000. */
const sayDollars = (usd: number): string => (usd === 0 ? '$0' : formatDollars(usd))

const sayAmount = ({ usd, is_partly_unpriced }: PastSpend, { noPrice }: Texts): string =>
  `${sayDollars(usd)}${is_partly_unpriced ? ` (+ ${noPrice})` : ''}`

const SPEND_TEXTS = {
  en: {
    none: (period: string) => `${period}: nothing was spent. No model was called.`,
    total: (period: string, usd: string) => `${period}: ${usd}.`,
    calls: (calls: number, tokens: number) => `${calls} calls of models, ${tokens} tokens.`,
    line: (name: string, usd: string, calls: number) => `- ${name}: ${usd} (${calls} calls)`,
    free: 'The models that were called have no price, or cost nothing.',
  },
  zh: {
    none: (period: string) => `${period}：没有花钱，没有调用模型。`,
    total: (period: string, usd: string) => `${period}：${usd}。`,
    calls: (calls: number, tokens: number) => `调用模型 ${calls} 次，${tokens} 个 token。`,
    line: (name: string, usd: string, calls: number) => `- ${name}：${usd}（${calls} 次）`,
    free: '所用的模型没有价格，或者不花钱。',
  },
} as const

const MAX_LINES = 31

export function describeSpend(spend: PastSpend, period: Period, voice: Voice): string {
  const texts = SPEND_TEXTS[voice.language]
  const said = sayPeriod(period, voice)
  const { usd, calls, tokens, lines } = spend
  if (usd === 0 && (calls ?? 0) === 0 && lines.length === 0) return texts.none(said)
  const shown = lines.slice(0, MAX_LINES)
  return [
    texts.total(said, sayDollars(usd)),
    ...shown.map((line) => texts.line(line.name, sayDollars(line.usd), line.calls)),
    ...(lines.length > shown.length ? [TEXTS[voice.language].leftOut(lines.length - shown.length)] : []),
    ...(calls === null || tokens === null ? [] : [texts.calls(calls, tokens)]),
    ...(spend.is_partly_unpriced ? [texts.free] : []),
  ].join('\n')
}
