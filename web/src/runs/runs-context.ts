/** Texts, language and time for the place Runs. */

import type { PlaceProps } from '../shell/place.tsx'
import { RUNS_TEXTS, type RunsTexts } from '../texts/runs.ts'
import { useViewContext, type ViewContext } from '../view-context.ts'

export interface RunsContext extends ViewContext {
  readonly own: RunsTexts
}

const REDRAW_MS = 5000

export const useRunsContext = (props: PlaceProps): RunsContext => ({
  ...useViewContext(props, REDRAW_MS),
  own: RUNS_TEXTS[props.language],
})

export const runAddress = (id: string, query: Readonly<Record<string, string>> = {}): string => {
  const search = new URLSearchParams(query).toString()
  return `/runs/${encodeURIComponent(id)}${search === '' ? '' : `?${search}`}`
}
