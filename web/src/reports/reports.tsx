/** The place Reports: one card for each day, which opens to its report. */

import { readCommand } from '../api.ts'
import { Card, Chevron, Dot, Empty } from '../components.tsx'
import { money } from '../format.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { navigate } from '../shell/router.ts'
import { REPORTS_TEXTS, type ReportsTexts } from '../texts/reports.ts'
import { useFetched } from '../use-fetched.ts'
import { useViewContext, type ViewContext } from '../view-context.ts'
import { Report } from './report.tsx'
import type { ReportDay } from './report-types.ts'

const DAYS = 30

export function Reports(props: PlaceProps) {
  const { page, texts, language, query } = props
  const own = REPORTS_TEXTS[language]
  const context = useViewContext(props, 30_000)
  const days = useFetched(page, '', () => readCommand('reports list', { days: DAYS }))
  const items = days.kind === 'ready' ? days.data.items : []
  const worked = items.filter(({ runs, usd }) => runs > 0 || usd > 0)
  const open = query.get('day') ?? worked[0]?.day
  return (
    <div class="mx-auto flex max-w-3xl flex-col gap-4">
      <header>
        <h1 class="text-xl font-semibold tracking-tight">{texts.places.reports}</h1>
        <p class="mt-0.5 text-muted">{own.subtitle}</p>
      </header>
      {days.kind === 'failed' && <p class="text-fault">{own.failed(days.reason)}</p>}
      {days.kind === 'ready' && worked.length === 0 && (
        <Card>
          <Empty>{own.empty}</Empty>
        </Card>
      )}
      {worked.map((day) => (
        <Card key={day.day}>
          <DayHeader {...{ context, own, day }} isOpen={day.day === open} isToday={day.day === items[0]?.day} />
          {day.day === open && <Report {...{ context, own, page }} day={day} />}
        </Card>
      ))}
    </div>
  )
}

interface DayHeaderProps {
  readonly context: ViewContext
  readonly own: ReportsTexts
  readonly day: ReportDay
  readonly isOpen: boolean
  readonly isToday: boolean
}

const HEADER_CLASSES = 'flex w-full cursor-pointer flex-wrap items-baseline gap-x-3 gap-y-0.5 px-4 py-3 text-left'

function DayHeader({ context: { language }, own, day, isOpen, isToday }: DayHeaderProps) {
  // Another day, also one that does not exist, closes this one.
  const other = isOpen ? '/reports?day=none' : `/reports?day=${day.day}`
  return (
    <button
      type="button"
      class={`${HEADER_CLASSES} ${isOpen ? 'border-b border-line' : 'rounded-xl hover:bg-sunken'}`}
      aria-expanded={isOpen}
      data-day={day.day}
      onClick={() => navigate(other, { replace: true })}
    >
      <Dot tone={day.failed > 0 ? 'fault' : 'live'} />
      <h2 class="font-semibold">{dayInWords(day.day, language)}</h2>
      {isToday && <span class="label">{own.today}</span>}
      <span class="label figures ml-auto flex items-center gap-3">
        {day.failed > 0 && <span class="text-fault">{own.failures(day.failed)}</span>}
        <span>{day.runs === 0 ? own.quiet : own.runs(day.runs)}</span>
        <span>{money(day.usd, language)}</span>
        <span class={isOpen ? 'rotate-90' : ''}>
          <Chevron />
        </span>
      </span>
    </button>
  )
}

const LOCALES = { en: 'en-GB', zh: 'zh-CN' } as const

/** The day is one of the owner's time zone, so it is not converted. */
const dayInWords = (day: string, language: ViewContext['language']): string =>
  new Intl.DateTimeFormat(LOCALES[language], {
    ...{ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' },
  }).format(Date.parse(`${day}T00:00:00Z`))
