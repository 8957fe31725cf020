/** The sessions: threads of work, with filters in the address. */

import { readCommand } from '../api.ts'
import type { SessionEntry } from '../api-types.ts'
import { Card, Dot, Empty, type Tone } from '../components.tsx'
import { clockTime, count, relativeTime, visibleText } from '../format.ts'
import { plainLine } from '../plain-line.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { sayTitle } from '../texts/errors.ts'
import { SESSION_TEXTS } from '../texts/work-sessions.ts'
import { useViewContext, type ViewContext } from '../view-context.ts'
import { VirtualList } from '../virtual-list.tsx'
import { useWindowedList } from '../windowed-list.ts'
import { applyFilter, Choice, FilterLinks, FilterRow, SearchField } from './filters.tsx'
import { WorkFrame } from './frame.tsx'

const PATH = '/work/sessions'
const ROW_HEIGHT = 61

const STATUSES = ['active', 'waiting', 'idle', 'archived'] as const

export function Sessions(props: PlaceProps) {
  const { page, language, query } = props
  const own = SESSION_TEXTS[language]
  const context = useViewContext(props, 30_000)
  const [wanted, agent, search] = ['status', 'agent', 'search'].map((name) => query.get(name) || undefined)
  const status = STATUSES.find((each) => each === wanted)
  const list = useWindowedList(page, query.toString(), (offset, limit) =>
    readCommand('sessions list', { offset, limit, status, agent, search }),
  )
  const { total } = list
  const names = page.view.status?.agents.map(({ agent_id }) => agent_id) ?? []
  return (
    <WorkFrame language={language} tab="sessions">
      <div class="flex flex-col gap-2.5">
        <FilterLinks
          {...{ label: own.filter, path: PATH, query, name: 'status' }}
          options={[['', own.filters.all], ...STATUSES.map((each) => [each, own.filters[each]] as const)]}
        />
        <FilterRow>
          <SearchField
            label={own.search}
            value={search ?? ''}
            onSearch={(text) => applyFilter(PATH, new URLSearchParams(location.search), { search: text })}
          />
          <Choice
            label={own.agent}
            value={agent ?? ''}
            options={[['', own.allAgents], ...names.map((name) => [name, name] as const)]}
            onChoose={(chosen) => applyFilter(PATH, query, { agent: chosen })}
          />
        </FilterRow>
      </div>
      {total !== undefined && total > 0 && <p class="label -my-2">{own.count(count(total, language))}</p>}
      <Card class="overflow-hidden">
        {total === 0 && <Empty>{query.toString() === '' ? own.empty : own.noneFound}</Empty>}
        <VirtualList
          count={total ?? 0}
          rowHeight={ROW_HEIGHT}
          label={own.list}
          onRange={list.showRange}
          row={(index) => {
            const session = list.itemAt(index)
            return session ? <Row context={context} session={session} /> : <div class="h-[61px] border-b border-line" />
          }}
        />
      </Card>
    </WorkFrame>
  )
}

export const SESSION_TONES: Readonly<Record<SessionEntry['status'], Tone>> = {
  ...{ active: 'live', waiting: 'wait', idle: 'other', archived: 'other' },
}

interface RowProps {
  readonly context: ViewContext
  readonly session: SessionEntry
}

function Row({ context: { language, now }, session }: RowProps) {
  const own = SESSION_TEXTS[language]
  const { session_id, agent_id, status, title, runs, active_at } = session
  const at = Date.parse(active_at)
  return (
    <a
      class="block border-b border-line px-4 py-2.5 hover:bg-sunken"
      href={`${PATH}/${encodeURIComponent(session_id)}`}
      data-session={session_id}
    >
      <span class="flex min-w-0 items-center gap-2">
        <Dot tone={SESSION_TONES[status]} pulsing={status === 'active'} />
        <span class="truncate font-medium">{title === null ? own.untitled : plainLine(sayTitle(title, language))}</span>
        <time class="label ml-auto shrink-0" dateTime={active_at} title={clockTime(at, now, language)}>
          {relativeTime(at, now, language)}
        </time>
      </span>
      <span class="label flex flex-wrap gap-x-2.5 pl-4">
        <span>{own.statuses[status]}</span>
        <span class="wrap-anywhere">{visibleText(agent_id)}</span>
        <span>{own.runs(count(runs, language))}</span>
      </span>
    </a>
  )
}
