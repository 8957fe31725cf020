/** The folders in which agents work. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import type { WorkspaceEntry } from '../api-types.ts'
import { Card, Empty } from '../components.tsx'
import { byteSize, clockTime, count, relativeTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { plainLine } from '../plain-line.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { sayTitle } from '../texts/errors.ts'
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
  const [isEmptyShown, setEmptyShown] = useState(false)
  const used = useFolders(page, search, false)
  const empty = useFolders(page, search, true)
  const hasNone = used.total === 0 && empty.total === 0
  return (
    <WorkFrame language={language} tab="workspaces">
      <FilterRow>
        <SearchField
          label={own.search}
          value={search ?? ''}
          onSearch={(text) => applyFilter(PATH, new URLSearchParams(location.search), { search: text })}
        />
      </FilterRow>
      {(used.total ?? 0) > 0 && <p class="label -my-2">{own.count(count(used.total ?? 0, language))}</p>}
      {(hasNone || (used.total ?? 0) > 0) && (
        <Card class="overflow-hidden">
          {hasNone && <Empty>{search === undefined ? own.empty : own.noneFound}</Empty>}
          <Folders context={context} list={used} label={own.list} />
        </Card>
      )}
      {(empty.total ?? 0) > 0 && (
        <section data-empty-workspaces={empty.total}>
          <button
            type="button"
            class="label mb-2 flex cursor-pointer items-center gap-2 hover:text-ink"
            aria-expanded={isEmptyShown}
            onClick={() => setEmptyShown(!isEmptyShown)}
          >
            <span class={isEmptyShown ? 'rotate-90' : ''} aria-hidden="true">
              ›
            </span>
            {own.emptyCount(count(empty.total ?? 0, language))}
          </button>
          {isEmptyShown && (
            <Card class="overflow-hidden">
              <Folders context={context} list={empty} label={own.emptyList} />
            </Card>
          )}
        </section>
      )}
    </WorkFrame>
  )
}

/** Folders that are empty say nothing, so they are a list of their own. */
const useFolders = (page: PageState, search: string | undefined, empty: boolean) =>
  useWindowedList(page, search ?? '', (offset, limit) =>
    readCommand('workspace list', { offset, limit, search, empty }),
  )

interface FoldersProps {
  readonly context: ViewContext
  readonly list: ReturnType<typeof useFolders>
  readonly label: string
}

const Folders = ({ context, list, label }: FoldersProps) => (
  <VirtualList
    count={list.total ?? 0}
    rowHeight={ROW_HEIGHT}
    label={label}
    onRange={list.showRange}
    row={(index) => {
      const folder = list.itemAt(index)
      return folder ? <Row context={context} folder={folder} /> : <div class="h-[61px] border-b border-line" />
    }}
  />
)

interface RowProps {
  readonly context: ViewContext
  readonly folder: WorkspaceEntry
}

function Row({ context: { language, now }, folder }: RowProps) {
  const own = WORK_TEXTS[language].workspaces
  const { name, title, agents, sessions, in_use_by, last_write, files, bytes } = folder
  // A folder of one task is named after its session, which says nothing to people.
  const task = title !== null && sessions.includes(name) ? plainLine(sayTitle(title, language)) : ''
  return (
    <a
      class="block border-b border-line px-4 py-2.5 hover:bg-sunken"
      href={`${PATH}/${encodeURIComponent(name)}`}
      data-workspace={name}
    >
      <span class="flex items-baseline justify-between gap-x-3">
        <span class="min-w-0 truncate font-medium">{task === '' ? visibleText(name) : task}</span>
        <span class="label figures shrink-0">
          {own.files(count(files, language))} · {byteSize(bytes, language)}
        </span>
      </span>
      <span class="label flex flex-wrap gap-x-2.5">
        <span class="wrap-anywhere">{visibleText(agents.join(', '))}</span>
        {task !== '' && <span class="font-mono text-[12px] wrap-anywhere">{visibleText(name)}</span>}
        <span title={last_write === null ? undefined : clockTime(Date.parse(last_write), now, language)}>
          {last_write === null ? own.neverWritten : own.written(relativeTime(Date.parse(last_write), now, language))}
        </span>
        {in_use_by !== null && <span class="text-live">{own.inUse}</span>}
      </span>
    </a>
  )
}
