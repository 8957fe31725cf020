/** The place Runs: all runs, filtered and searched; the address carries the filters. */

import { readCommand } from '../api.ts'
import type { Dispatch } from '../api-types.ts'
import { Card, Dot, toneOf } from '../components.tsx'
import { clockTime, count, duration, relativeTime, visibleText } from '../format.ts'
import { plainLine } from '../plain-line.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { sayTitle } from '../texts/errors.ts'
import { describeOutcome } from '../texts/reasons.ts'
import { VirtualList } from '../virtual-list.tsx'
import { type ListWindow, useWindowedList } from '../windowed-list.ts'
import { Filters } from './filters.tsx'
import { type RunFilter, readFilter, toQuery, toSearch } from './run-filter.ts'
import { type RunsContext, runAddress, useRunsContext } from './runs-context.ts'
import { isEnded } from './use-trace.ts'

const ROW_PX = 61

export function Runs(props: PlaceProps) {
  const { page, texts, query } = props
  const context = useRunsContext(props)
  const filter = readFilter(query)
  const runs = useWindowedList(page, `runs ${toSearch(filter)}`, (offset, limit) => fetchRuns(filter, offset, limit))
  return (
    <div class="flex flex-col gap-4">
      <header class="flex items-baseline justify-between gap-3">
        <h1 class="text-xl font-semibold tracking-tight">{texts.places.runs}</h1>
        <span class="label figures" data-run-count={runs.total} role="status">
          {runs.total !== undefined && context.own.count(count(runs.total, context.language), runs.total === 1)}
        </span>
      </header>
      <Filters context={context} filter={filter} />
      {runs.total === 0 && <Nothing context={context} isFiltered={toSearch(filter) !== ''} />}
      {runs.total !== undefined && runs.total > 0 && (
        <Card class="overflow-clip">
          <VirtualList
            count={runs.total}
            rowHeight={ROW_PX}
            label={context.own.list}
            onRange={runs.showRange}
            row={(index) => <RunRow context={context} run={runs.itemAt(index)} isFirst={index === 0} />}
          />
        </Card>
      )}
    </div>
  )
}

function fetchRuns(filter: RunFilter, offset: number, limit: number): Promise<ListWindow<Dispatch>> {
  return readCommand('queue list', { ...toQuery(filter), offset, limit, brief: true })
}

function Nothing({ context: { own }, isFiltered }: { readonly context: RunsContext; readonly isFiltered: boolean }) {
  return (
    <Card class="px-6 py-10 text-center">
      <p class="text-lg font-medium">{isFiltered ? own.noMatch : own.empty}</p>
      <p class="mt-1 text-muted">
        <a class="text-link underline underline-offset-2" href={isFiltered ? '/runs' : '/'}>
          {isFiltered ? own.clear : own.emptyMore}
        </a>
      </p>
    </Card>
  )
}

const ROW_CLASSES = [
  'grid h-[61px] grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-3 px-4 hover:bg-sunken',
  'focus-visible:-outline-offset-2',
].join(' ')

interface RunRowProps {
  readonly context: RunsContext
  readonly run: Dispatch | undefined
  readonly isFirst: boolean
}

function RunRow({ context, run, isFirst }: RunRowProps) {
  const { texts, own, language, now } = context
  const border = isFirst ? '' : 'border-t border-line'
  if (!run) return <p class={`${ROW_CLASSES} ${border} text-muted`}>{own.loading}</p>
  const { dispatch_id, agent_id, status, undone_by, outcome } = run
  const at = Date.parse(run.created_at)
  const state = undone_by === null ? (texts.statuses[status] ?? status) : own.undone
  return (
    <a class={`${ROW_CLASSES} ${border}`} href={runAddress(dispatch_id)} data-run-row={dispatch_id}>
      <Dot tone={toneOf(status)} pulsing={status === 'running'} />
      <span class="min-w-0">
        <span class="flex min-w-0 items-baseline gap-2">
          <span class="min-w-0 truncate font-medium">{plainLine(sayTitle(run.title, language))}</span>
          {(status !== 'done' || undone_by !== null) && <span class="label shrink-0">{state}</span>}
        </span>
        <span class="block truncate text-[13px] text-muted">
          <span class="sm:hidden">{visibleText(agent_id)} · </span>
          {outcome === null ? ' ' : plainLine(describeOutcome(status, outcome, language))}
        </span>
      </span>
      <span class="label figures flex flex-col items-end">
        <span class="hidden max-w-40 truncate sm:block">{visibleText(agent_id)}</span>
        <time dateTime={run.created_at} title={clockTime(at, now, language)}>
          {relativeTime(at, now, language)}
          {isEnded(run) && (
            <span class="hidden sm:inline"> · {duration(Date.parse(run.updated_at) - at, language)}</span>
          )}
        </time>
      </span>
    </a>
  )
}
