/** The place Now: live state of the kernel. */

import { visibleRuns } from '../live-runs.ts'
import { countNeeds } from '../needs-you/needs.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { useViewContext } from '../view-context.ts'
import { Cycles } from './cycles.tsx'
import { Finished } from './finished.tsx'
import { Header } from './header.tsx'
import { KeyFigures } from './key-figures.tsx'
import { NextBeats } from './next-beats.tsx'
import { Processes } from './processes.tsx'
import { Residents } from './residents.tsx'
import { Running } from './running.tsx'
import { Waiting } from './waiting.tsx'

export function Now(props: PlaceProps) {
  const { page } = props
  const { view } = page
  const context = useViewContext(props)
  return (
    <div class="flex flex-col gap-8">
      <div>
        <Header context={context} page={page} state={view.status?.kernel.state} />
        <KeyFigures context={context} status={view.status} needCount={countNeeds(view)} />
      </div>
      <div class="grid gap-8 lg:grid-cols-[minmax(0,5fr)_minmax(0,3fr)]">
        <div class="flex min-w-0 flex-col gap-8">
          <Residents context={context} page={page} />
          <Running context={context} runs={visibleRuns(view.runs, context.now)} />
          <Finished context={context} recent={view.recent} />
        </div>
        <div class="flex min-w-0 flex-col gap-8">
          <Waiting context={context} view={view} />
          <Processes context={context} workers={view.status?.workers ?? []} />
          <NextBeats context={context} schedules={view.schedules} />
          <Cycles context={context} cycles={view.cycles} />
        </div>
      </div>
    </div>
  )
}
