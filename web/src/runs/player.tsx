/** The controls of a replay: play, speed, and a slider over the steps of the run. */

import { Button } from '../components.tsx'
import { duration } from '../format.ts'
import type { RunsContext } from './runs-context.ts'
import type { RunStep } from './steps.ts'
import type { Timeline } from './timeline.ts'
import { type Replay, SPEEDS, type Speed } from './use-replay.ts'

interface PlayerProps {
  readonly context: RunsContext
  readonly replay: Replay
  readonly timeline: Timeline
  readonly steps: readonly RunStep[]
  readonly places: ReadonlyMap<number, readonly [number, number]>
}

export function Player({ context, replay, timeline, steps, places }: PlayerProps) {
  const { own, language } = context
  const { length, isShortened } = timeline
  const at = Math.round(Math.min(replay.at, length))
  return (
    <section
      class="sticky top-2 z-10 flex flex-col gap-1.5 rounded-xl border border-line bg-surface px-4 py-3"
      aria-label={own.player}
      data-replay={replay.isPlaying ? 'playing' : 'paused'}
    >
      <div class="flex items-center gap-3">
        <Button onClick={replay.toggle}>{replay.isPlaying ? own.pause : own.play}</Button>
        <select
          class="h-8 rounded-md border border-line bg-surface px-2"
          aria-label={own.speed}
          value={replay.speed}
          onChange={({ currentTarget }) => replay.setSpeed(Number(currentTarget.value) as Speed)}
        >
          {SPEEDS.map((speed) => (
            <option key={speed} value={speed}>
              {speed}×
            </option>
          ))}
        </select>
        <span class="label figures ml-auto">{own.atOf(duration(at, language), duration(length, language))}</span>
      </div>
      <Lane {...{ steps, places, length, at }} />
      <input
        class="w-full accent-[var(--decide)]"
        type="range"
        min={0}
        max={Math.max(1, length)}
        step="any"
        value={at}
        aria-label={own.position}
        aria-valuetext={own.atOf(duration(at, language), duration(length, language))}
        onInput={({ currentTarget }) => replay.seek(Number(currentTarget.value))}
      />
      {isShortened && <p class="label">{own.shortened}</p>}
    </section>
  )
}

interface LaneProps {
  readonly steps: readonly RunStep[]
  readonly places: ReadonlyMap<number, readonly [number, number]>
  readonly length: number
  readonly at: number
}

/** The lane is this wide in its own coordinates; a step takes at least one of them. */
const LANE_WIDTH = 1000

/** One bar per step, as long as the step took. One path for all, because a run may have thousands of steps. */
function Lane({ steps, places, length, at }: LaneProps) {
  const pathOf = (isShown: (step: RunStep, from: number) => boolean): string =>
    steps
      .map((step) => {
        const [from, to] = places.get(step.id) ?? [0, 0]
        if (!isShown(step, from)) return ''
        const [left, width] = [from, to - from].map((ms) => (ms / (length || 1)) * LANE_WIDTH)
        return `M${(left ?? 0).toFixed(1)} 0h${Math.max(1, width ?? 0).toFixed(1)}v1H${(left ?? 0).toFixed(1)}z`
      })
      .join('')
  return (
    <svg
      class="h-2 w-full rounded-full bg-sunken"
      viewBox={`0 0 ${LANE_WIDTH} 1`}
      preserveAspectRatio="none"
      fill="currentColor"
      aria-hidden="true"
    >
      <path class="text-decide" d={pathOf(({ fault }, from) => fault === null && from <= at)} />
      <path class="text-fault" d={pathOf(({ fault }, from) => fault !== null && from <= at)} />
      <path class="text-decide opacity-25" d={pathOf(({ fault }, from) => fault === null && from > at)} />
      <path class="text-fault opacity-25" d={pathOf(({ fault }, from) => fault !== null && from > at)} />
    </svg>
  )
}
