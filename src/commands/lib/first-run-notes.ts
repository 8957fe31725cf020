/** Notes of the first start: files that runs wrote, the cost of the first cycle, and the forecast for a day. */

import type { AgentResult } from '../../domain/cycle.ts'
import { recordsOfRun } from '../../domain/journal-record.ts'
import type { PeopleText } from '../../domain/language.ts'
import { costOf, formatDollars, MICROS_PER_USD } from '../../domain/money.ts'
import { fallbackIfUnreadable } from '../../ports/store.ts'
import type { Needs } from './context.ts'
import { forecastDay } from './forecast.ts'
import type { Progress } from './progress.ts'
import { filesWrittenBy, wroteFiles } from './written-files.ts'

type Tell = (progress: Progress) => void

/** Contract: tells which files each successful run wrote, until the returned function is called. Ignores errors. */
export function announceWrittenFiles(
  { listen, ...stored }: Needs<'listen' | 'snapshots' | 'store'>,
  tell: Tell,
): () => void {
  /** Runs that have written no file since their start, so their journals need not be read. */
  const withoutFiles = new Set<string>()
  return listen((progress) => {
    if (progress.kind !== 'event') return
    const { run_id, phase, ok } = progress.event
    if (phase === 'INIT') withoutFiles.add(run_id)
    if (wroteFiles(progress.event)) withoutFiles.delete(run_id)
    if (phase !== 'END' || withoutFiles.delete(run_id) || !ok) return
    filesWrittenBy(stored, run_id).then(
      (files) => {
        for (const file of files) tell({ kind: 'note', text: `wrote ${file}`, zh: `已写入 ${file}` })
      },
      () => {},
    )
  })
}

/** Runs one cycle with all agents if there has never been one, so that the user need not wait for a beat. */
export async function runAndPriceFirstCycle(
  context: Needs<'clock' | 'homeSetup' | 'kernel' | 'settings' | 'store'>,
  tell: Tell,
): Promise<void> {
  const cycled = await context.kernel.runFirstCycle()
  const usage = await usageOf(context, cycled?.result.agents ?? [])
  // No input tokens: no model answered, so there is no cost to report.
  if (usage.input_tokens > 0) tell({ kind: 'note', ...(await costLine(context, usage)) })
}

type Usage = Parameters<typeof costOf>[1]

async function costLine(context: Needs<'clock' | 'homeSetup' | 'settings'>, usage: Usage): Promise<PeopleText> {
  const { homeSetup: starter, settings, clock } = context
  const { own, paid } = await starter.modelPrices()
  const tokens = (usage.input_tokens + usage.output_tokens).toLocaleString('en')
  const free = own.price !== null && own.price.input + own.price.output === 0
  const { id, price } = free ? paid : own
  if (price === null)
    return {
      text: `Used ${tokens} tokens. No price for ${id}; set models.prices.`,
      zh: `用了 ${tokens} 个 token。不知道 ${id} 的价格；请设置 models.prices。`,
    }
  const cycle = costOf(price, usage) / MICROS_PER_USD
  const day = forecastDay(settings(), price, clock.now()).reduce((sum, { usd }) => sum + (usd ?? 0), 0)
  const [once, daily] = [formatDollars(cycle), formatDollars(day)]
  const cost = { text: `about ${once} (${tokens} tokens)`, zh: `约 ${once}（${tokens} 个 token）` }
  if (free)
    return {
      text: `Cost nothing with ${own.id}. With ${id}: ${cost.text}, and about ${daily} a day.`,
      zh: `使用 ${own.id} 不花钱。若用 ${id}：${cost.zh}，每天约 ${daily}。`,
    }
  return {
    text: `Cost ${cost.text} with ${id}, and about ${daily} a day. Run: tireless budget show`,
    zh: `使用 ${id} 花费${cost.zh}，每天约 ${daily}。查看：tireless budget show`,
  }
}

/** The token usage of the agents' runs, summed from their journals. */
async function usageOf({ store }: Needs<'store'>, agents: readonly AgentResult[]): Promise<Usage> {
  const journals = await Promise.all(
    agents.map(async ({ session_id, dispatch_id }) =>
      recordsOfRun(await fallbackIfUnreadable(store.journal(session_id), []), dispatch_id),
    ),
  )
  const usages = journals.flat().flatMap((record) => (record.kind === 'model_answered' ? [record.answer.usage] : []))
  const sum = (pick: (usage: (typeof usages)[number]) => number): number =>
    usages.reduce((all, usage) => all + pick(usage), 0)
  return {
    input_tokens: sum(({ input_tokens }) => input_tokens),
    output_tokens: sum(({ output_tokens }) => output_tokens),
    cached_tokens: sum(({ cached_tokens }) => cached_tokens),
    written_tokens: sum(({ written_tokens = 0 }) => written_tokens),
  }
}
