/** The place Costs: what was spent, on what, what is left, and what is to be expected. */

import { readCommand, runCommand } from '../api.ts'
import { Card, Empty, Section } from '../components.tsx'
import type { PlaceProps } from '../shell/place.tsx'
import { navigate } from '../shell/router.ts'
import { COSTS_TEXTS, type CostsTexts } from '../texts/costs.ts'
import { useFetched } from '../use-fetched.ts'
import { useLast, useOnce } from '../use-once.ts'
import { useViewContext, type ViewContext } from '../view-context.ts'
import { Breakdown, DayTable } from './breakdown.tsx'
import { ExpensiveRuns } from './expensive-runs.tsx'
import { Sums } from './figures.tsx'
import { Limits } from './limits.tsx'
import { IdleCost, PlannedCost } from './outlook.tsx'
import { SpendPlot } from './plot.tsx'
import { MEASURES, type Measure, type Spending } from './plot-data.ts'
import { Switch } from './switch.tsx'

const RANGES = [7, 30, 90] as const
const GROUPS = ['day', 'agent', 'model'] as const
const RUNS_SHOWN = 8

interface Choice {
  readonly days: (typeof RANGES)[number]
  readonly by: (typeof GROUPS)[number]
  /** Undefined: dollars, unless nothing cost money. */
  readonly measure: Measure | undefined
}

const readChoice = (query: URLSearchParams): Choice => ({
  days: RANGES.find((days) => String(days) === query.get('days')) ?? 30,
  by: GROUPS.find((by) => by === query.get('by')) ?? 'agent',
  measure: MEASURES.find((measure) => measure === query.get('as')),
})

/** Without an entry in the history: the choices are not places. */
function choose(choice: Choice): void {
  const query = new URLSearchParams({ days: String(choice.days), by: choice.by })
  if (choice.measure) query.set('as', choice.measure)
  navigate(`/costs?${query}`, { replace: true })
}

export function Costs(props: PlaceProps) {
  const { page, texts, language, query } = props
  const own = COSTS_TEXTS[language]
  const context = useViewContext(props, 30_000)
  const choice = readChoice(query)
  const { days, by } = choice
  const spending = useFetched(page, `${days} ${by}`, () => readCommand('budget spend', { days, by }))
  const budget = useFetched(page, '', () => readCommand('budget show'))
  const shown = useLast(spending)
  // Both are computed from many files, so they are fetched again only after a run has ended.
  const ended = page.view.recent[0]?.updated_at
  const runs = useOnce(page, `${days} ${ended}`, () => readCommand('budget spend', { days, runs: RUNS_SHOWN }))
  const planned = useOnce(page, `${ended}`, () => runCommand('simulate', { days: 7, limit: 0 }))
  const failed = [spending, budget].find(({ kind }) => kind === 'failed')
  return (
    <div class="mx-auto flex max-w-5xl flex-col gap-7">
      <header class="flex flex-wrap items-center justify-between gap-3">
        <h1 class="text-xl font-semibold tracking-tight">{texts.places.costs}</h1>
        <Switch
          label={own.range}
          value={days}
          options={RANGES.map((value) => ({ value, name: own.days(value) }))}
          onChoose={(value) => choose({ ...choice, days: value })}
        />
      </header>
      {failed?.kind === 'failed' && !shown && <Empty>{own.failed(failed.reason)}</Empty>}
      {shown && budget.kind === 'ready' && <Sums {...{ own, language, days }} budget={budget.data} spending={shown} />}
      <div class="grid gap-7 lg:grid-cols-[minmax(0,5fr)_minmax(0,3fr)]">
        <div class="flex min-w-0 flex-col gap-7">
          {shown && <Spent context={context} own={own} spending={shown} choice={choice} />}
          {runs && <ExpensiveRuns context={context} own={own} runs={runs.runs} />}
        </div>
        <div class="flex min-w-0 flex-col gap-7">
          {budget.kind === 'ready' && <Limits {...{ context, page, own }} budget={budget.data} />}
          {planned && <PlannedCost own={own} language={language} simulation={planned} />}
          {shown && <IdleCost own={own} language={language} spending={shown} />}
        </div>
      </div>
    </div>
  )
}

interface SpentProps {
  readonly context: ViewContext
  readonly own: CostsTexts
  readonly spending: Spending
  readonly choice: Choice
}

function Spent({ context: { language }, own, spending, choice }: SpentProps) {
  const { total } = spending
  const measure = choice.measure ?? (total.usd === 0 && total.calls > 0 ? 'calls' : 'usd')
  const shown = { own, language, spending, measure }
  return (
    <Section title={own.spending}>
      <Card>
        <div class="flex flex-wrap items-center justify-between gap-2 px-4 pt-3 sm:px-5">
          <Switch
            label={own.groupBy}
            value={choice.by}
            options={GROUPS.map((value) => ({ value, name: own.groups[value] }))}
            onChoose={(by) => choose({ ...choice, by })}
          />
          <Switch
            label={own.measure}
            value={measure}
            options={MEASURES.map((value) => ({ value, name: own.measures[value] }))}
            onChoose={(value) => choose({ ...choice, measure: value })}
          />
        </div>
        {total.calls === 0 ? (
          <Empty>
            {own.empty} {own.emptyMore}
          </Empty>
        ) : (
          <>
            <div class="px-4 pb-3 sm:px-5">
              <SpendPlot {...shown} />
            </div>
            <Breakdown {...shown} />
            <DayTable {...shown} />
          </>
        )}
      </Card>
    </Section>
  )
}
