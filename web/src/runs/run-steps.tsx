/** The steps of a run with their replay: a list that shows what had happened at the place of the replay. */

import { useEffect, useMemo, useState } from 'preact/hooks'
import { AfterPaint } from '../after-paint.tsx'
import { Button, Card } from '../components.tsx'
import type { PageState } from '../page-state.ts'
import { navigate } from '../shell/router.ts'
import { VirtualList } from '../virtual-list.tsx'
import { Player } from './player.tsx'
import { type RunsContext, runAddress } from './runs-context.ts'
import { StepRow } from './step-row.tsx'
import { foldRun, type RunStep } from './steps.ts'
import { eventsAt, placesOf, recordedTime, timelineOf } from './timeline.ts'
import { useReplay } from './use-replay.ts'
import type { RunTrace } from './use-trace.ts'

interface RunStepsProps {
  readonly context: RunsContext
  readonly page: PageState
  readonly trace: RunTrace
  /** 0: none. */
  readonly stepInAddress: number
}

const ROW_PX = 52
const NONE: ReadonlySet<number> = new Set()

export function RunSteps({ context, page, trace, stepInAddress }: RunStepsProps) {
  const { own } = context
  const { events, dispatch } = trace
  const { dispatch_id: id } = dispatch
  const { timeline, places, all, shown, replay, isAtEnd } = useReplayedSteps(trace)
  const steps = isAtEnd ? withLiveText(shown, page, id) : shown
  const isWorking = isAtEnd && dispatch.status === 'running'
  const until = isWorking ? context.now : recordedTime(events, timeline, replay.at)
  const [open, setOpen] = useState(NONE)
  useEffect(() => {
    if (stepInAddress > 0) setOpen((was) => new Set([...was, stepInAddress]))
  }, [stepInAddress])
  if (events.length === 0) return null
  const toggle = (step: number): void => {
    const isOpen = open.has(step)
    setOpen(new Set(isOpen ? [...open].filter((each) => each !== step) : [...open, step]))
    navigate(runAddress(id, isOpen ? {} : { step: String(step) }), { replace: true })
  }
  const isAllOpen = steps.length > 0 && steps.every((step) => open.has(step.id))
  return (
    <section class="flex min-w-0 flex-col gap-3" data-steps={steps.length}>
      <header class="flex items-baseline justify-between gap-3 px-1">
        <h2 class="font-semibold">{own.steps}</h2>
        {steps.length > 0 && steps.length <= MAX_OPEN && (
          <Button onClick={() => setOpen(isAllOpen ? NONE : new Set(steps.map((step) => step.id)))}>
            {isAllOpen ? own.closeAll : own.openAll}
          </Button>
        )}
      </header>
      {dispatch.status !== 'running' && <Player {...{ context, replay, timeline, places }} steps={all} />}
      <AfterPaint>
        {() => (
          <Card class="overflow-clip">
            <VirtualList
              count={steps.length}
              rowHeight={ROW_PX}
              label={own.steps}
              reveal={replay.isPlaying ? steps.length - 1 : stepInAddress - 1}
              row={(index) => {
                const step = steps[index]
                const isLast = index === steps.length - 1
                return (
                  step && (
                    <StepRow
                      {...{ context, page, trace, step, places, length: timeline.length, until }}
                      isOpen={open.has(step.id)}
                      isCurrent={isLast && (!isAtEnd || isWorking)}
                      onToggle={() => toggle(step.id)}
                    />
                  )
                )
              }}
            />
          </Card>
        )}
      </AfterPaint>
    </section>
  )
}

/** Contract: all steps, and those that had happened at the place of the replay. */
function useReplayedSteps({ events, dispatch: { dispatch_id: id } }: RunTrace) {
  const timeline = useMemo(() => timelineOf(events), [events])
  const places = useMemo(() => placesOf(events, timeline), [events, timeline])
  const all = useMemo(() => foldRun(id, events).steps, [id, events])
  const replay = useReplay(timeline)
  const isAtEnd = replay.at >= timeline.length
  const shownEvents = isAtEnd ? events.length : eventsAt(timeline, replay.at)
  const shown = useMemo(
    () => (isAtEnd ? all : foldRun(id, events.slice(0, shownEvents)).steps),
    [id, events, all, isAtEnd, shownEvents],
  )
  return { timeline, places, all, shown, replay, isAtEnd }
}

/** More steps than this are not opened at once. */
const MAX_OPEN = 30

/** What the model writes now is not recorded until it has answered. */
function withLiveText(steps: readonly RunStep[], { view }: PageState, id: string): readonly RunStep[] {
  const [live, last] = [view.runs.get(id)?.steps.at(-1), steps.at(-1)]
  if (!live || !last || live.id !== last.id) return steps
  const calls = last.calls.length > 0 ? last.calls.map((call, i) => live.calls[i] ?? call) : live.calls
  return [...steps.slice(0, -1), { ...last, text: live.text === '' ? last.text : live.text, calls }]
}
