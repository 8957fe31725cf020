/** The place Runs: the list of runs. */

import { readCommand } from '../api.ts'
import type { Dispatch } from '../api-types.ts'
import { Card, Dot, Empty, toneOf } from '../components.tsx'
import { oneLine, visibleText } from '../format.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { RUNS_TEXTS } from '../texts/runs.ts'
import { VirtualList } from '../virtual-list.tsx'
import { type ListWindow, useWindowedList } from '../windowed-list.ts'

const ROW_PX = 45

export function Runs({ page, texts, language }: PlaceProps) {
  const runs = useWindowedList(page, '', fetchRuns)
  if (runs.total === undefined) return null
  return (
    <Card>
      {runs.total === 0 && <Empty>{RUNS_TEXTS[language].empty}</Empty>}
      <VirtualList
        count={runs.total}
        rowHeight={ROW_PX}
        label={texts.places.runs}
        onRange={runs.showRange}
        row={(index) => <RunRow run={runs.itemAt(index)} />}
      />
    </Card>
  )
}

async function fetchRuns(): Promise<ListWindow<Dispatch>> {
  const { items } = await readCommand('queue list', { limit: 50 })
  return { items, total: items.length }
}

function RunRow({ run }: { readonly run: Dispatch | undefined }) {
  if (!run) return <p class="h-11">…</p>
  return (
    <a class="flex h-11 items-center gap-3 px-4 hover:bg-sunken" href={`/runs/${encodeURIComponent(run.dispatch_id)}`}>
      <Dot tone={toneOf(run.status)} />
      <span class="truncate">{oneLine(visibleText(run.prompt))}</span>
    </a>
  )
}
