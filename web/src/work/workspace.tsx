/** One workspace: its files, or what runs changed in them. The address says which folder or file is shown. */

import { visibleText } from '../format.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { WORK_TEXTS } from '../texts/work.ts'
import { useViewContext } from '../view-context.ts'
import { FileBrowser } from './file-browser.tsx'
import { FilterLinks } from './filters.tsx'
import { WorkFrame } from './frame.tsx'
import { History } from './history.tsx'

export function WorkspacePlace(props: PlaceProps) {
  const { page, language, params, query } = props
  const context = useViewContext(props, 30_000)
  const own = WORK_TEXTS[language].workspaces
  const id = params.id ?? ''
  const base = `/work/workspaces/${encodeURIComponent(id)}`
  const view = query.get('view') ?? ''
  const file = query.get('file') || undefined
  const folder = query.get('path') || undefined
  return (
    <WorkFrame language={language} tab="workspaces">
      <header class="-my-1 flex flex-col gap-1">
        <a class="label self-start text-link underline underline-offset-2" href="/work/workspaces">
          {own.back}
        </a>
        <h2 class="text-lg font-semibold wrap-anywhere">{visibleText(id)}</h2>
      </header>
      <FilterLinks
        {...{ label: own.views, path: base, query, name: 'view' }}
        options={[
          ['', own.filesTab],
          ['history', own.history],
        ]}
      />
      {view === 'history' ? (
        <>
          {(file ?? folder) !== undefined && (
            <p class="-my-2 wrap-anywhere">
              <span class="text-muted">{own.historyOf}</span>{' '}
              <span class="font-mono text-[13px]">{visibleText(file ?? folder ?? '')}</span>{' '}
              <a class="text-link underline underline-offset-2" href={`${base}?view=history`}>
                {own.wholeHistory}
              </a>
            </p>
          )}
          <History {...{ context, page }} workspace={id} path={file ?? folder} />
        </>
      ) : (
        <FileBrowser {...{ context, page, base }} workspace={id} folder={folder ?? ''} file={file} />
      )}
    </WorkFrame>
  )
}
