/** What whoever starts a kernel for the first time is told: work at once, where its result lies, what that costs, and what it would. */

import type { AgentResult } from '../domain/cycle.ts'
import { costOf, dollars, MICROS } from '../domain/money.ts'
import { recordsOfRun } from '../domain/record.ts'
import { unlessUnreadable } from '../ports/store.ts'
import type { Context, Progress } from './command.ts'
import { forecastDay } from './forecast.ts'
import { madeBy, wroteFiles } from './made.ts'

type Tell = (progress: Progress) => void

/** Contract: tells of every run that ends well which files it has made, until it is called again; telling harms nobody. */
export function tellMade({ listen, store }: Context, tell: Tell): () => void {
  /** Runs seen from their beginning that have written nothing yet: their journals need not be read again. */
  const idle = new Set<string>()
  return listen((progress) => {
    if (progress.kind !== 'event') return
    const { run_id, phase, ok } = progress.event
    if (phase === 'INIT') idle.add(run_id)
    if (wroteFiles(progress.event)) idle.delete(run_id)
    if (phase !== 'END' || idle.delete(run_id) || !ok) return
    madeBy(store, run_id).then(
      (files) => {
        for (const file of files) tell({ kind: 'note', text: `made: ${file}` })
      },
      () => {},
    )
  })
}

/** A kernel that has never had a cycle has one now, with everybody: nobody wants to wait for a beat to see whether it works. */
export async function firstCycle(context: Context, tell: Tell): Promise<void> {
  const cycled = await context.kernel.first()
  const usage = await usageOf(context, cycled?.result.agents ?? [])
  // Where no answer came, there is nothing to reckon with.
  if (usage.input_tokens > 0) tell({ kind: 'note', text: await costLine(context, usage) })
}

type Usage = Parameters<typeof costOf>[1]

async function costLine(context: Context, usage: Usage): Promise<string> {
  const { starter, settings, clock } = context
  const { own, paid } = await starter.prospects()
  const tokens = `${(usage.input_tokens + usage.output_tokens).toLocaleString('en')} tokens`
  const free = own.price !== null && own.price.input + own.price.output === 0
  const { id, price } = free ? paid : own
  if (price === null) return `that were ${tokens}; no price is known of ${id}: say it under models.prices`
  const cycle = costOf(price, usage) / MICROS
  const day = forecastDay(settings(), price, clock.now()).reduce((sum, { usd }) => sum + (usd ?? 0), 0)
  const said = `about ${dollars(cycle)} (${tokens})`
  return free
    ? `that cost nothing with ${own.id}; with ${id} it would be ${said}, and a day like this about ${dollars(day)}`
    : `that cost ${said} with ${id}; a day like this is about ${dollars(day)}: budget show`
}

/** What its runs have used, from their own records. */
async function usageOf({ store }: Context, agents: readonly AgentResult[]): Promise<Usage> {
  const journals = await Promise.all(
    agents.map(async ({ session_id, dispatch_id }) =>
      recordsOfRun(await unlessUnreadable(store.journal(session_id), []), dispatch_id),
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
