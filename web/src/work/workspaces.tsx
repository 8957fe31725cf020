/** The folders in which agents work. */

import { readCommand } from '../api.ts'
import type { WorkspaceEntry } from '../api-types.ts'
import { Card, Empty } from '../components.tsx'
import { byteSize, count, relativeTime, visibleText } from '../format.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { WORK_TEXTS } from '../texts/work.ts'
import { useFetched } from '../use-fetched.ts'
import { useViewContext, type ViewContext } from '../view-context.ts'
import { NotFetched, WorkFrame } from './frame.tsx'

export function Workspaces(props: PlaceProps) {
  const { page, language } = props
  const context = useViewContext(props, 30_000)
  const own = WORK_TEXTS[language].workspaces
  const state = useFetched(page, '', () => readCommand('workspace list', {}))
  return (
    <WorkFrame language={language} tab="workspaces">
      {state.kind !== 'ready' ? (
        <NotFetched language={language} state={state} />
      ) : (
        <Card>
          {state.data.items.length === 0 && <Empty>{own.empty}</Empty>}
          <ul class="divide-y divide-line">
            {state.data.items.map((folder) => (
              <li key={folder.workspace}>
                <Row context={context} folder={folder} />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </WorkFrame>
  )
}

function Row({
  context: { language, now },
  folder,
}: {
  readonly context: ViewContext
  readonly folder: WorkspaceEntry
}) {
  const own = WORK_TEXTS[language].workspaces
  const { workspace, agents, in_use_by, last_write, files, bytes } = folder
  const name = workspace.slice(workspace.lastIndexOf('/') + 1)
  return (
    <a class="block px-4 py-2.5 hover:bg-sunken" href={`/work/workspaces/${encodeURIComponent(name)}`}>
      <span class="flex flex-wrap items-baseline justify-between gap-x-3">
        <span class="min-w-0 font-medium wrap-anywhere">{visibleText(name)}</span>
        <span class="label figures">
          {own.files(count(files, language))} · {byteSize(bytes, language)}
        </span>
      </span>
      <span class="label flex flex-wrap gap-x-3">
        <span class="wrap-anywhere">{visibleText(agents.join(', '))}</span>
        <span>
          {last_write === null ? own.neverWritten : own.written(relativeTime(Date.parse(last_write), now, language))}
        </span>
        {in_use_by !== null && <span class="text-live">{own.inUse}</span>}
      </span>
    </a>
  )
}
