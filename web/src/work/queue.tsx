/** The queue: what runs, waits, comes next and failed, and why; with filters in the address. */

import { useState } from 'preact/hooks'
import type { CommandInput } from '../../../src/commands/lib/registry.ts'
import { readCommand } from '../api.ts'
import type { Dispatch } from '../api-types.ts'
import { Card, Empty } from '../components.tsx'
import { count, type Language } from '../format.ts'
import type { PageState } from '../page-state.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { QUEUE_TEXTS } from '../texts/work-queue.ts'
import { useViewContext } from '../view-context.ts'
import { VirtualList } from '../virtual-list.tsx'
import { useWindowedList } from '../windowed-list.ts'
import { applyFilter, Choice, FilterLinks, FilterRow, SearchField } from './filters.tsx'
import { WorkFrame } from './frame.tsx'
import { QueueButtons } from './queue-actions.tsx'
import { QueueRow } from './queue-row.tsx'

const PATH = '/work/queue'
const ROW_HEIGHT = 84

export function Queue(props: PlaceProps) {
  const { page, language, query } = props
  const own = QUEUE_TEXTS[language]
  const context = useViewContext(props, 5000)
  const filter = filterOf(query)
  const list = useWindowedList(page, query.toString(), (offset, limit) =>
    readCommand('queue list', { ...filter, offset, limit, brief: true }),
  )
  const [selected, setSelected] = useState<ReadonlyMap<string, Dispatch>>(new Map())
  const select = (run: Dispatch, isSelected: boolean): void => {
    const next = new Map(selected)
    if (isSelected) next.set(run.dispatch_id, run)
    else next.delete(run.dispatch_id)
    setSelected(next)
  }
  const { total } = list
  return (
    <WorkFrame language={language} tab="queue">
      <Filters page={page} language={language} query={query} />
      <SelectionBar
        {...{ page, language, selected, setSelected, filter }}
        note={total === undefined ? '' : own.count(count(total, language))}
        isEmpty={total === 0}
      />
      {total === 0 ? (
        <Card>
          <Empty>{query.toString() === '' ? own.empty : own.noneFound}</Empty>
        </Card>
      ) : (
        <Card class="overflow-hidden">
          <VirtualList
            count={total ?? 0}
            rowHeight={ROW_HEIGHT}
            label={own.list}
            onRange={list.showRange}
            row={(index) => {
              const run = list.itemAt(index)
              if (!run) return <div class="h-[84px] border-b border-line" />
              const isSelected = selected.has(run.dispatch_id)
              return <QueueRow {...{ context, page, run, isSelected }} onSelect={(chosen) => select(run, chosen)} />
            }}
          />
        </Card>
      )}
    </WorkFrame>
  )
}

const STATUSES = ['pending', 'running', 'waiting', 'failed', 'dead', 'done', 'cancelled'] as const

type QueueFilter = Pick<CommandInput<'queue list'>, 'status' | 'open' | 'agent' | 'search'>

function filterOf(query: URLSearchParams): QueueFilter {
  const [wanted, agent, search] = ['status', 'agent', 'search'].map((name) => query.get(name) ?? '')
  const status = STATUSES.find((each) => each === wanted)
  return {
    ...(status ? { status } : {}),
    ...(wanted === '' ? { open: true } : {}),
    ...(agent ? { agent } : {}),
    ...(search ? { search } : {}),
  }
}

interface FilterProps {
  readonly page: PageState
  readonly language: Language
  readonly query: URLSearchParams
}

function Filters({ page: { view }, language, query }: FilterProps) {
  const own = QUEUE_TEXTS[language]
  const { queue, agents } = view.status ?? {}
  const names = agents?.map(({ agent_id }) => agent_id) ?? []
  return (
    <div class="flex flex-col gap-2.5">
      <FilterLinks
        {...{ label: own.filter, path: PATH, query, name: 'status' }}
        options={[
          ['', own.filters.open],
          ...STATUSES.map((each) => [each, own.filters[each], COUNTED.has(each) ? queue?.[each] : undefined] as const),
          ['all', own.filters.all],
        ]}
      />
      <FilterRow>
        <SearchField
          label={own.search}
          value={query.get('search') ?? ''}
          onSearch={(search) => applyFilter(PATH, new URLSearchParams(location.search), { search })}
        />
        <Choice
          label={own.agent}
          value={query.get('agent') ?? ''}
          options={[['', own.allAgents], ...names.map((name) => [name, name] as const)]}
          onChoose={(agent) => applyFilter(PATH, query, { agent })}
        />
      </FilterRow>
    </div>
  )
}

/** How many have ended well only grows; it says nothing. */
const COUNTED: ReadonlySet<string> = new Set(['pending', 'running', 'waiting', 'failed', 'dead'])

/** Most runs that are selected at once. */
const MAX_SELECTED = 500

interface SelectionProps {
  readonly page: PageState
  readonly language: Language
  readonly selected: ReadonlyMap<string, Dispatch>
  setSelected(selected: ReadonlyMap<string, Dispatch>): void
  readonly filter: QueueFilter
  readonly note: string
  readonly isEmpty: boolean
}

function SelectionBar({ page, language, selected, setSelected, filter, note, isEmpty }: SelectionProps) {
  const own = QUEUE_TEXTS[language]
  const selectAll = async (): Promise<void> => {
    const { items } = await readCommand('queue list', { ...filter, limit: MAX_SELECTED, brief: true })
    setSelected(new Map(items.map((run) => [run.dispatch_id, run])))
  }
  const link = 'cursor-pointer text-link underline underline-offset-2'
  return (
    <div class="sticky top-0 z-10 -my-2 flex min-h-11 flex-wrap items-center gap-2 bg-paper py-1.5" data-selection>
      <span class="label mr-auto">{selected.size === 0 ? note : own.selected(selected.size)}</span>
      {selected.size > 0 && (
        <QueueButtons
          {...{ page, language }}
          runs={[...selected.values()]}
          name="queue selection"
          onDone={() => setSelected(new Map())}
        />
      )}
      {selected.size > 0 && (
        <button type="button" class={link} onClick={() => setSelected(new Map())}>
          {own.clear}
        </button>
      )}
      {!isEmpty && (
        <button
          type="button"
          class={link}
          onClick={() => void selectAll().catch((thrown: unknown) => page.reportFailure(thrown))}
        >
          {own.selectAll}
        </button>
      )}
    </div>
  )
}
