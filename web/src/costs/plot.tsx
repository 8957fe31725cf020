/** Bars of spending per day. The chosen day is read out below; arrow keys choose, so do the mouse and a finger. */

import { useState } from 'preact/hooks'
import { type Language, visibleText } from '../format.ts'
import type { CostsTexts } from '../texts/costs.ts'
import { formatAmount, formatDay } from './amounts.ts'
import { fillOf, swatchOf } from './colours.ts'
import { type DayBar, type Measure, type Plot, plotOf, type Spending } from './plot-data.ts'

interface PlotProps {
  readonly own: CostsTexts
  readonly language: Language
  readonly spending: Spending
  readonly measure: Measure
}

export function SpendPlot({ own, language, spending, measure }: PlotProps) {
  const plot = plotOf(spending, measure)
  const last = plot.bars.length - 1
  const [chosen, setChosen] = useState<number>()
  const at = Math.min(chosen ?? last, last)
  const bar = plot.bars[at]
  if (!bar) return null
  const choose = (index: number): void => setChosen(Math.max(0, Math.min(last, index)))
  return (
    <div class="min-w-0">
      <div class="relative pt-3 pr-14">
        <Grid top={plot.top} measure={measure} language={language} />
        <div
          class="relative h-44 cursor-crosshair"
          role="slider"
          tabIndex={0}
          aria-label={own.chooseDay}
          aria-valuemin={0}
          aria-valuemax={last}
          aria-valuenow={at}
          aria-valuetext={sayDay({ own, language, spending, measure }, bar)}
          onKeyDown={(event) => followKey(event, at, last, choose)}
          onPointerMove={(event) => choose(columnAt(event, plot.bars.length))}
          onPointerDown={(event) => choose(columnAt(event, plot.bars.length))}
        >
          <Bars
            plot={plot}
            spending={spending}
            chosen={at}
            label={sayPlot({ own, language, spending, measure }, plot)}
          />
        </div>
        <DayAxis bars={plot.bars} language={language} />
      </div>
      <Readout own={own} language={language} spending={spending} measure={measure} bar={bar} />
    </div>
  )
}

interface BarsProps {
  readonly plot: Plot
  readonly spending: Spending
  readonly chosen: number
  readonly label: string
}

/** Part of a column that its bar fills. */
const BAR_WIDTH = 0.72

function Bars({ plot: { bars }, spending: { keys }, chosen, label }: BarsProps) {
  return (
    <svg
      class="absolute inset-0 size-full overflow-visible"
      viewBox={`0 0 ${bars.length} 1`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      data-plot
    >
      {bars.map(({ day, segments }, at) => (
        <g key={day} data-day={day} class={at === chosen ? '' : 'opacity-80'}>
          <rect x={at} y="0" width="1" height="1" class={at === chosen ? 'fill-sunken' : 'fill-transparent'} />
          {segments.map(({ key, from, height, amount }) => (
            <rect
              key={key}
              x={at + (1 - BAR_WIDTH) / 2}
              y={1 - from - height}
              width={BAR_WIDTH}
              height={height}
              class={fillOf(keys, key)}
              data-amount={amount}
            />
          ))}
        </g>
      ))}
    </svg>
  )
}

interface GridProps {
  readonly top: number
  readonly measure: Measure
  readonly language: Language
}

function Grid({ top, measure, language }: GridProps) {
  return (
    <div class="absolute inset-x-0 top-3 h-44" aria-hidden="true">
      {[0, 0.5, 1].map((part) => (
        <div key={part} class="absolute inset-x-0 border-t border-line" style={{ top: `${(1 - part) * 100}%` }}>
          <span class="label figures absolute right-0 -translate-y-1/2 bg-surface pl-1.5">
            {formatAmount(measure, top * part, language)}
          </span>
        </div>
      ))}
    </div>
  )
}

/** Days that are named below the bars; on a phone, every other one. */
const NAMED_DAYS = 7
const DAY_CLASSES = 'label figures absolute -translate-x-1/2 whitespace-nowrap'

function DayAxis({ bars, language }: { readonly bars: readonly DayBar[]; readonly language: Language }) {
  const step = Math.ceil(bars.length / NAMED_DAYS)
  const named = bars.filter((_, at) => (bars.length - 1 - at) % step === 0)
  return (
    <div class="relative mt-1.5 h-5" aria-hidden="true">
      {named.map((bar, at) => (
        <span
          key={bar.day}
          class={`${DAY_CLASSES} ${at % 2 === named.length % 2 ? 'max-sm:hidden' : ''}`}
          style={{ left: `${((bars.indexOf(bar) + 0.5) / bars.length) * 100}%` }}
        >
          {formatDay(bar.day, language)}
        </span>
      ))}
    </div>
  )
}

interface ReadoutProps extends PlotProps {
  readonly bar: DayBar
}

function Readout({ own, language, spending: { keys }, measure, bar }: ReadoutProps) {
  return (
    <div class="mt-3 flex min-h-12 flex-wrap items-baseline gap-x-4 gap-y-1" data-readout={bar.day}>
      <span class="font-medium">{formatDay(bar.day, language, true)}</span>
      <span class="figures font-medium">{formatAmount(measure, bar.amount, language)}</span>
      {bar.segments
        .filter(({ key, amount }) => key !== '' && amount > 0)
        .map(({ key, amount }) => (
          <span key={key} class="flex max-w-full min-w-0 items-baseline gap-1.5">
            <Swatch colour={swatchOf(keys, key)} />
            <span class="max-w-56 min-w-0 truncate text-muted">{key === null ? own.others : visibleText(key)}</span>
            <span class="figures">{formatAmount(measure, amount, language)}</span>
          </span>
        ))}
    </div>
  )
}

export const Swatch = ({ colour }: { readonly colour: string }) => (
  <span aria-hidden="true" class={`inline-block size-2.5 shrink-0 rounded-[3px] ${colour}`} />
)

function sayDay({ own, language, measure }: PlotProps, { day, amount, segments }: DayBar): string {
  const parts = segments
    .filter(({ key }) => key !== '')
    .map(({ key, amount: part }) => `${key ?? own.others} ${formatAmount(measure, part, language)}`)
  const all = amount === 0 ? own.nothingThatDay : formatAmount(measure, amount, language)
  return visibleText([formatDay(day, language, true), all, ...parts].join(', '))
}

function sayPlot({ own, language, spending, measure }: PlotProps, { bars }: Plot): string {
  const total = bars.reduce((sum, { amount }) => sum + amount, 0)
  const [from, to] = [formatDay(spending.from, language), formatDay(spending.to, language)]
  return own.plot(from, to, formatAmount(measure, total, language))
}

function followKey(event: KeyboardEvent, at: number, last: number, choose: (index: number) => void): void {
  const targets: Readonly<Record<string, number>> = {
    ...{ ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1 },
    ...{ PageDown: at - 7, PageUp: at + 7, Home: 0, End: last },
  }
  const target = targets[event.key]
  if (target === undefined || event.altKey || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  choose(target)
}

function columnAt({ currentTarget, clientX }: PointerEvent, columns: number): number {
  const { left, width } = (currentTarget as Element).getBoundingClientRect()
  return Math.floor(((clientX - left) / Math.max(1, width)) * columns)
}
