/** What each agent or model cost in the period, and the days as a table for those who do not see the bars. */

import { Chevron } from '../components.tsx'
import { count, type Language, money, visibleText } from '../format.ts'
import type { CostsTexts } from '../texts/costs.ts'
import { formatAmount, formatDay } from './amounts.ts'
import { swatchOf } from './colours.ts'
import { Swatch } from './plot.tsx'
import { amountOf, type Measure, plotOf, type Spending } from './plot-data.ts'

interface BreakdownProps {
  readonly own: CostsTexts
  readonly language: Language
  readonly spending: Spending
  readonly measure: Measure
}

export function Breakdown({ own, language, spending, measure }: BreakdownProps) {
  const { keys, total } = spending
  const most = amountOf(measure, total)
  return (
    <ul class="divide-y divide-line border-t border-line">
      {keys.map((each) => {
        const share = most === 0 ? 0 : amountOf(measure, each) / most
        return (
          <li key={each.key} class="px-4 py-2.5 sm:px-5" data-spender={each.key ?? ''}>
            <div class="flex items-baseline justify-between gap-3">
              <span class="flex min-w-0 items-baseline gap-2">
                <Swatch colour={swatchOf(keys, each.key)} />
                <span class="line-clamp-2 min-w-0 font-medium wrap-anywhere">{nameOf(own, each.key)}</span>
              </span>
              <span class="figures shrink-0 font-medium">{money(each.usd, language)}</span>
            </div>
            <div class="mt-1 flex items-center gap-3">
              <span class="h-1 w-24 shrink-0 overflow-hidden rounded-full bg-sunken sm:w-40" aria-hidden="true">
                <span class={`block h-full ${swatchOf(keys, each.key)}`} style={{ width: `${share * 100}%` }} />
              </span>
              <span class="label figures min-w-0">{describe(own, each, language)}</span>
            </div>
          </li>
        )
      })}
    </ul>
  )
}

const nameOf = (own: CostsTexts, key: string | null): string =>
  key === null ? own.others : key === '' ? own.all : visibleText(key)

function describe(own: CostsTexts, tally: Spending['total'], language: Language): string {
  const { calls, input_tokens, output_tokens, cached_tokens, reserved_usd } = tally
  const cached = input_tokens === 0 ? 0 : Math.round((cached_tokens / input_tokens) * 100)
  return [
    own.callCount(count(calls, language)),
    own.tokensInOut(count(input_tokens, language), count(output_tokens, language)),
    ...(cached > 0 ? [own.fromCache(`${cached} %`)] : []),
    ...(reserved_usd > 0 ? [own.held(money(reserved_usd, language))] : []),
  ].join(' · ')
}

const CELL = 'border-b border-line py-1.5 pr-4 text-right whitespace-nowrap'

export function DayTable({ own, language, spending, measure }: BreakdownProps) {
  const { keys } = spending
  const { bars } = plotOf(spending, measure)
  return (
    <details class="group border-t border-line px-4 py-3 sm:px-5">
      <summary class="label flex cursor-pointer list-none items-center gap-1.5 hover:text-ink">
        <Chevron /> {own.table}
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard, too. */}
      <div class="mt-3 max-h-96 overflow-auto" tabIndex={0}>
        <table class="figures text-[13px]">
          <thead>
            <tr>
              <th class={`${CELL} text-left`}>{own.day}</th>
              <th class={CELL}>{own.sum}</th>
              {keys.map(({ key }) => key !== '' && <th class={CELL}>{nameOf(own, key)}</th>)}
            </tr>
          </thead>
          <tbody>
            {bars.toReversed().map(({ day, amount, segments }) => (
              <tr key={day} data-table-day={day}>
                <th class={`${CELL} text-left font-normal`}>{formatDay(day, language, true)}</th>
                <td class={CELL}>{formatAmount(measure, amount, language)}</td>
                {keys.map(({ key }) => {
                  const part = segments.find((each) => each.key === key)
                  return key !== '' && <td class={CELL}>{part ? formatAmount(measure, part.amount, language) : '–'}</td>
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
