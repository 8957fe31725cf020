/** The folders in which agents work. */

import { readCommand } from '../api.ts'
import type { WorkspaceEntry } from '../api-types.ts'
import { Card, Empty } from '../components.tsx'
import { byteSize, clockTime, count, relativeTime, visibleText } from '../format.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { WORK_TEXTS } from '../texts/work.ts'
import { useViewContext, type ViewContext } from '../view-context.ts'
import { VirtualList } from '../virtual-list.tsx'
import { useWindowedList } from '../windowed-list.ts'
import { applyFilter, FilterRow, SearchField } from './filters.tsx'
import { WorkFrame } from './frame.tsx'

const PATH = '/work/workspaces'
const ROW_HEIGHT = 61

export function Workspaces(props: PlaceProps) {
  const { page, language, query } = props
  const context = useViewContext(props, 30_000)
  const own = WORK_TEXTS[language].workspaces
  const search = query.get('search') || undefined
  const list = useWindowedList(page, search ?? '', (offset, limit) =>
    readCommand('workspace list', { offset, limit, search }),
  )
  const { total } = list
  return (
    <WorkFrame language={language} tab="workspaces">
      <FilterRow>
        <SearchField
          label={own.search}
          value={search ?? ''}
          onSearch={(text) => applyFilter(PATH, new URLSearchParams(location.search), { search: text })}
        />
      </FilterRow>
      {total !== undefined && total > 0 && <p class="label -my-2">{own.count(count(total, language))}</p>}
      <Card class="overflow-hidden">
        {total === 0 && <Empty>{search === undefined ? own.empty : own.noneFound}</Empty>}
        <VirtualList
          count={total ?? 0}
          rowHeight={ROW_HEIGHT}
          label={own.list}
          onRange={list.showRange}
          row={(index) => {
            const folder = list.itemAt(index)
            return folder ? <Row context={context} folder={folder} /> : <div class="h-[61px] border-b border-line" />
          }}
        />
      </Card>
    </WorkFrame>
  )
}

interface RowProps {
  readonly context: ViewContext
  readonly folder: WorkspaceEntry
}

function Row({ context: { language, now }, folder }: RowProps) {
  const own = WORK_TEXTS[language].workspaces
  const { name, agents, in_use_by, last_write, files, bytes } = folder
  return (
    <a
      class="block border-b border-line px-4 py-2.5 hover:bg-sunken"
      href={`${PATH}/${encodeURIComponent(name)}`}
      data-workspace={name}
    >
      <span class="flex items-baseline justify-between gap-x-3">
        <span class="min-w-0 truncate font-medium">{visibleText(name)}</span>
        <span class="label figures shrink-0">
          {own.files(count(files, language))} · {byteSize(bytes, language)}
        </span>
      </span>
      <span class="label flex flex-wrap gap-x-2.5">
        <span class="wrap-anywhere">{visibleText(agents.join(', '))}</span>
        <span title={last_write === null ? undefined : clockTime(Date.parse(last_write), now, language)}>
          {last_write === null ? own.neverWritten : own.written(relativeTime(Date.parse(last_write), now, language))}
        </span>
        {in_use_by !== null && <span class="text-live">{own.inUse}</span>}
      </span>
    </a>
  )
}
