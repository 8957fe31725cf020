/** One workspace: what runs changed in it. */

import { visibleText } from '../format.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { WORK_TEXTS } from '../texts/work.ts'
import { useViewContext } from '../view-context.ts'
import { WorkFrame } from './frame.tsx'
import { History } from './history.tsx'

export function Workspace(props: PlaceProps) {
  const { page, language, params } = props
  const context = useViewContext(props, 30_000)
  const id = params.id ?? ''
  return (
    <WorkFrame language={language} tab="workspaces">
      <h2 class="font-semibold wrap-anywhere">
        {visibleText(id)} · {WORK_TEXTS[language].workspaces.history}
      </h2>
      <History context={context} page={page} workspace={id} />
    </WorkFrame>
  )
}
