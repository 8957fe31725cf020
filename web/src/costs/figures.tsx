/** The sums: today, this month, the chosen days; with what is left and what is to be expected. */

import type { ComponentChildren } from 'preact'
import { Card } from '../components.tsx'
import { count, type Language, money } from '../format.ts'
import type { CostsTexts } from '../texts/costs.ts'
import type { Budget } from './limits.tsx'
import type { Spending } from './plot-data.ts'

interface SumsProps {
  readonly own: CostsTexts
  readonly language: Language
  readonly budget: Budget
  readonly spending: Spending
  readonly days: number
}

export function Sums({ own, language, budget, spending: { total }, days }: SumsProps) {
  const { today, month, caps, forecast } = budget
  const perDay = caps.find(({ name }) => name === 'per_day_usd')
  const calls = (tally: Budget['today']): string => own.callCount(count(tally.calls, language))
  return (
    <Card class="grid divide-y divide-line sm:grid-cols-3 sm:divide-x sm:divide-y-0">
      <Sum name="today" label={own.today} usd={money(today.usd, language)}>
        {perDay ? own.leftToday(money(perDay.left, language)) : own.noDayLimit} · {calls(today)}
      </Sum>
      <Sum name="month" label={own.thisMonth} usd={money(month.usd, language)}>
        {forecast.this_month_usd === null
          ? own.noForecast
          : own.monthForecast(money(forecast.this_month_usd, language))}
      </Sum>
      <Sum name="range" label={own.inDays(days)} usd={money(total.usd, language)}>
        {calls(total)} · {own.tokenCount(count(total.input_tokens + total.output_tokens, language))}
      </Sum>
    </Card>
  )
}

interface SumProps {
  readonly name: string
  readonly label: string
  readonly usd: string
  readonly children: ComponentChildren
}

const Sum = ({ name, label, usd, children }: SumProps) => (
  <div class="flex min-w-0 flex-col gap-0.5 px-4 py-4 sm:px-5" data-sum={name}>
    <span class="label">{label}</span>
    <span class="figures text-3xl font-light tracking-tight">{usd}</span>
    <span class="label figures min-h-5">{children}</span>
  </div>
)
